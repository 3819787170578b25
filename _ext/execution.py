"""Run the chapters that are not up to date, show what they printed, and say on the status page what each took.

The page's `{nb-exec-table}` is MyST-NB's. In place of its table comes one with titles for file names, memory, and sums.
"""

import platform
import posixpath
import resource
import sys
from pathlib import Path

import joblib
from docutils import nodes
from myst_nb.core import execute
from myst_nb.core.execute.base import NotebookClientBase
from myst_nb.ext.execution_tables import ExecutionStatsNode
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx import addnodes
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools import chapters

SECONDS = 8 * 60  # what all chapters together may take, on two processors
MEGABYTES = 1500  # what one may take with its workers: a public Binder has 2000 for these and JupyterLab


def run_chapters(app, config):
    try:
        chapters.run(say=lambda line: print(line, flush=True))
    except chapters.ChapterError as error:
        raise ExtensionError(f"nothing is kept of the chapters that failed:\n\n{error}") from error
    # Sphinx reads every page again when a value of kind "env" changes.
    config.library_fingerprint = chapters.fingerprint()


class Kept(NotebookClientBase):
    """Gives the cells of a page what `chapters.run` has kept."""

    def start_client(self):
        page = Path(self.path).resolve()
        if page not in chapters.chapters():
            return
        ran = chapters.outputs(page)
        for cell, done in zip(chapters.code_cells(self.notebook), ran.cells, strict=True):
            cell.outputs, cell.execution_count = done.outputs, done.execution_count
        ended = {"mtime": page.stat().st_mtime, "method": "kept", "succeeded": True, "error": None, "traceback": None}
        self.exec_metadata = ended | dict(ran.metadata["run"]) | {"runtime": ran.metadata["run"]["seconds"]}


def own_memory():
    """Return the most memory this process has held, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def megabytes(size):
    return f"{size / 1e6:,.0f}" if size else "not measured"


def limited(value, unit, limit):
    """Return a sum beside its limit, and whether it keeps it."""
    return f"{value:,.0f} of {limit:,.0f} {unit}" + (", over the limit" if value > limit else "")


def elapsed(ran):
    """Return in how many seconds some chapter was running: less than the sum, since two run at a time."""
    total, until = 0.0, 0.0
    for data in sorted(ran, key=lambda data: data["begun"]):
        end = data["begun"] + data["seconds"]
        total += max(0.0, end - max(until, data["begun"]))
        until = max(until, end)
    return total


def summary(ran, own):
    """Return the last rows of the table, from what each chapter took and from the most that Sphinx held itself."""
    most = max(data["memory"] for data in ran) / 1e6
    return [
        ("Sphinx, which makes the pages", "", megabytes(own)),
        (
            "All chapters, two at a time; the largest",
            limited(elapsed(ran), "s", SECONDS),
            limited(most, "MB", MEGABYTES),
        ),
    ]


class StatusTable(SphinxPostTransform):
    default_priority = 7  # before MyST-NB's own table, at 8

    def run(self, **kwargs):
        for node in list(self.document.findall(ExecutionStatsNode)):
            node.replace_self([*self.table(), self.machine()])

    def table(self):
        data = NbMetadataCollector.get_doc_data(self.env)
        ran = {page: data[page]["exec_data"] for page in self.env.collect_relations() if data[page].get("exec_data")}
        if not ran:
            return []
        body = [
            (self.link(page), f"{found['runtime']:,.1f}", megabytes(found.get("memory"))) for page, found in ran.items()
        ]
        body += [tuple(nodes.strong(text=text) for text in row) for row in summary(list(ran.values()), own_memory())]
        group = nodes.tgroup(cols=3)
        group += [nodes.colspec(colwidth=width) for width in (60, 20, 20)]
        head = nodes.thead("", row(("chapter", "time (s)", "memory (MB)")))
        group += [head, nodes.tbody("", *map(row, body))]
        return [nodes.table("", group, classes=["colwidths-auto", "status"])]

    def link(self, page):
        here = posixpath.dirname(self.env.docname)
        target = posixpath.relpath(page, here)
        reference = addnodes.pending_xref(
            refdoc=self.env.docname, reftarget=target, reftype="doc", refdomain="std", refexplicit=True, refwarn=True
        )
        reference += nodes.inline(text=self.env.titles[page].astext())
        return reference

    def machine(self):
        words = f"Run with Python {platform.python_version()} on {platform.system()}, {platform.machine()}, "
        return nodes.paragraph(text=words + f"{joblib.cpu_count()} processors.")


def row(cells):
    entries = [cell if isinstance(cell, nodes.Node) else nodes.Text(cell) for cell in cells]
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", entry)) for entry in entries))


def setup(app):
    app.add_config_value("library_fingerprint", "", "env")
    app.connect("config-inited", run_chapters, priority=100)
    execute.NotebookClientCache = Kept
    app.add_post_transform(StatusTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
