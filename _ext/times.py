"""Say how long pages take to read and to run: the role `times`, with their names below `book/`, separated by commas.

Reading counts 200 words a minute and no formula, code or output, in steps of five minutes. Running is what the cells
took when they last ran, in minutes.
"""

import math

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx import addnodes
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxRole

WORDS = 200  # read in a minute
STEP = 5  # minutes
UNREAD = (nodes.literal_block, nodes.math, nodes.math_block, nodes.raw, nodes.comment, addnodes.toctree)


class TimesNode(nodes.General, nodes.Inline, nodes.Element):
    """Stands where the times come, until all pages are read."""


class TimesRole(SphinxRole):
    def run(self):
        self.env.metadata[self.env.docname]["times"] = True
        return [TimesNode("", pages=[f"book/{name.strip()}" for name in self.text.split(",")])], []


def words(node):
    """Return how many words of a page are read as text."""
    if isinstance(node, nodes.Text):
        return len(node.split())
    return 0 if isinstance(node, UNREAD) else sum(words(child) for child in node.children)


def minutes(count):
    """Return the minutes that so many words take to read."""
    return STEP * math.ceil(count / WORDS / STEP)


def phrase(count, seconds):
    """Return both times in words, that to run only where something runs."""
    run = math.ceil(seconds / 60)
    text = f"about {minutes(count)} minutes to read"
    return f"{text}, {run} minute{'s' * (run > 1)} to run" if run else text


class FillTimes(SphinxPostTransform):
    default_priority = 8

    def run(self, **kwargs):
        for node in list(self.document.findall(TimesNode)):
            if missing := set(node["pages"]) - self.env.found_docs:
                raise ExtensionError(f"times: no page is called {', '.join(sorted(missing))}")
            ran = [NbMetadataCollector.get_doc_data(self.env)[page].get("exec_data") for page in node["pages"]]
            count = sum(words(self.env.get_doctree(page)) for page in node["pages"])
            node.replace_self(nodes.Text(phrase(count, sum(data["runtime"] for data in ran if data))))


def outdated(app, env, added, changed, removed):
    """The pages with times depend on those they name."""
    return [page for page in env.found_docs if "times" in env.metadata.get(page, {})]


def setup(app):
    app.add_node(TimesNode)
    app.add_role("times", TimesRole())
    app.add_post_transform(FillTimes)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
