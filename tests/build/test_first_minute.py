"""The first pages: what they say agrees with the ledger, and what `_ext` counts and cuts for them is right."""

import importlib.util
import re
from types import SimpleNamespace

import pytest
import yaml
from docutils import nodes

from lib.pages import claims
from tools import chapters

ROOT = chapters.ROOT
FINDINGS = (ROOT / "book" / "findings.md").read_text(encoding="utf-8")
NAMED = re.compile(r"\{claim\}`([^`]*)`")
VERDICTS = {
    "What holds": {"holds", "holds, but loose"},
    "What holds with a change": {"holds with a change"},
    "What is refuted": {"false"},
    "What we could not reproduce or check": {"not reproduced here", "cannot be checked"},
}


def extension(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


times, gallery, launch = map(extension, ("times", "gallery", "launch"))


def sections():
    """The sections of the page, by their headings."""
    _, *parts = re.split(r"^## (.*)\n", FINDINGS, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize("section", VERDICTS)
def test_every_finding_names_claims_with_the_verdict_of_its_section(section):
    """BA-T3 and its like: a verdict that changes must move the sentence."""
    for item in re.split(r"^\* ", sections()[section], flags=re.MULTILINE)[1:]:
        named = NAMED.findall(item)
        assert named, f"no claim stands behind: {item}"
        assert {claims.load()[name].verdict for name in named} <= VERDICTS[section], item


def test_every_other_item_leads_somewhere():
    for section in ("What works instead", "What it means if you have data"):
        for item in re.split(r"^\* ", sections()[section], flags=re.MULTILINE)[1:]:
            assert re.search(r"\]\(|\{prf:ref\}|\{numref\}", item), f"no link stands behind: {item}"


def test_the_page_has_no_formula():
    assert "$" not in FINDINGS


def test_words_are_those_of_the_text():
    text = nodes.paragraph("", "", nodes.Text("Three plain words "), nodes.math("", "a + b + c"))
    page = nodes.section("", text, nodes.literal_block("", "x = 1 + 2"), nodes.raw("", "<b>one two</b>", format="html"))
    assert times.words(page) == 3


@pytest.mark.parametrize(
    ("count", "seconds", "phrase"),
    [
        (1, 0.0, "about 5 minutes to read"),
        (1, 0.1, "about 5 minutes to read, 1 minute to run"),
        (1000, 60.0, "about 5 minutes to read, 1 minute to run"),
        (1001, 60.1, "about 10 minutes to read, 2 minutes to run"),
    ],
)
def test_times_are_rounded_up(count, seconds, phrase):
    assert times.phrase(count, seconds) == phrase


@pytest.mark.parametrize(
    ("caption", "short"),
    [
        (
            "Error against the budget of the mechanism, median. Seed 1.",
            "Error against the budget of the mechanism, median.",
        ),
        ("word " * 40, " ".join(["word"] * 21) + " …"),
    ],
)
def test_captions_are_short(caption, short):
    assert gallery.short(caption) == short
    assert len(short) <= gallery.WIDTH


@pytest.mark.parametrize(("url", "kept"), [("", False), ("https://github.com/user/name", True)])
def test_nothing_is_launched_without_an_address(url, kept):
    config = SimpleNamespace(html_theme_options={"repository_url": url, "launch_buttons": {"colab_url": "x"}})
    launch.off_without_address(None, config)
    assert ("launch_buttons" in config.html_theme_options) == kept


def test_colab_is_sent_to_the_published_notebook():
    colab = {"text": "Colab", "url": "https://colab/github/user/name/blob/main/book/part/first.md"}
    app = SimpleNamespace(config=SimpleNamespace(launch_published="pages"))
    context = {"header_buttons": [{"buttons": [{"text": "Binder", "url": "b"}, colab]}, {"url": "c"}]}
    launch.to_notebook(app, "book/part/first", "", context, None)
    assert colab["url"] == "https://colab/github/user/name/blob/pages/_sources/book/part/first.ipynb"
    assert context["header_buttons"][0]["buttons"][0]["url"] == "b"


def test_the_cell_for_colab_does_nothing_elsewhere():
    """As IPython reads it, with an address in place."""
    from IPython.core.inputtransformer2 import TransformerManager

    code = TransformerManager().transform_cell(launch.FETCH.format(url="https://github.com/user/name", branch="main"))
    names = {"get_ipython": lambda: pytest.fail("it ran a command")}
    exec(compile(code, "cell", "exec"), names)


def test_the_address_stands_in_one_place():
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    places = [*ROOT.glob("_ext/*.py"), *ROOT.glob("book/**/*.md"), *ROOT.glob("tools/**/*.py")]
    assert config["launch_buttons"]["notebook_interface"] == "jupyterlab"
    url = config["repository"]["url"]
    assert not url or not [path.name for path in places if url in path.read_text(encoding="utf-8")]
