"""Run the chapters without progress bars, and say on the status page what each took: seconds, memory, and the sums.

The page's `{nb-exec-table}` is MyST-NB's. In place of its table comes one with titles for file names, memory, and sums.
"""

import json
import os
import platform
import posixpath
import re
import resource
import sys
import threading
from pathlib import Path

import joblib
import psutil
from docutils import nodes
from myst_nb.core.execute.cache import NotebookClientCache
from myst_nb.ext.execution_tables import ExecutionStatsNode
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

SECONDS, MEGABYTES = 15 * 60, 4000  # what all chapters together may take, on two processors
KEPT = "memory.json"  # beside the cached outputs, so that it is as old as they are


def high_water(process):
    """Return the most memory a process has held so far, in bytes; where the system does not say, what it holds now."""
    try:
        return 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1])
    except (OSError, TypeError):  # no Linux, or the process has just ended
        return process.memory_info().rss


class Watch(threading.Thread):
    """Looks at a kernel and its workers, all children of this process, ten times a second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak, self.over = 0, threading.Event()

    def run(self):
        while not self.over.wait(0.1):
            total = 0
            for process in psutil.Process().children(recursive=True):
                try:
                    total += high_water(process)
                except psutil.Error:  # it has just ended
                    continue
            self.peak = max(self.peak, total)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.over.set()
        self.join()


def measured(start_client):
    """Make the client that runs a chapter note the memory; of outputs from the cache, what was noted when they ran."""

    def start(client):
        with Watch() as watch:
            start_client(client)
        file, page = Path(client.nb_config.execution_cache_path) / KEPT, str(client.path)
        kept = json.loads(file.read_text()) if file.exists() else {}
        if watch.peak:
            file.write_text(json.dumps(kept | {page: watch.peak}))
        client.exec_metadata["memory"] = watch.peak or kept.get(page)

    return start


def own_memory():
    """Return the most memory this process has held, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def megabytes(size):
    return f"{size / 1e6:,.0f}" if size else "not measured"


def limited(value, unit, limit):
    """Return a sum beside its limit, and whether it keeps it."""
    return f"{value:,.0f} of {limit:,.0f} {unit}" + (", over the limit" if value > limit else "")


def summary(ran, own):
    """Return the last rows of the table, from what each chapter took and from the most that Sphinx held itself."""
    seconds = sum(data["runtime"] or 0.0 for data in ran)
    most = (max(data.get("memory") or 0 for data in ran) + own) / 1e6
    return [
        ("Sphinx, which runs them one by one", "", megabytes(own)),
        ("All chapters, and the largest beside Sphinx", limited(seconds, "s", SECONDS), limited(most, "MB", MEGABYTES)),
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
    os.environ["TQDM_DISABLE"] = "1"  # the kernels are children of this process
    NotebookClientCache.start_client = measured(NotebookClientCache.start_client)
    app.add_post_transform(StatusTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
