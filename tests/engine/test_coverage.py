"""The experiment that counts how often intervals hold: what it draws, and ways whose share is known."""

import numpy as np
import pytest

from dpreg.checks import InputError
from dpreg.mechanisms.wishart import difference
from dpreg.pipeline.laws import functional
from dpreg.sweeps.coverage import WAYS, covered, cube, made, resampled

THETA = np.array([0.1, 0.4])


def test_a_cube_scales_nothing():
    Z, t = cube(2).scale([[0.25, -1.0]], [0.5])
    assert (Z.tolist(), t.tolist()) == ([[1.0, 0.25, -1.0]], [0.5])


def test_made_records_follow_their_model():
    """Five standard errors of 20,000 records."""
    records = made(THETA, 20_000, 0.2)(np.random.default_rng(0))
    assert (records[:, 1] == 1).all()
    assert np.abs(records[:, 2]).max() <= 1
    left = records[:, 0] - records[:, 1:] @ THETA
    assert abs(left.mean()) < 5 * 0.2 / np.sqrt(20_000)
    assert left.std() == pytest.approx(0.2, abs=5 * 0.2 / np.sqrt(40_000))


def test_resampled_records_are_those_of_the_table():
    table = np.arange(12.0).reshape(4, 3)
    drawn = resampled(table, 100)(np.random.default_rng(0))
    assert drawn.shape == (100, 3)
    assert {tuple(row) for row in drawn} == {tuple(row) for row in table}


@pytest.mark.thorough
def test_without_noise_all_ways_are_classical():
    """Four standard errors of 300 repeats; the residuals have equal variances, so the sandwich holds, too."""
    found = covered(made(THETA, 500, 0.2), THETA, difference(cube(1), 1e8), tuple(WAYS), repeats=300, random_state=0)
    assert found["way"].unique().tolist() == list(WAYS)
    assert found.groupby("way").size().eq(2).all()
    assert np.abs(found["share"] - 0.9).max() < 4 * np.sqrt(0.09 / 300)
    assert (found["strength"] > 1e5).all()


@pytest.mark.thorough
def test_with_noise_the_textbook_holds_too_seldom():
    found = covered(made(THETA, 500, 0.1), THETA, difference(cube(1), 1.0), ("textbook", "ours"), random_state=0)
    shares = found.groupby("way")["share"].mean()
    assert shares["textbook"] < 0.6 < 0.8 < shares["ours"]


@pytest.mark.thorough
def test_unequal_variances_need_the_sandwich():
    """The deviation grows with |x|: theory says .9 for the sandwich, and less for the slope of the textbook."""

    def draw(rng):
        x = rng.uniform(-1, 1, 1000)
        return np.c_[0.4 * x + 0.3 * np.abs(x) ** 3 * rng.standard_normal(1000), np.ones(1000), x]

    ways = ("ours", "textbook", "sandwich")
    found = covered(draw, [0.0, 0.4], difference(cube(1), 1e8), ways, repeats=300, random_state=0)
    slope = found[found["coefficient"] == 1].set_index("way")["share"]
    assert abs(slope["sandwich"] - 0.9) < 4 * np.sqrt(0.09 / 300)
    assert slope["textbook"] < 0.8
    assert slope["ours"] < 0.8


@pytest.mark.thorough
def test_where_noise_is_large_the_bootstrap_holds_less_often():
    found = covered(made(THETA, 500, 0.1), THETA, difference(cube(1), 0.1), tuple(WAYS), repeats=300, random_state=0)
    shares = found.groupby("way")["share"].mean()
    assert shares["minus error"] < shares["ours"]
    assert shares["quantiles"] < shares["ours"]


@pytest.mark.parametrize("off", [-9.0, 9.0])
def test_a_truth_on_either_side_is_not_held(off):
    found = covered(made(THETA, 50, 0.1), THETA + off, difference(cube(1), 10.0), repeats=20, random_state=0)
    assert (found["share"] == 0).all()


def test_a_seed_repeats():
    law = difference(cube(1), 1.0)
    one, two = (covered(made(THETA, 50, 0.1), THETA, law, repeats=5, random_state=1) for _ in range(2))
    assert one.equals(two)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda law: covered(made(THETA, 50, 0.1), [0.1], law), "match them"),
        (lambda law: covered(made(THETA, 50, 0.1), THETA, law, ("best",)), "ways is 'best': choose"),
        (lambda law: covered(made(THETA, 50, 0.1), THETA, law, ()), "ways is empty"),
        (lambda law: covered(made(THETA, 50, 0.1), THETA, functional(cube(1), 1.0)), "withholds"),
        (lambda law: covered(lambda rng: np.ones((5, 2)), THETA, law), "draw returned .* give 3 columns"),
        (lambda law: resampled(np.zeros((0, 3)), 2), "records has shape"),
    ],
)
def test_what_cannot_be_counted_is_refused(call, said):
    with pytest.raises(InputError, match=said):
        call(difference(cube(1), 1.0))
