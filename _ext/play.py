"""Put pictures to play with on the pages: what they show beside their still, and what draws them on these pages only.

The book then needs no network for them. Without scripts, and in print, the still is what one sees.
"""

import gzip
import json
import sys
from functools import cache
from pathlib import Path

from docutils import nodes
from myst_nb.core import render
from sphinx.transforms.post_transforms import SphinxPostTransform

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools import chapters

chapters.isolate()  # what comes next imports matplotlib, which reads the settings of whoever builds
from lib.pages import play  # noqa: E402 - after `isolate`, or matplotlib takes the builder's own settings

SCRIPT = "vega.js"
HELP = "The controls below the picture take the mouse and the arrow keys. "
WEIGHT = "Its data weigh {data} kB; what draws such pictures weighs {whole} kB, {packed} kB packed, once for the book."


class Renderer:
    """MyST-NB's way to a new kind of output; it asks for an entry point of a package, which this is none of."""

    @staticmethod
    def handle_mime(renderer, data, inline):
        if data.mime_type != play.MIME:
            return None
        env = renderer.renderer.sphinx_env
        env.metadata[env.docname]["play"] = True
        spec = render.sanitize_script_content(json.dumps(data.content, separators=(",", ":")))
        return [nodes.raw("", f'<script type="{play.MIME}">{spec}</script>', format="html", spec=len(spec))]


@cache
def library():
    return play.library().encode()


def kilobytes(size):
    return f"{size / 1000:,.0f}"


class BesideTheStill(SphinxPostTransform):
    """Before MyST-NB chooses one kind of each output, at 4: both are wanted."""

    default_priority = 3
    formats = ("html",)

    def run(self, **kwargs):
        for kind in list(self.document.findall(nodes.container)):
            if kind.get("mime_type") != play.MIME:
                continue
            (still,) = [other for other in kind.parent if other["mime_type"] == "image/png"]
            (spec,) = kind.children
            sizes = {"data": spec["spec"], "whole": len(library()), "packed": len(gzip.compress(library()))}
            text = HELP + WEIGHT.format(**{name: kilobytes(size) for name, size in sizes.items()})
            still += [spec, nodes.paragraph(text=text, classes=["play-help"])]
            kind.parent.remove(kind)


def scripts(app, page, template, context, doctree):
    if "play" in app.env.metadata.get(page, {}):
        app.add_js_file(SCRIPT, loading_method="defer")
        app.add_js_file("play.js", loading_method="defer")


def copy_library(app, exc):
    wanted = any("play" in data for data in app.env.metadata.values())
    if exc is None and app.builder.format == "html" and wanted:
        (Path(app.outdir) / "_static" / SCRIPT).write_bytes(library())


def setup(app):
    render.load_mime_renders = lambda: [Renderer]
    app.add_post_transform(BesideTheStill)
    app.connect("html-page-context", scripts)
    app.connect("build-finished", copy_library)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
