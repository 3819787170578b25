"""Keep the built pages self-contained: local MathJax, no thebe, no CDN."""

import importlib.util
from pathlib import Path
from shutil import copyfile, copytree

MATHJAX = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent / "static/mathjax"


def drop_thebe(app, config):
    for listeners in app.events.listeners.values():
        listeners[:] = [x for x in listeners if not x.handler.__module__.startswith("sphinx_thebe")]
    app.registry.css_files[:] = [x for x in app.registry.css_files if x[0] != "sphinx-thebe.css"]


def copy_mathjax(app, exc):
    if exc is None and app.builder.format == "html":
        out = Path(app.outdir) / "_static/mathjax"
        out.mkdir(parents=True, exist_ok=True)
        copyfile(MATHJAX / "tex-chtml-full.js", out / "tex-chtml-full.js")
        copytree(MATHJAX / "output/chtml/fonts", out / "output/chtml/fonts", dirs_exist_ok=True)


def setup(app):
    app.connect("config-inited", drop_thebe)
    app.connect("build-finished", copy_mathjax)
    app.config.mathjax_path = "mathjax/tex-chtml-full.js"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
