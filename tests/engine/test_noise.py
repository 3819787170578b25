"""The law of the noise, position by position, with tests whose error rates are known.

`scale_is` is exact: if z has the Laplace law of scale b, then sum |z| / b has the Gamma law of n draws. It wrongly
rejects with probability ALPHA, and N draws suffice to wrongly accept a scale 5 % off with probability at most BETA.
Seeds are fixed, so each test always gives the same answer; the rates say how likely that answer was to be wrong.
"""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from dpreg import noise
from dpreg.checks import InputError
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import Scales, functional, unit_scales
from dpreg.pipeline.objective import Quadratic
from dpreg.pipeline.release import perturb

ALPHA = BETA = 1e-6
OFF = 0.05
CONVENTIONS = ("monomial", "ordered", "copied", "triangle")


def band(n):
    return stats.gamma.ppf(ALPHA / 2, n), stats.gamma.isf(ALPHA / 2, n)


def misses(n, ratio):
    """Probability that `scale_is` accepts when the true scale is `ratio` times the declared one."""
    low, high = band(n)
    return stats.gamma.cdf(high / ratio, n) - stats.gamma.cdf(low / ratio, n)


@cache
def draws_needed():
    n = 1000
    while max(misses(n, 1 - OFF), misses(n, 1 + OFF)) > BETA:
        n += 500
    return n


N = draws_needed()


def scale_is(draws, b):
    low, high = band(len(draws))
    return low <= np.abs(draws).sum() / b <= high


def shape_is_laplace(draws, b):
    """Kolmogorov and Smirnov's test, which sees the whole law, and a sign test, at the level ALPHA each."""
    whole = stats.kstest(draws, stats.laplace(scale=b).cdf).pvalue > ALPHA
    sign = stats.binomtest(int((draws > 0).sum()), len(draws)).pvalue > ALPHA
    return whole and sign


def assert_law(draws, b, name=""):
    assert scale_is(draws, b), f"{name}: not the scale {b}"
    assert shape_is_laplace(draws, b), f"{name}: not the Laplace law of scale {b}"
    assert not scale_is(draws, b * (1 - OFF)), f"{name}: a scale 5 % smaller passes too"
    assert not scale_is(draws, b * (1 + OFF)), f"{name}: a scale 5 % larger passes too"


def test_the_stated_rates_are_met():
    assert max(misses(N, 1 - OFF), misses(N, 1 + OFF)) <= BETA
    assert N < 60_000


@pytest.mark.parametrize("b", [1e-3, 1.0, 250.0])
def test_laplace_has_the_declared_law(b):
    assert_law(noise.laplace(b, (N,), random_state=11), b)


@pytest.mark.parametrize("ratio", [1 - OFF, 1 + OFF])
def test_the_test_rejects_a_wrong_scale(ratio):
    assert not scale_is(noise.laplace(ratio, (N,), random_state=12), 1.0)


def test_the_test_rejects_a_wrong_shape():
    normal = np.random.default_rng(0).normal(scale=math.sqrt(math.pi / 2), size=N)  # the same mean of |z|
    assert scale_is(normal, 1.0)
    assert not shape_is_laplace(normal, 1.0)
    assert not shape_is_laplace(np.abs(noise.laplace(1.0, (N,), 1)), 1.0)


def distinct(convention, p, seed=4):
    """Scales that differ from number to number, so that a mix-up shows."""
    rng = np.random.default_rng(seed)
    unit = unit_scales(convention, p, constant=True)
    M, v = rng.permutation(np.linspace(0.5, 4, p * p)).reshape(p, p), rng.permutation(np.linspace(5, 9, p))
    return Scales(unit.M * M, unit.v * v, 12.0, ordered=unit.ordered)


def positions(scales, noisy):
    """Every independent number of a release: its name, declared scale, and draws."""
    p = noisy.p
    for j, k in itertools.product(range(p), repeat=2):
        if scales.ordered or j <= k:
            yield f"M[{j},{k}]", float(scales.M[j, k]), noisy.M[:, j, k]
    for j in range(p):
        yield f"v[{j}]", float(scales.v[j]), noisy.v[:, j]
    yield "c", scales.c, noisy.c


