"""Offer each chapter as a notebook to download, with its text in plain Markdown.

Colab, GitHub and most editors know nothing of MyST. So the text is written from what Sphinx has resolved: numbers of
theorems and equations, citations, values that cells have glued. Code cells keep their places. A node that is not known
here is an error, so nothing is left out unnoticed.
"""

import json
import re
from pathlib import Path
from textwrap import indent
from urllib.parse import urljoin

import nbformat
from docutils import nodes
from sphinx import addnodes
from sphinx.errors import ExtensionError
from sphinx_exercise.nodes import exercise_enumerable_node, solution_node
from sphinx_proof.nodes import NODE_TYPES, proof_node

NOTEBOOKS = "_sources"  # below the pages, where the theme looks for what can be downloaded
STATEMENTS = (*NODE_TYPES.values(), exercise_enumerable_node)
NOTHING = (nodes.target, nodes.comment, nodes.colspec, nodes.substitution_definition, addnodes.index, addnodes.toctree)
HOLDERS = (nodes.General, proof_node, addnodes.glossary)  # folds are General, too
AROUND = {nodes.emphasis: "*", nodes.strong: "**"}
THROUGH = (nodes.inline, addnodes.number_reference)


def unknown(node, where):
    """Return the error for a node that a notebook would leave out."""
    return ExtensionError(f"{type(node).__name__} {where}: say in _ext/notebooks.py how a notebook writes it")


class Writer:
    """Writes the nodes of one page.

    `number` gives what a theorem or an exercise is called, `link` the address of a reference, or None where it has
    none that holds outside of the book.
    """

    def __init__(self, number, link):
        self.number, self.link = number, link

    # Words

    def words(self, node):
        """Return what is within a line."""
        return "".join(self.word(child) for child in node.children)

    def word(self, node):
        if isinstance(node, nodes.Text):
            return re.sub(r"([\\`*_$<])", r"\\\1", re.sub(r"\s*\n\s*", " ", str(node)))
        if isinstance(node, nodes.math):
            return f"${node.astext().strip()}$"
        if isinstance(node, nodes.literal):
            fence = "``" if "`" in node.astext() else "`"
            return f"{fence}{node.astext()}{fence}"
        if isinstance(node, nodes.reference):
            text, link = self.words(node), self.link(node)
            return f"[{text}]({link})" if link else text
        if isinstance(node, nodes.image):
            return f"*{node.get('alt', '')}*"
        if isinstance(node, nodes.raw):
            return node.astext()
        if type(node) in AROUND:
            return f"{AROUND[type(node)]}{self.words(node)}{AROUND[type(node)]}"
        if isinstance(node, NOTHING):
            return ""
        if isinstance(node, THROUGH):
            return self.words(node)
        raise unknown(node, "within a line")

    # Blocks: strings, and the numbers of code cells

    def blocks(self, node, level=1):
        for child in node.children:
            yield from self.block(child, level)

    def text(self, node):
        """Return blocks without cells as one text."""
        return "\n\n".join(self.blocks(node))

    def block(self, node, level):
        if isinstance(node, nodes.container) and node.get("nb_element") == "cell_code":
            yield node["cell_index"]
        elif isinstance(node, nodes.section):
            title, *rest = node.children
            yield f"{'#' * level} {self.words(title)}"
            for child in rest:
                yield from self.block(child, level + 1)
        elif isinstance(node, STATEMENTS):
            title, body = node.children
            parts = [f"**{self.number(node)}{self.words(title).rstrip()}.**", *self.blocks(body)]
            if all(isinstance(part, str) for part in parts):
                parts = [indent("\n\n".join(parts), "> ", lambda line: True)]
            yield from parts
        elif isinstance(node, solution_node):
            title, body = node.children
            yield f"**{re.sub(r' +', ' ', self.words(title))}.**"
            yield from self.blocks(body)
        elif isinstance(node, nodes.Admonition):
            titles = [child for child in node.children if isinstance(child, nodes.title)]
            yield from (f"**{self.words(title)}.**" for title in titles)
            for child in node.children:
                if child not in titles:
                    yield from self.block(child, level)
        elif isinstance(node, nodes.paragraph | nodes.caption):
            yield self.words(node)
        elif isinstance(node, nodes.rubric):
            yield f"**{self.words(node)}**"
        elif isinstance(node, nodes.bullet_list | nodes.enumerated_list):
            marks = ("* " if isinstance(node, nodes.bullet_list) else f"{k}. " for k in range(1, len(node) + 1))
            yield "\n".join(
                mark + indent(self.text(item), " " * len(mark)).lstrip()
                for mark, item in zip(marks, node.children, strict=True)
            )
        elif isinstance(node, nodes.definition_list):
            for item in node.children:
                (term, definition) = item.children
                yield f"**{self.words(term)}** {self.text(definition)}"
        elif isinstance(node, nodes.block_quote):
            yield indent(self.text(node), "> ", lambda line: True)
        elif isinstance(node, nodes.table):
            yield self.table(node)
        elif isinstance(node, nodes.math_block):
            formula = node.astext().strip()
            tag = f" \\tag{{{self.number(node)}}}" if node.get("number") else ""
            yield formula if node.get("nowrap") else f"$$\n{formula}{tag}\n$$"
        elif isinstance(node, nodes.literal_block | nodes.doctest_block):
            yield f"```{node.get('language', '')}\n{node.astext()}\n```"
        elif isinstance(node, nodes.raw):
            yield node.astext()
        elif isinstance(node, nodes.image | nodes.reference):
            yield self.word(node)
        elif isinstance(node, NOTHING):
            return
        elif isinstance(node, HOLDERS) and not isinstance(node, nodes.TextElement):
            yield from self.blocks(node, level)
        else:
            raise unknown(node, "among blocks")

    def table(self, node):
        rows = [
            [self.text(entry).replace("\n", " ").replace("|", "\\|") for entry in row.children]
            for row in node.findall(nodes.row)
        ]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


