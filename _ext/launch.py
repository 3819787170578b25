"""Launch each chapter as a notebook on Binder and Colab, once the address of the repository is set.

The address is `repository: url` in `_config.yml`, and stands nowhere else. Binder opens the page itself, as the
settings in `tools/jupyter` say. Colab opens notebooks only, and finds those of the published book, on the branch
`launch_published`; a cell at their start fetches the repository there.
"""

import posixpath
from pathlib import Path

import nbformat

NOTEBOOKS = "_sources"  # where _ext/notebooks.py puts them
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


def fetch(app, exc):
    """Put the cell for Colab before all others."""
    if exc is None and app.builder.name == "html" and (url := options(app).get("repository_url")):
        cell = nbformat.v4.new_code_cell(FETCH.format(url=url, branch=options(app).get("repository_branch") or "main"))
        for path in (Path(app.outdir) / NOTEBOOKS).rglob("*.ipynb"):
            notebook = nbformat.read(path, as_version=4)
            notebook.cells.insert(0, cell)
            nbformat.write(notebook, path)


def setup(app):
    app.add_config_value("launch_published", "gh-pages", "html")
    app.connect("config-inited", off_without_address)
    app.connect("html-page-context", to_notebook, priority=502)  # after the theme, at 501
    app.connect("build-finished", fetch, priority=600)  # after the notebooks are written, at 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
