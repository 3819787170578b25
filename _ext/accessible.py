"""Roles that a screen reader understands, where those of docutils are out of date."""

from pathlib import Path

ROLES = {
    '<div role="list" class="citation-list">': '<div class="citation-list">',  # of entries that are not its items
    ' role="doc-biblioentry"': "",  # deprecated
}


def mend(app, page, template, context, doctree):
    """Replace roles in the text of a page."""
    for old, new in ROLES.items():
        context["body"] = context.get("body", "").replace(old, new)


def setup(app):
    app.connect("html-page-context", mend)
    app.config.templates_path.append(str(Path(__file__).parent / "templates"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