def drawn(scales, n=N, seed=21):
    p = scales.v.shape[-1]
    return perturb(Quadratic(np.zeros((p, p)), np.zeros(p), np.array(0.0)), scales, seed, draws=(n,))


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("p", [1, 3])
def test_every_coefficient_has_the_declared_law(convention, p):
    scales = distinct(convention, p)
    for name, b, draws in positions(scales, drawn(scales)):
        assert_law(draws, b, f"{convention} {name}")


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("domain", [Box([-1, -1], [1, 1], (-1, 1), intercept=True), Ball([0, 0], 1, (-1, 1))], ids=str)
def test_the_functional_mechanism_draws_at_its_own_scales(convention, domain):
    scales = functional(domain, 0.8, convention=convention, constant=True)
    for name, b, draws in positions(scales, drawn(scales, seed=22)):
        if b == 0:  # the public number of records
            assert (draws == 0).all()
        else:
            assert_law(draws, b, f"{convention} {name}")


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_draws_are_independent_across_positions_and_across_releases(convention):
    """Correlations of the draws, and of their absolute values, within five standard errors."""
    scales = distinct(convention, 3)
    table = np.array([draws / b for _, b, draws in positions(scales, drawn(scales, seed=23))])
    assert len(table) == (9 if convention == "ordered" else 6) + 3 + 1
    for values in (table, np.abs(table)):
        across = np.corrcoef(values) - np.eye(len(table))
        assert np.abs(across).max() < 5 / math.sqrt(N)
        centred = values - values.mean(axis=1, keepdims=True)
        next_one = (centred[:, 1:] * centred[:, :-1]).mean(axis=1) / centred.var(axis=1)
        assert np.abs(next_one).max() < 5 / math.sqrt(N)
    assert len(np.unique(table)) == table.size


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_one_draw_serves_both_twins_unless_ordered(convention):
    noisy = drawn(distinct(convention, 4), n=50)
    twins = np.swapaxes(noisy.M, -1, -2) == noisy.M
    if convention == "ordered":
        assert not twins[:, ~np.eye(4, dtype=bool)].any()
    else:
        assert twins.all()


def test_twins_that_differ_by_rounding_are_released_as_one_number():
    """M_jk + draw and M_kj + the same draw would publish M_jk - M_kj without noise."""
    M = np.array([[1.0, 0.3], [0.3 + 1e-12, 1.0]])
    noisy = perturb(Quadratic(M, np.zeros(2), np.array(0.0)), unit_scales("copied", 2), 0)
    assert noisy.M[0, 1] == noisy.M[1, 0]


def test_the_lower_triangle_of_the_scales_counts_only_if_ordered():
    upper = np.array([[1.0, 2.0], [2.0, 3.0]])
    wild = np.array([[1.0, 2.0], [1e9, 3.0]])
    one, other = (drawn(Scales(M, np.ones(2)), n=20) for M in (upper, wild))
    np.testing.assert_array_equal(one.M, other.M)
    assert np.abs(drawn(Scales(wild, np.ones(2), ordered=True), n=20).M[:, 1, 0]).min() > 1e6


def test_noise_is_added_to_the_objective_itself():
    f = Quadratic(np.array([[1.0, 2.0], [2.0, 5.0]]), np.array([7.0, -8.0]), np.array(9.0))
    zero = Quadratic(np.zeros((2, 2)), np.zeros(2), np.array(0.0))
    scales = distinct("copied", 2)
    noisy, alone = perturb(f, scales, 5, draws=(7,)), perturb(zero, scales, 5, draws=(7,))
    for name in ("M", "v", "c"):
        np.testing.assert_array_equal(getattr(noisy, name), getattr(f, name) + getattr(alone, name))
    assert noisy.domain is None


def test_scale_zero_adds_exactly_nothing_and_a_withheld_constant_is_zero():
    f = Quadratic(np.array([[1.0, 2.0], [2.0, 5.0]]), np.array([7.0, -8.0]), np.array(9.0))
    noisy = perturb(f, Scales(np.zeros((2, 2)), np.zeros(2), 0.0), 1, draws=(5,))
    np.testing.assert_array_equal(noisy.M, np.broadcast_to(f.M, (5, 2, 2)))
    np.testing.assert_array_equal(noisy.v, np.broadcast_to(f.v, (5, 2)))
    np.testing.assert_array_equal(noisy.c, 9.0)
    assert (perturb(f, unit_scales("copied", 2), 1, draws=(5,)).c == 0).all()
    assert (noise.laplace([0.0, 1.0, 0.0], (100, 3), 1)[:, [0, 2]] == 0).all()


