"""Let the search show where its words stand, also in a book that was opened from the disk.

Sphinx's search fetches each page that it found, which a browser refuses without a server. Here the page of the search
brings the texts along, and answers those requests from them.
"""

import html
import json
from pathlib import Path

from docutils import nodes

LEFT_OUT = (nodes.literal_block, nodes.math_block, nodes.raw, nodes.comment, nodes.Inline)
SHORT = 300  # characters of what is no section
ANSWER = """
const page = (url) => Object.keys(TEXTS).find((name) => String(url).endsWith(`${name}.html`));
const ask = window.fetch.bind(window);
window.fetch = (url, ...rest) =>
  page(url) ? Promise.resolve({ text: () => Promise.resolve(TEXTS[page(url)]) }) : ask(url, ...rest);
"""


def part(name, text):
    first, *rest = html.escape(name).split(".")  # the search asks by a selector, in which dots begin classes
    return f'<section id="{first}" class="{" ".join(rest)}">{html.escape(text, quote=False)} </section>'


def home(node):
    """Return the section that a node stands in, or None."""
    while node is not None and not isinstance(node, nodes.section):
        node = node.parent
    return node


def texts(doctree):
    """Return the text of a page by sections, without code and displayed formulas, as the search reads it."""
    found = {section: [] for section in doctree.findall(nodes.section)}
    for block in doctree.findall(nodes.TextElement):
        if home(block) and not isinstance(block, LEFT_OUT):
            found[home(block)].append(" ".join(block.astext().split()))
    parts = [part(section["ids"][0], " ".join(words)) for section, words in found.items()]
    for node in doctree.findall(nodes.Element):  # terms, modules, theorems: what an index or a title may lead to
        around = " ".join((node.parent if isinstance(node, nodes.term | nodes.target) else node).astext().split())
        parts += [
            part(name, around[:SHORT]) for name in node.get("ids", ()) if (node not in found or name != node["ids"][0])
        ]
    return f'<div role="main">{"".join(parts)}</div>'


def kept(app, page):
    return Path(app.doctreedir) / f"{page}.search.html"


def gather(app, page, template, context, doctree):
    """Keep the text of a page; on the page of the search, load all that were kept."""
    if doctree is not None:
        kept(app, page).write_text(texts(doctree), encoding="utf-8")
    elif page == "search":
        app.add_js_file("texts.js")


def write(app, error):
    """Write all texts beside the other scripts."""
    if error is None and app.builder.name == "html":
        pages = {page: kept(app, page).read_text(encoding="utf-8") for page in sorted(app.env.found_docs)}
        script = f"const TEXTS = {json.dumps(pages, ensure_ascii=False)};\n{ANSWER}"
        (Path(app.outdir) / "_static" / "texts.js").write_text(script, encoding="utf-8")


def setup(app):
    app.connect("html-page-context", gather)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
