"""The words for mechanisms stand in one place, `dpreg.estimators.words`; all other lists and texts agree with it."""

import ast
import inspect
import re
import typing

import pytest

import dpreg
from dpreg.estimators import plan, private, words
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import Law
from dpreg.pipeline.objective import SQUARED
from tests.build.test_structure import MODULES, ROOT

WORDS = set(typing.get_args(words.Word)) | set(typing.get_args(words.LabelWord))
BOX = Box([-1, -1], [1, 1], (0, 1), intercept=True)
# Where several of them stand together: the list itself, and tables that have one entry for each.
TOGETHER = {"words.PureWord", "words.law_for", "plan.TITLES"}
ROOMS = ("dpreg.estimators.", "dpreg.audit.", "dpreg.sweeps.", "lib.")
TEXTS = [*ROOT.glob("*.md"), *(ROOT / "book").rglob("*.md"), *(ROOT / "dpreg").rglob("*.py")]


def together(tree):
    """Names of the top statements in which one list, tuple, set, dict or Literal holds two of the words."""
    for statement in tree.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
                parts = node.keys if isinstance(node, ast.Dict) else node.elts
                held = [part.value for part in parts if isinstance(part, ast.Constant)]
                if len(WORDS.intersection(word for word in held if isinstance(word, str))) > 1:
                    yield getattr(statement, "name", None) or ast.unparse(
                        statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
                    )


def test_there_is_no_second_list():
    found = {
        f"{name.rpartition('.')[2]}.{place}"
        for name, tree in MODULES.items()
        if name.startswith(ROOMS)
        for place in together(tree)
    }
    assert found == TOGETHER, "take the words from words.Word, PureWord or LabelWord"


def test_a_list_is_seen():
    for text in (
        'A = ["wishart", "laplace"]',
        'A: set = {"objective", 1, "laplace"}',
        'def A():\n    {"wishart": 1, "gaussian": 2}',
    ):
        assert list(together(ast.parse(text))) == ["A"]
    assert not list(together(ast.parse('A = "wishart", "normal"')))


@pytest.mark.parametrize("word", typing.get_args(words.Word))
def test_every_word_makes_a_law(word):
    delta = 1e-6 if word == "gaussian" else 0.0
    assert isinstance(words.law_for(word, BOX, 1.0, 9, neighbours="replace", loss=SQUARED, delta=delta), Law)


@pytest.mark.parametrize("word", typing.get_args(words.LabelWord))
def test_every_word_fits_labels(word):
    model = dpreg.PrivateLogisticRegression(BOX, 1.0, mechanism=word, random_state=1).fit([[0, 1], [1, 0]], [0, 1])
    assert model.ledger_.epsilon == pytest.approx(1.0)


def test_tables_of_a_plan_have_every_pure_word_once():
    assert sorted(plan.PURE.values()) == sorted(typing.get_args(words.PureWord))
    assert set(plan.TITLES) <= set(plan.PURE.values())


@pytest.mark.parametrize(
    ("function", "known"),
    [
        (private.PrivateLinearRegression, words.Word),
        (private.PrivateLogisticRegression, words.LabelWord),
        (words.law_for, words.Word),
        (plan.expected_error, words.Word),
    ],
)
def test_a_docstring_lists_the_words(function, known):
    listed = re.findall(r"^ +mechanism : \{(.*)\} or function$", inspect.getdoc(function), re.MULTILINE)
    listed = listed or re.findall(r"^mechanism : \{(.*)\} or function$", inspect.getdoc(function), re.MULTILINE)
    assert [re.findall(r'"([^"]+)"', one) for one in listed] == [list(typing.get_args(known))]


def test_texts_name_no_other_word():
    """In code, messages and pages: what is given as mechanism="..." is one of the words."""
    given = {
        (str(file.relative_to(ROOT)), word)
        for file in TEXTS
        for word in re.findall(r"""\bmechanism=["']([^"'{]+)["']""", file.read_text(encoding="utf-8"))
    }
    assert len(given) > 5
    assert not {one for one in given if one[1] not in WORDS}
