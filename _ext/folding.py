"""Fold what a first reading does not need: `<details>`, which a keyboard, a search and a link open, and print shows.

Folded are long proofs, long code, long tables, the numbers behind a figure, and of each entry of the reference all but
its first paragraph. What an author adds to these: the comment `% fold: title` folds what follows it in its section, up
to a subsection. A notebook, which folds nothing, does not show it.
`book/_static/folding.js` opens what a link leads to.
"""

import html
from itertools import groupby, takewhile

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx_proof.nodes import proof_node

LOGGER = logging.getLogger(__name__)
PROOF = 400  # characters of text, code and formulas; what is longer folds, as below
CODE = 6  # lines
ROWS = 8  # of a table that a cell prints
TABLE = 1000  # characters of a table in the text
NUMBERS = ("report.table(plot.numbers(", "report.table(play.numbers(")  # the cell below a figure


class Fold(nodes.General, nodes.Element):
    """Holds what is folded; its `title` stays."""


def visit(writer, node):
    writer.body.append(f'<details class="fold"><summary>{html.escape(node["title"])}</summary>\n')


def depart(writer, node):
    writer.body.append("</details>\n")


def plural(count, word):
    return f"{count} {word}{'s' * (count != 1)}"


def wrap(parts, title):
    """Put neighbours into one fold, where the first stands."""
    parent, place = parts[0].parent, parts[0].parent.index(parts[0])
    for part in parts:
        parent.remove(part)
    parent.insert(place, Fold("", *parts, title=title))


def source(cell):
    found = cell.next_node(nodes.literal_block)
    return found.astext().strip() if found and cell.get("nb_element") == "cell_code" else ""


def rows(output):
    """Return how many rows the table of an output has; that of the claims folds by itself."""
    texts = [raw.astext() for raw in output.findall(nodes.raw) if "<table" in raw.astext()]
    return max((text.partition("<tbody>")[2].count("<tr") for text in texts if "ledger" not in text), default=0)


def numbers(cell):
    """Return whether a cell shows the numbers of a figure, however it is broken into lines."""
    return isinstance(cell, nodes.container) and "".join(source(cell).split()).startswith(NUMBERS)


class Folding(SphinxPostTransform):
    default_priority = 198  # before MyST-NB folds the cells that are tagged, and after it has chosen what they show
    formats = ("html",)

    def run(self, **kwargs):
        for proof in list(self.document.findall(proof_node)):
            if len(proof.astext()) > PROOF:
                wrap([proof], "Proof")
        for cell in list(self.document.findall(nodes.container)):
            if cell.get("nb_element") == "cell_code" and not numbers(cell):
                self.cell(cell)
        for parent in {cell.parent for cell in self.document.findall(numbers)}:
            for found, cells in groupby(list(parent.children), numbers):
                if found:
                    self.numbers(list(cells))
        for table in list(self.document.findall(nodes.table)):
            if len(table.astext()) > TABLE and "status" not in table["classes"]:
                wrap([table], f"Table, {plural(len(table.next_node(nodes.tbody)), 'row')}")
        for entry in list(self.document.findall(addnodes.desc_content)):
            if len(entry) > 1:
                wrap(entry.children[1:], "Details")
        for mark in list(self.document.findall(nodes.comment)):
            rest = mark.parent.children[mark.parent.index(mark) + 1 :]
            after = list(takewhile(lambda part: not isinstance(part, nodes.section), rest))
            title = mark.astext().removeprefix("fold: ")
            if title == mark.astext() or not after:
                LOGGER.warning(
                    "this comment folds nothing: write `% fold: title`, and what it folds below", location=mark
                )
            else:
                wrap(after, title)
            mark.parent.remove(mark)

    def cell(self, cell):
        """Fold the code and the table of a cell, where they are long and not folded by its tags."""
        tagged = cell.get("hide_mode") or ""
        for part in list(cell.children):
            kind = part.get("nb_element")
            lines = len(source(cell).splitlines())
            if kind == "cell_code_source" and lines > CODE and not {"all", "input", "input+output"} & {tagged}:
                wrap([part], f"Code, {plural(lines, 'line')}")
            elif kind == "cell_code_output" and rows(part) > ROWS and not {"all", "output", "input+output"} & {tagged}:
                wrap([part], f"Table, {plural(rows(part), 'row')}")

    def numbers(self, cells):
        for cell in cells:
            cell["hide_mode"] = None
        wrap(cells, "The numbers of this figure")


def setup(app):
    app.add_node(Fold, html=(visit, depart))
    app.add_post_transform(Folding)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
