"""What a chapter's outputs are kept by: whatever they may depend on, and nothing else."""

import pytest

from tools import chapters

MODULE = '''"""Says something."""

SCALE = 2.5  # a reason


def double(x):
    """Return twice x."""
    return 2 * x
'''


@pytest.fixture
def computed(tmp_path):
    def of(text, name="module.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return chapters.computes(path)

    return of


@pytest.mark.parametrize(
    ("old", "new"),
    [("Says something.", "Says more."), ("a reason", "another"), ("Return twice x.", "Double it."), ("\n\n\n", "\n")],
)
def test_words_and_layout_run_nothing_again(computed, old, new):
    assert old in MODULE
    assert computed(MODULE.replace(old, new)) == computed(MODULE)


@pytest.mark.parametrize(
    ("old", "new"),
    [("2.5", "2.501"), ("2 * x", "3 * x"), ("double(x)", "double(x, y=1)"), ("SCALE = 2.5", 'SCALE = "2.5"')],
)
def test_whatever_computes_does(computed, old, new):
    assert old in MODULE
    assert computed(MODULE.replace(old, new)) != computed(MODULE)


def test_other_files_count_as_they_are(computed):
    assert computed("a: 1  # b\n", "data.yml") != computed("a: 1  # c\n", "data.yml")
    assert computed("def (:\n") == b"def (:\n"  # it does not import anyway
