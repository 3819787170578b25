"""What `_ext/folding.py` folds of a page, and what it leaves."""

import importlib.util
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx import addnodes
from sphinx_proof.nodes import proof_node

from tools import chapters

SPEC = importlib.util.spec_from_file_location("folding", chapters.ROOT / "_ext" / "folding.py")
folding = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(folding)

FIGURE = "report.table(\n    plot.numbers(axes), 3\n)"


def table(rows, kind="dataframe"):
    return f'<table class="{kind}"><tbody>{"<tr><td>1</td></tr>" * rows}</tbody></table>'


def cell(code, output="", **settings):
    """A cell as MyST-NB makes it."""
    made = nodes.container(nb_element="cell_code", hide_mode=None)
    made += nodes.container("", nodes.literal_block(code, code), nb_element="cell_code_source")
    if output:
        made += nodes.container("", nodes.raw(output, output, format="html"), nb_element="cell_code_output")
    made.attributes |= settings
    return made


def folded(*parts):
    """Return the titles of what is folded of a page with these parts, and the page."""
    page = new_document("page")
    page += list(parts)
    folding.Folding(page).run()
    return [fold["title"] for fold in page.findall(folding.Fold)], page


@pytest.mark.parametrize("characters", [folding.PROOF, folding.PROOF + 1])
def test_a_long_proof_folds(characters):
    titles, page = folded(proof_node("", nodes.paragraph(text="x" * characters)))
    assert titles == ["Proof"] * (characters > folding.PROOF)
    assert len(list(page.findall(proof_node))) == 1


@pytest.mark.parametrize("lines", [folding.CODE, folding.CODE + 1])
def test_long_code_folds_and_what_it_prints_stays(lines):
    titles, page = folded(cell("\n".join(["x = 1"] * lines), table(2)))
    assert titles == [f"Code, {lines} lines"] * (lines > folding.CODE)
    assert page[0][1]["nb_element"] == "cell_code_output"


@pytest.mark.parametrize("rows", [folding.ROWS, folding.ROWS + 1])
def test_a_long_table_folds(rows):
    titles, _ = folded(cell("ways", table(rows)))
    assert titles == [f"Table, {rows} rows"] * (rows > folding.ROWS)


def test_the_table_of_the_claims_stays():
    assert folded(cell("claims.box(page)", table(50, "ledger")))[0] == []


@pytest.mark.parametrize("classes", [[], ["status"]])
def test_a_long_table_of_the_text_folds_but_for_the_times(classes):
    group = nodes.tgroup("", nodes.tbody("", nodes.row("", nodes.entry("", nodes.paragraph(text="x" * 2000)))))
    short = nodes.table("", nodes.tgroup("", nodes.tbody("", nodes.row())))
    titles, _ = folded(nodes.table("", group, classes=classes), short)
    assert titles == ([] if classes else ["Table, 1 row"])


@pytest.mark.parametrize(("mode", "left"), [("input", ["Table, 30 rows"]), ("output", ["Code, 9 lines"]), ("all", [])])
def test_what_an_author_has_folded_is_not_folded_twice(mode, left):
    assert folded(cell("x\n" * 8 + "x", table(30), hide_mode=mode))[0] == left


def test_the_numbers_of_a_figure_are_one_fold():
    numbers = [cell(FIGURE, table(20), hide_mode="input"), cell(FIGURE, table(20), hide_mode="all")]
    titles, page = folded(cell("plot.curves()"), *numbers, cell("print(1)"), cell(FIGURE, table(2)))
    assert titles == ["The numbers of this figure"] * 2
    assert [len(fold) for fold in page.findall(folding.Fold)] == [2, 1]
    assert not any(made["hide_mode"] for made in numbers)


def test_an_entry_of_the_reference_keeps_its_first_paragraph():
    short = addnodes.desc_content("", nodes.paragraph(text="Alone."))
    entry = addnodes.desc_content("", nodes.paragraph(text="First."), nodes.paragraph(text="Second."))
    titles, _ = folded(short, entry)
    assert titles == ["Details"]
    assert entry[0].astext() == "First."
    assert entry[1].astext() == "Second."


def test_the_rest_of_a_section_folds_with_what_is_folded_in_it():
    proof = proof_node("", nodes.paragraph(text="x" * 1000))
    below = nodes.section("", nodes.title(text="Below"))
    text = nodes.paragraph(text="a")
    first = nodes.section("", nodes.title(text="One"), nodes.comment("", "fold: How"), text, proof, below)
    titles, page = folded(first)
    assert titles == ["How", "Proof"]
    assert [type(part).__name__ for part in first] == ["title", "Fold", "section"]
    assert not list(page.findall(nodes.comment))


@pytest.mark.parametrize("parts", [["fold: None"], ["fold:How", "text"], ["a thought", "text"]])
def test_a_comment_that_folds_nothing_is_reported(parts, monkeypatch):
    said = []
    monkeypatch.setattr(folding.LOGGER, "warning", lambda message, location: said.append(message))
    title, *texts = parts
    below = [nodes.paragraph(text=text) for text in texts]
    titles, page = folded(nodes.section("", nodes.comment("", title), *below))
    assert titles == []
    assert len(said) == 1
    assert len(list(page.findall(nodes.paragraph))) == len(texts)


def test_a_fold_is_html():
    writer = SimpleNamespace(body=[])
    folding.visit(writer, {"title": "a < b"})
    folding.depart(writer, None)
    assert "".join(writer.body) == '<details class="fold"><summary>a &lt; b</summary>\n</details>\n'
    assert folding.plural(1, "row") == "1 row"
