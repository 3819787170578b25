"""The law behind a word: it costs what is asked for, and knows the number of records where that is public."""

import pytest

from dpreg.checks import InputError
from dpreg.estimators.words import law_for
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import functional
from dpreg.pipeline.objective import SQUARED

BOX = Box([-1, -1], [1, 1], (0, 1), intercept=True)
PLAIN = {"neighbours": "replace", "loss": SQUARED}


@pytest.mark.parametrize("word", ["mean first", "wishart", "laplace"])
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_a_pure_word_costs_epsilon(word, neighbours):
    law = law_for(word, BOX, 0.7, 9, neighbours=neighbours, loss=SQUARED)
    assert law.certify(BOX, neighbours) == pytest.approx(0.7)


def test_the_mean_comes_first_only_where_the_number_is_public():
    assert len(law_for("mean first", BOX, 0.7, 9, **PLAIN).spends(BOX)) == 2
    other = law_for("mean first", BOX, 0.7, 9, neighbours="add_remove", loss=SQUARED)
    assert len(other.spends(BOX, "add_remove")) == 1


def test_gaussian_noise_has_a_delta_and_no_other_has():
    spends = law_for("gaussian", BOX, 0.7, 9, delta=1e-6, **PLAIN).spends(BOX)
    assert sum(spend.delta for spend in spends) == 1e-6
    with pytest.raises(InputError, match=r"only mechanism='gaussian' spends one: choose"):
        law_for("wishart", BOX, 0.7, 9, delta=1e-6, **PLAIN)
    with pytest.raises(InputError, match=r"give a delta such as"):
        law_for("gaussian", BOX, 0.7, 9, **PLAIN)


def test_a_function_is_held_to_epsilon():
    assert law_for(functional, BOX, 0.7, 9, **PLAIN).certify(BOX) == pytest.approx(0.7)
    with pytest.raises(InputError, match=r"the law costs 1\.4, and epsilon is 0\.7: scale"):
        law_for(lambda domain, epsilon, **more: functional(domain, 2 * epsilon, **more), BOX, 0.7, 9, **PLAIN)
