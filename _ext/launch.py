"""Offer each chapter as a notebook: to download, and, once the address of the repository is set, on Binder and Colab.

The address is `repository: url` in `_config.yml`, and stands nowhere else. Binder opens the page itself, as the
settings in `tools/jupyter` say. Colab opens notebooks only, and finds those of the published book, on the branch
`launch_published`; a cell at their start fetches the repository there.
"""

import posixpath
from pathlib import Path

import nbformat

NOTEBOOKS = "_sources"  # below the pages, where the theme looks for what can be downloaded
FETCH = """# On Colab this fetches the library and the data. Elsewhere it does nothing.
import sys

if "google.colab" in sys.modules:
    !git clone --quiet --depth 1 --branch {branch} {url} companion
    %cd companion
    %pip install --quiet .[book] myst-nb"""


def options(app):
    return app.config.html_theme_options


def off_without_address(app, config):
    """Launch nothing while nobody knows from where."""
    if not config.html_theme_options.get("repository_url"):
        config.html_theme_options.pop("launch_buttons", None)


def executed(app, page):
    """Return where MyST-NB has left a page as a notebook, or None."""
    path = Path(app.outdir).parent / "jupyter_execute" / f"{page}.ipynb"
    return path if "kernelspec" in app.env.metadata.get(page, {}) and path.exists() else None


def offer(app, page, template, context, doctree):
    """Let the theme show a link to the notebook."""
    if executed(app, page):
        context["ipynb_source"] = f"{page}.ipynb"


def buttons(found):
    """Yield the buttons of a page, those in groups too."""
    for button in found:
        yield button
        yield from buttons(button.get("buttons", []))


def to_notebook(app, page, template, context, doctree):
    """Send Colab to the notebook: the theme sends it to the text, which it cannot open."""
    for button in buttons(context.get("header_buttons", [])):
        if button.get("text") == "Colab":
            repository = button["url"].partition("/blob/")[0]
            where = posixpath.join(app.config.launch_published, NOTEBOOKS, page)
            button["url"] = f"{repository}/blob/{where}.ipynb"


def write(app, exc):
    """Put the notebooks where the links lead."""
    if exc is not None or app.builder.format != "html":
        return
    for page in app.env.found_docs:
        if source := executed(app, page):
            notebook = nbformat.read(source, as_version=4)
            if url := options(app).get("repository_url"):
                branch = options(app).get("repository_branch") or "main"
                notebook.cells.insert(0, nbformat.v4.new_code_cell(FETCH.format(url=url, branch=branch)))
            target = Path(app.outdir) / NOTEBOOKS / f"{page}.ipynb"
            target.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, target)


def setup(app):
    app.add_config_value("launch_published", "gh-pages", "html")
    app.connect("config-inited", off_without_address)
    app.connect("html-page-context", offer, priority=500)
    app.connect("html-page-context", to_notebook, priority=502)  # after the theme, at 501
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
