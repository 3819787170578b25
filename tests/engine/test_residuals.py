"""How noise on a quadratic is read back, and the law of a difference of chi-squares."""

import math

import numpy as np
import pytest
from scipy import stats

from dpreg import noise
from dpreg.audit.residuals import ChiSquareDifference, laplace_loss, numbers, rotated, scales_of
from dpreg.mechanisms.gaussian import for_rho
from dpreg.mechanisms.mean_first import mean_first
from dpreg.mechanisms.wishart import difference
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import Scales, unit_scales
from dpreg.pipeline.objective import TAYLOR, Quadratic

F = Quadratic([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0], 7.0)
BOX = Box([-1.0], [1.0], (-1.0, 1.0), intercept=True)


def test_numbers_are_those_that_go_out():
    assert numbers(F, unit_scales("triangle", 2)).tolist() == [1, 2, 4, 5, 6]
    assert numbers(F, unit_scales("ordered", 2)).tolist() == [1, 2, 3, 4, 5, 6]
    assert numbers(F, unit_scales("triangle", 2, constant=True)).tolist() == [1, 2, 4, 5, 6, 7]
    one, first = difference(BOX, 1.0), mean_first(BOX, 1.0, 20)
    for law in (one, first, for_rho(BOX, 1.0)):
        assert numbers(F, law).tolist() == [1, 2, 4, 5, 6, 7]
    assert numbers(F, difference(BOX, 1.0, loss=TAYLOR)).tolist() == [1, 2, 4, 5, 6]
    assert scales_of(Scales([[1, 2], [2, 4]], [5, 6], 7.0)).tolist() == [1, 2, 4, 5, 6, 7]


def test_a_number_without_noise_may_not_change():
    assert laplace_loss(np.array([2.0, 1e-12]), np.array([4.0, 0.0])) == 0.5
    assert laplace_loss(np.array([2.0, 1e-3]), np.array([4.0, 0.0])) == math.inf


@pytest.mark.parametrize("freedom", [2, 3, 4, 8])
def test_a_difference_of_chi_squares(freedom):
    """Against the numerical integral over one of the two; with two degrees it is Laplace noise of scale two."""
    law = ChiSquareDifference(freedom)
    shares = (np.arange(20_000) + 0.5) / 20_000
    other = stats.chi2.ppf(shares, freedom)
    for x in (-3.0, 0.0, 0.5, 6.0):
        assert float(law.cdf(x)) == pytest.approx(stats.chi2.cdf(other + x, freedom).mean(), abs=1e-4)
    if freedom == 2:
        assert law.cdf([-1.0, 3.0]) == pytest.approx(stats.laplace.cdf([-1.0, 3.0], scale=2), abs=1e-6)
    drawn = np.subtract(*np.random.default_rng(1).chisquare(freedom, (2, 200_000)))
    for measured, said in ((np.abs(drawn), law.absolute), (drawn**2, law.var())):
        assert abs(measured.mean() - said) < 5 * measured.std() / math.sqrt(len(drawn))
    assert law.mean() == 0


def test_a_rotation_shows_what_is_off_the_diagonal():
    """Fewer than one in a million sound samples fail; without its off-diagonal part a Wishart matrix does."""
    rng = np.random.default_rng(1)
    whole = noise.wishart(3, 4, (8000,), rng)
    diagonal = whole * np.eye(3)
    chances = [stats.kstest(rotated(part, rng).ravel(), stats.chi2(4).cdf).pvalue for part in (whole, diagonal)]
    assert chances[0] > 1e-6 > chances[1]
