"""Give every evidence cell an anchor of its tag's name, and put the ledger as CSV and JSON beside its page."""

import sys
from pathlib import Path

from docutils import nodes

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from lib.pages import verdicts


def anchor_cells(app, doctree):
    for cell in doctree.findall(nodes.container):
        for name in cell.get("classes", []):
            if name.startswith("tag_claim-"):
                cell["ids"].append(name.removeprefix("tag_"))


def save(app, exc):
    folder = Path(app.outdir) / "book" / "verdicts"
    if exc is None and (folder / "ledger.html").exists():
        verdicts.save(folder)


def setup(app):
    app.connect("build-finished", save)
    app.connect("doctree-read", anchor_cells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
