"""Give every evidence cell an anchor of its tag's name, so that the ledger can link to the cell and not to its page."""

from docutils import nodes


def anchor_cells(app, doctree):
    for cell in doctree.findall(nodes.container):
        for name in cell.get("classes", []):
            if name.startswith("tag_claim-"):
                cell["ids"].append(name.removeprefix("tag_"))


def setup(app):
    app.connect("doctree-read", anchor_cells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
