"""Show every figure of the book on one page, small, in the order of the book: `{gallery}`, from what the build drew."""

import sys
import textwrap
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from lib.pages.verdicts import opening

WIDTH = 110  # characters of a caption that are shown


class GalleryNode(nodes.General, nodes.Element):
    """Stands where the pictures come, until all pages are read."""


class Thumbnail(nodes.image):
    """A picture that a browser fetches when it is about to be seen."""


def lazily(writer, node):
    writer.visit_image(node)
    writer.body[-1] = writer.body[-1].replace("<img ", '<img loading="lazy" ', 1)


def end(writer, node):
    writer.depart_image(node)


class Gallery(SphinxDirective):
    def run(self):
        self.env.metadata[self.env.docname]["gallery"] = True
        return [GalleryNode()]


def figures(env, page):
    """Return the figures of a page that its cells drew: those with a picture, a caption and a name to link to."""
    found = env.get_doctree(page).findall(nodes.figure)
    return [
        figure
        for figure in found
        if figure["ids"] and figure.next_node(nodes.image) and figure.next_node(nodes.caption)
    ]


def short(caption):
    """Return the first sentence of a caption, or the beginning of a long one."""
    return textwrap.shorten(opening(caption), WIDTH, placeholder=" …")


class FillGallery(SphinxPostTransform):
    default_priority = 8  # before pictures are copied and links are resolved

    def run(self, **kwargs):
        for node in list(self.document.findall(GalleryNode)):
            pages = [page for page in self.env.collect_relations() if page != self.env.docname]
            node.replace_self([part for page in pages for part in self.chapter(page, figures(self.env, page))])

    def chapter(self, page, drawn):
        if not drawn:
            return []
        title = nodes.title("", self.env.titles[page].astext())
        pictures = nodes.container("", *(self.thumbnail(page, figure) for figure in drawn), classes=["gallery"])
        return [nodes.section("", title, pictures, ids=[nodes.make_id(f"gallery-{page}")])]

    def thumbnail(self, page, figure):
        image = figure.next_node(nodes.image)
        small = Thumbnail("", uri=image["uri"], candidates=image["candidates"], alt=image.get("alt", ""))
        caption = short(figure.next_node(nodes.caption).astext())
        target = self.app.builder.get_relative_uri(self.env.docname, page) + f"#{figure['ids'][0]}"
        link = nodes.reference("", "", small, nodes.inline("", caption), internal=True, refuri=target)
        return nodes.paragraph("", "", link, classes=["thumbnail"])


def outdated(app, env, added, changed, removed):
    """The pages with a gallery depend on all others."""
    return [page for page in env.found_docs if "gallery" in env.metadata.get(page, {})]


def setup(app):
    app.add_node(GalleryNode)
    app.add_node(Thumbnail, html=(lazily, end))
    app.add_directive("gallery", Gallery)
    app.add_post_transform(FillGallery)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
