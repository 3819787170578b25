"""Give every evidence cell an anchor of its tag's name, and put the ledger as CSV and JSON beside its page.

The role `claim` links a name to its row of the ledger: {claim}`FM-S`.
"""

import posixpath
import sys
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxRole

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from lib.pages import claims, verdicts

LEDGER = "book/verdicts/ledger"


def anchor_cells(app, doctree):
    for cell in doctree.findall(nodes.container):
        for name in cell.get("classes", []):
            if name.startswith("tag_claim-"):
                cell["ids"].append(name.removeprefix("tag_"))


class ClaimRole(SphinxRole):
    def run(self):
        if self.text not in claims.load():
            return [], [self.inliner.reporter.error(f"no claim of the ledger has the name {self.text!r}")]
        here = posixpath.dirname(self.env.docname)
        target = f"{posixpath.relpath(LEDGER, here)}.html#{self.text.lower()}"
        return [nodes.reference("", self.text, refuri=target, internal=True, classes=["claim"])], []


def save(app, exc):
    folder = Path(app.outdir) / "book" / "verdicts"
    if exc is None and (folder / "ledger.html").exists():
        verdicts.save(folder)


def setup(app):
    app.connect("build-finished", save)
    app.connect("doctree-read", anchor_cells)
    app.add_role("claim", ClaimRole())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
