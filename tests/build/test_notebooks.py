"""Notebooks for those who know nothing of MyST: the text of a page in plain Markdown, its cells in their places."""

import importlib.util
import re

import nbformat
import pytest
from docutils import nodes
from docutils.core import publish_doctree
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sphinx.errors import ExtensionError
from sphinx_proof.nodes import theorem_node

from tests.build.visits import HTML
from tools import chapters

SPEC = importlib.util.spec_from_file_location("notebooks", chapters.ROOT / "_ext" / "notebooks.py")
notebooks = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(notebooks)

LEFT = re.compile(
    r"\{(?:glue|eq|numref|ref|cite|doc|prf|term|claim|times|code-cell)[:}a-z]|:::|^\(\S+\)=$|\\tag\{\}", re.M
)


def written(*parts, link=lambda node: None):
    return list(notebooks.Writer(lambda node: "Theorem 2.1", link).blocks(nodes.container("", *parts)))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Two *words* and **two** ``more``.", ["Two *words* and **two** `more`."]),
        ("A line\nand another", ["A line and another"]),
        ("``a`b``", ["``a`b``"]),
        (r"5 * 3 < 20_000 $", [r"5 \* 3 \< 20\_000 \$"]),
        ("* one\n\n  more\n* two", ["* one\n\n  more\n* two"]),
        ("1. one\n2. two", ["1. one\n2. two"]),
        ("term\n  what it means", ["**term** what it means"]),
        ("Before:\n\n  said", ["Before:", "> said"]),
        ("::\n\n  code()", ["```\ncode()\n```"]),
        (":math:`x^2`", ["$x^2$"]),
        (".. math:: x = y", ["$$\nx = y\n$$"]),
        (".. note:: mind", ["mind"]),
        (".. admonition:: Title\n\n   mind", ["**Title.**", "mind"]),
        (".. raw:: html\n\n   <b>bold</b>", ["<b>bold</b>"]),
        (".. image:: a.png\n   :alt: A curve that falls", ["*A curve that falls*"]),
        (".. a comment\n\n.. rubric:: Small", ["**Small**"]),
        ("=== ===\na   b\n=== ===\n1   x|y\n=== ===", ["| a | b |\n| --- | --- |\n| 1 | x\\|y |"]),
    ],
)
def test_what_docutils_knows(source, expected):
    assert written(*publish_doctree(source).children) == expected


def test_sections_have_their_level():
    source = "One\n===\n\nTwo\n---\n\ntext\n\nThree\n-----\n"
    tree = publish_doctree(source, settings_overrides={"doctitle_xform": False})
    assert written(*tree.children) == ["# One", "## Two", "text", "## Three"]


def test_links_lead_where_they_hold():
    parts = publish_doctree("See `this <https://example.org>`_.").children
    assert written(*parts) == ["See this."]
    assert written(*parts, link=lambda node: node["refuri"]) == ["See [this](https://example.org)."]


def statement(*body):
    return theorem_node("", nodes.title("", " (Title)"), nodes.section("", *body))


def test_a_theorem_has_its_number_and_is_quoted():
    body = nodes.paragraph("", "It holds."), nodes.math_block("", "x", number=1)
    assert written(statement(*body)) == [
        "> **Theorem 2.1 (Title).**\n> \n> It holds.\n> \n> $$\n> x \\tag{Theorem 2.1}\n> $$"
    ]


def cell(index):
    return nodes.container("", nodes.paragraph("", "as printed"), nb_element="cell_code", cell_index=index)


def test_a_theorem_with_a_cell_is_not_quoted():
    assert written(statement(nodes.paragraph("", "Run"), cell(3))) == ["**Theorem 2.1 (Title).**", "Run", 3]


def test_an_unknown_node_is_an_error():
    for unknown in (nodes.sidebar(), nodes.paragraph("", "", nodes.superscript("", "2"))):
        with pytest.raises(ExtensionError, match=r"sidebar among blocks|superscript within a line"):
            written(unknown)


def test_cells_keep_their_places_and_hidden_ones_are_kept():
    def made():
        ran = [new_markdown_cell("{ref}`x`"), new_code_cell("a"), new_markdown_cell("y"), *map(new_code_cell, "bcd")]
        return notebooks.notebook(["# Title", "text", 1, 4, "end"], new_notebook(cells=ran))

    nbformat.validate(made())
    assert [part.source for part in made().cells] == ["# Title\n\ntext", "a", "b", "c", "end", "d"]
    one, other = ([part.id for part in made().cells if part.cell_type == "markdown"] for _ in range(2))
    assert one == other, "ids are drawn: no two builds agree"


NOTEBOOKS = sorted((HTML / "_sources").rglob("*.ipynb"))


@pytest.mark.browser
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.relative_to(HTML / "_sources").as_posix())
def test_a_notebook_of_the_book(path):
    """No markup of MyST is left, and the cells are those that ran."""
    made = nbformat.read(path, as_version=4)
    ran = nbformat.read(HTML.parent / "jupyter_execute" / path.relative_to(HTML / "_sources"), as_version=4)
    texts, ours, theirs = (
        [part.source for part in found.cells if part.cell_type == kind]
        for found, kind in ((made, "markdown"), (made, "code"), (ran, "code"))
    )
    assert not [text for text in texts if LEFT.search(text)]
    assert ours == theirs
    assert texts[0].startswith("# ")