def test_stacks_draw_anew_for_every_entry():
    f = Quadratic(np.zeros((4, 1, 2, 2)), np.zeros((4, 1, 2)), np.zeros((4, 1)))
    scales = unit_scales("copied", 2).times([1.0, 10.0, 100.0])
    noisy = perturb(f, scales, 3, draws=(500,))
    assert noisy.batch == (500, 4, 3)
    values = np.concatenate([noisy.M[..., 0, 0].ravel(), noisy.M[..., 0, 1].ravel(), noisy.v.ravel()])
    assert len(np.unique(values)) == values.size
    spread = np.abs(noisy.M[..., 0, 1]).mean(axis=0)  # of 500 draws, each with a standard error of b / sqrt(500)
    for k, b in enumerate((1.0, 10.0, 100.0)):
        np.testing.assert_allclose(spread[:, k], b, atol=5 * b / math.sqrt(500))


def test_one_draw_is_never_shared_by_several_numbers():
    for scale, shape in ((np.ones(3), ()), (np.ones((2, 3)), (3,)), (np.ones(3), (4, 1)), (np.ones(3), (4,))):
        with pytest.raises(InputError, match="one draw per scale"):
            noise.laplace(scale, shape, 1)
    assert len(np.unique(noise.laplace([1.0, 1.0, 1.0], (4, 3), 1))) == 12


def test_symmetric_draws_have_the_scales_of_the_upper_triangle():
    scale = np.array([[0.5, 2.0], [9.0, 0.0]])
    drawn = noise.symmetric(scale, (N, 2, 2), 5)
    assert (drawn[:, 1, 0] == drawn[:, 0, 1]).all()
    assert (drawn[:, 1, 1] == 0).all()
    assert_law(drawn[:, 0, 0], 0.5)
    assert_law(drawn[:, 0, 1], 2.0)
    for shape in ((3,), (2, 3)):
        with pytest.raises(InputError, match="give two equal numbers"):
            noise.symmetric(1.0, shape, 1)


@pytest.mark.parametrize("state", [0, 7, np.int64(7), np.random.SeedSequence(7)])
def test_a_seed_gives_the_same_draws_bit_for_bit(state):
    first, second = (noise.laplace(2.0, (9,), state) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(noise.spawn(state, 3).random(5), noise.spawn(state, 3).random(5))


def test_seed_sequence_and_its_number_agree():
    np.testing.assert_array_equal(noise.generator(7).random(4), noise.generator(np.random.SeedSequence(7)).random(4))
    np.testing.assert_array_equal(noise.generator(7).random(4), np.random.default_rng(7).random(4))


def test_a_generator_moves_on_and_no_seed_means_fresh_entropy():
    rng = np.random.default_rng(1)
    assert noise.generator(rng) is rng
    assert noise.laplace(1.0, (), rng) != noise.laplace(1.0, (), rng)
    assert noise.laplace(1.0, ()) != noise.laplace(1.0, ())
    assert noise.spawn(None, 1).random() != noise.spawn(None, 1).random()


def test_tasks_have_their_own_numbers_whatever_their_order():
    keys = [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (0, 1, 2), (2**31,)]
    first = {key: noise.spawn(5, *key).random() for key in keys}
    for key in reversed(keys):
        assert noise.spawn(5, *key).random() == first[key]
    assert len(set(first.values())) == len(keys)
    child = np.random.SeedSequence(5).spawn(2)[1]
    assert noise.spawn(child, 0).random() == noise.spawn(5, 1, 0).random()


def test_numpys_global_state_is_left_alone():
    name, keys, place, *_ = np.random.get_state()  # noqa: NPY002 - it is what must not move
    noise.laplace(1.0, (10,))
    drawn(distinct("copied", 2), n=10)
    after = np.random.get_state()  # noqa: NPY002
    assert (name, place) == (after[0], after[2])
    np.testing.assert_array_equal(keys, after[1])