def kept(app, page):
    return Path(app.doctreedir) / f"{page}.plain.json"


def gather(app, page, template, context, doctree):
    """Keep the text of a chapter: strings, and the numbers of the cells between them."""
    if doctree is None or app.builder.name != "html" or "kernelspec" not in app.env.metadata.get(page, {}):
        return
    base = app.config.html_baseurl

    def number(node):
        kind = node.get("countertype") or ("displaymath" if isinstance(node, nodes.math_block) else "exercise")
        digits = ".".join(map(str, app.env.toc_fignumbers[page][kind][node["ids"][0]]))
        return digits if kind == "displaymath" else f"{kind.title()} {digits}"

    def link(node):
        target = node.get("refuri") or f"#{node['refid']}"
        if "://" in target:
            return target
        return urljoin(urljoin(base, app.builder.get_target_uri(page)), target) if base else None

    kept(app, page).write_text(json.dumps(list(Writer(number, link).blocks(doctree))), encoding="utf-8")


def executed(app, page):
    """Return where MyST-NB has left a page as a notebook, or None."""
    path = Path(app.outdir).parent / "jupyter_execute" / f"{page}.ipynb"
    return path if "kernelspec" in app.env.metadata.get(page, {}) and path.exists() else None


def offer(app, page, template, context, doctree):
    """Let the theme show a link to the notebook."""
    if executed(app, page):
        context["ipynb_source"] = f"{page}.ipynb"


def notebook(parts, ran):
    """Return a notebook of these parts: texts, and the numbers of cells of one that ran."""
    cells, text, done = [], [], 0

    def flush():
        if text:
            cells.append(nbformat.v4.new_markdown_cell("\n\n".join(text), id=f"text-{len(cells)}"))
            text.clear()

    for part in [*parts, len(ran.cells)]:
        if isinstance(part, str):
            text.append(part)
            continue
        flush()
        cells += [cell for cell in ran.cells[done : part + 1] if cell.cell_type == "code"]  # with those not shown
        done = part + 1
    flush()
    ran.cells = cells
    return ran


def write(app, exc):
    """Put the notebooks where the links lead."""
    if exc is not None or app.builder.name != "html":
        return
    for page in app.env.found_docs:
        if source := executed(app, page):
            parts = json.loads(kept(app, page).read_text(encoding="utf-8"))
            target = Path(app.outdir) / NOTEBOOKS / f"{page}.ipynb"
            target.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook(parts, nbformat.read(source, as_version=4)), target)


def setup(app):
    app.connect("html-page-context", gather)
    app.connect("html-page-context", offer)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
