"""The Wishart difference: its price, its law, and the rule for its weights."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpreg import noise
from dpreg.checks import InputError
from dpreg.mechanisms.wishart import (
    WishartDifference,
    balanced,
    difference,
    largest_change,
    nuclear_ratio,
    reference_risk,
)
from dpreg.pipeline import repair
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import certify
from dpreg.pipeline.objective import SQUARED, TAYLOR, Quadratic, linear, logistic
from dpreg.pipeline.release import perturb, price, release
from dpreg.pipeline.solve import minimise

KINDS = ["box", "ball", "corner"]


def domain(kind, d, intercept):
    if kind == "ball":
        return Ball(np.zeros(d), 1.0, (-1.0, 1.0), intercept=intercept)
    low = np.zeros(d) if kind == "corner" else -np.ones(d)
    return Box(low, np.ones(d), (-1.0, 1.0), intercept=intercept, corner=kind == "corner")


def weights(where, response=0.6, constant=0.8, predictors=0.9):
    return np.r_[response, [constant] * where.intercept, np.full(where.d, predictors)]


def records(where, rng, size, labels=False):
    """Records (t, x) of the domain, with many at its corners and many with equal predictors."""
    t = rng.choice([-1.0, 1.0], size) if labels else rng.choice([-1.0, 0.0, 1.0, 0.5], size)
    if not labels:
        t = np.where(rng.random(size) < 0.3, rng.uniform(-1, 1, size), t)
    Z = rng.normal(size=(size, where.d))
    if isinstance(where, Box):
        low = 0.0 if where.corner else -1.0
        inside = rng.uniform(low, 1, Z.shape)
        Z = np.where(rng.random((size, 1)) < 0.6, np.where(Z > 0, 1.0, low), inside) * where.reach
    else:
        Z *= np.where(rng.random((size, 1)) < 0.6, 1.0, rng.random((size, 1))) / np.linalg.norm(Z, axis=1)[:, None]
    return np.column_stack([t, np.ones((size, int(where.intercept))), Z])


def nuclear(w, z, other):
    """By the closed form that test_nuclear_norm_of_two_rank_ones compares with the eigenvalues."""
    return np.linalg.norm(w * (z + other), axis=1) * np.linalg.norm(w * (z - other), axis=1)


def climb(w, where, z, other, steps=3000, seed=0, labels=False):
    """The nuclear norms that small random moves reach from each pair: they keep what is better."""
    rng = np.random.default_rng(seed)
    best = nuclear(w, z, other)
    first = 1 + where.intercept
    for step in range(steps):
        size = 0.5 * 1e-5 ** (step / steps)
        moved = []
        for now in (z, other):
            new = now + size * rng.normal(size=now.shape) * (rng.random(now.shape) < 0.4)
            new[:, 0] = now[:, 0] if labels else np.clip(new[:, 0], -1, 1)
            new[:, 1:first] = 1.0
            part = new[:, first:].copy()
            where.clip(part)
            new[:, first:] = part
            moved.append(new)
        value = nuclear(w, *moved)
        better = value > best
        best = np.where(better, value, best)
        z, other = (np.where(better[:, None], new, old) for new, old in zip(moved, (z, other), strict=True))
    return best


# --- the price


@given(st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_nuclear_norm_of_two_rank_ones(seed):
    a, b = np.random.default_rng(seed).normal(size=(2, 4))
    direct = np.abs(np.linalg.eigvalsh(np.outer(a, a) - np.outer(b, b))).sum()
    assert direct == pytest.approx(np.linalg.norm(a + b) * np.linalg.norm(a - b))
    assert direct == pytest.approx(math.sqrt((a @ a + b @ b) ** 2 - 4 * (a @ b) ** 2))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize("labels", [False, True])
def test_no_pair_beats_the_bound_and_some_pair_reaches_it(kind, intercept, d, labels):
    where, rng = domain(kind, d, intercept), np.random.default_rng(d)
    tried = [weights(where, *two) for two in ((0.6, 0.8), (0.2, 0.1), (3.0, 0.5), (0.4, 4.0))]
    starts = []
    for w in tried:
        z, other = records(where, rng, 20_000, labels), records(where, rng, 20_000, labels)
        top = np.r_[np.argsort(nuclear(w, z, other))[-12:], :20]
        starts.append((np.tile(w, (len(top), 1)), z[top], other[top]))
        alone = (np.abs(z * w) ** 2).sum(axis=1).max()
        assert alone <= largest_change(w, where, "add_remove") * (1 + 1e-12)
    rows, z, other = map(np.concatenate, zip(*starts, strict=True))
    reached = climb(rows, where, z, other, labels=labels, steps=400).reshape(len(tried), -1).max(axis=1)
    bounds = np.array([largest_change(w, where, "replace", TAYLOR if labels else SQUARED) for w in tried])
    assert (reached <= bounds * (1 + 1e-9)).all()
    assert (reached >= bounds * (1 - 2e-3)).all()


@pytest.mark.parametrize("d", [2, 3, 6])
def test_corners_of_the_box_by_counting(d):
    """Between corners, the norm is twice the geometric mean of the weights on two sides of a split."""
    where = domain("box", d, True)
    w = weights(where)
    best = 0.0
    for differ in itertools.product([0, 1], repeat=d + 1):
        H = w[0] ** 2 * differ[0] + sum(w[2:] ** 2 * np.array(differ[1:]))
        best = max(best, 4 * math.sqrt(H * ((w**2).sum() - H)))
    assert largest_change(w, where, loss=TAYLOR) >= best * (1 - 1e-12)
    # one sliding coordinate can only add; here it does not
    assert largest_change(w, where) == pytest.approx(best)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", [False, True])
def test_the_bound_by_a_grid(kind, labels):
    """All |u| and |h| of a response, a constant and two predictors on a grid, at weights far apart."""
    where, rng = domain(kind, 2, True), np.random.default_rng(7)
    t = np.array([0.0, 1.0]) if labels else np.linspace(0, 1, 201)
    if kind == "ball":  # only the share of the predictors counts
        share = np.linspace(0, 1, 2001)[:, None]
        u2, h2 = share, 1 - share
    else:
        r = 1 / math.sqrt(2) if kind == "corner" else 1.0
        u = np.linspace(0, r, 161)
        h = np.minimum(u, r - u) if kind == "corner" else r - u
        u2, h2 = (np.add.outer(one**2, one**2).reshape(-1, 1) for one in (u, h))
    for w in 10 ** rng.uniform(-1.5, 1.5, (12, 3)):
        U, H = w[0] ** 2 * t**2 + w[1] ** 2 + w[2] ** 2 * u2, w[0] ** 2 * (1 - t) ** 2 + w[2] ** 2 * h2
        found = 4 * math.sqrt((U * H).max())
        bound = largest_change(np.r_[w, w[2]], where, "replace", TAYLOR if labels else SQUARED)
        assert found * (1 - 1e-12) <= bound <= found * (1 + 1e-3)


@pytest.mark.parametrize("seed", range(20))
def test_no_slide_of_one_coordinate_is_missed(seed):
    """All corners of the box but for one coordinate, which takes every value of a grid; a heavy response does slide."""
    rng = np.random.default_rng(seed)
    d, intercept = int(rng.integers(1, 7)), bool(rng.integers(2))
    weights = np.r_[np.exp(rng.normal(size=1 + intercept) + [2.0, -2.0][: 1 + intercept]), np.ones(d)]
    u = np.linspace(0, 1, 1001)
    free = np.r_[weights[0] ** 2, np.ones(d)]  # response first
    best = 0.0
    for corner in itertools.product([0.0, 1.0], repeat=d):  # the others, in the order of their weights
        for slides in (0, 1):
            fixed = np.delete(free, slides)
            U = fixed @ corner + free[slides] * u**2 + intercept * weights[1] ** 2
            H = fixed @ np.subtract(1.0, corner) + free[slides] * (1 - u) ** 2
            best = max(best, (U * H).max())
    domain = Box([-1] * d, [1] * d, (-1, 1), intercept=intercept)
    assert largest_change(weights, domain) == pytest.approx(4 * math.sqrt(best), rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_only_ratios_of_the_weights_count(kind):
    """And weights whose fourth powers are no floats are refused: their price would be wrong."""
    where = domain(kind, 2, True)
    for size in (1e-40, 1e40):
        assert largest_change(size * weights(where), where) / size**2 == pytest.approx(
            largest_change(weights(where), where), rel=1e-12
        )
    for size in (1e-81, 1e90):
        with pytest.raises(InputError, match="extreme"):
            largest_change(size * weights(where), where)


def test_a_single_number_moves_by_one():
    """Of one predictor, without a response that counts, x^2 changes by at most one."""
    where = domain("box", 1, False)
    assert largest_change([1e-6, 1.0], where) == pytest.approx(1.0, abs=1e-5)


def test_add_remove_is_the_largest_record():
    assert largest_change([1.0, 2.0, 0.5, 0.5], domain("box", 2, True), "add_remove") == 5.5
    assert largest_change([1.0, 2.0, 0.5, 0.5], domain("ball", 2, True), "add_remove") == 5.25
    assert largest_change([1.0, 2.0, 0.5, 0.5], domain("corner", 2, True), "add_remove") == 5.25


def density(N, B):
    """Of W1 - W2 up to a constant, by Monte Carlo over B with density exp(-tr B) on the cone."""
    inside = np.linalg.eigvalsh(N + B)[:, 0] >= 0
    return math.exp(-np.trace(N) / 2) * inside.mean()


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_ratio_of_the_densities(seed):
    """Within exp(nuclear norm / 2) of each other: the theorem, at matrices of two rows."""
    rng = np.random.default_rng(seed)
    B = noise.wishart(2, 3, (200_000,), rng) / 2
    N, E = (lambda A: A + A.T)(rng.normal(size=(2, 2))), (lambda A: A + A.T)(rng.normal(size=(2, 2)))
    ratio = abs(math.log(density(N + E, B) / density(N, B)))
    share = min(density(M, B) * math.exp(np.trace(M) / 2) for M in (N, N + E))
    assert ratio <= np.abs(np.linalg.eigvalsh(E)).sum() / 2 + 4 * math.sqrt(2 / (share * 200_000))


def test_one_row_is_laplace_noise():
    """chi-square with two degrees of freedom is exponential, so m = 1 gives Laplace noise of scale 2."""
    change = noise.wishart(1, 2, (200_000,), 1) - noise.wishart(1, 2, (200_000,), 2)
    assert np.abs(change).mean() == pytest.approx(2.0, rel=4 / math.sqrt(200_000))


@given(
    st.sampled_from(KINDS),
    st.integers(1, 6),
    st.booleans(),
    st.sampled_from(["replace", "add_remove"]),
    st.sampled_from([SQUARED, TAYLOR]),
    st.floats(1e-3, 1e3),
)
@settings(max_examples=60, deadline=None)
def test_costs_what_was_asked(kind, d, intercept, neighbours, loss, epsilon):
    where = domain(kind, d, intercept)
    law = difference(where, epsilon, weights=weights(where), neighbours=neighbours, loss=loss)
    assert certify(law, where, neighbours, loss) == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_ledger_total_is_the_budget(neighbours):
    where, rng = domain("box", 3, True), np.random.default_rng(0)
    f = linear(rng.uniform(-1, 1, (50, 3)), rng.uniform(-1, 1, 50), where)
    budget = Budget(0.7)
    out = release(f, difference(where, 0.7, neighbours=neighbours), 1, neighbours=neighbours, budget=budget)
    assert abs(out.ledger.epsilon - 0.7) < 1e-12
    assert abs(budget.remaining) < 1e-12
    spend = out.ledger.spends[0]
    assert (spend.mechanism, spend.norm) == ("Wishart difference", "weighted nuclear")
    assert spend.sensitivity / spend.scale == pytest.approx(spend.epsilon)


def test_public_count_is_exact_and_priced():
    where, rng = domain("box", 2, True), np.random.default_rng(0)
    f = linear(rng.uniform(-1, 1, (40, 2)), rng.uniform(-1, 1, 40), where)
    law = difference(where, 0.1)
    assert perturb(f, law, 3).M[0, 0] == 40
    assert (np.asarray(perturb(f, law, 3).M != f.M).sum()) == 8
    assert certify(law, where, "add_remove") == math.inf
    with pytest.raises(InputError, match="scale zero"):
        price(f, law, "add_remove")
    hidden = difference(where, 0.1, neighbours="add_remove")
    assert perturb(f, hidden, 3).M[0, 0] != 40
    without = domain("box", 3, False)
    assert certify(WishartDifference(np.ones(4), 1.0, public_count=True), without) == math.inf


def test_withholding_the_square_of_the_response_buys_nothing():
    """Whatever is added to that entry, the nuclear norm at the worst pair stays."""
    w = np.array([0.5, 0.5, 0.7, 0.7, 0.7, 0.7])
    a, b = w * np.array([1, 1, 1, 1, 1, 1]), w * np.array([-1, 1, 1, 1, -1, -1])
    E = np.outer(a, a) - np.outer(b, b)
    full = np.abs(np.linalg.eigvalsh(E)).sum()
    for entry in np.linspace(-3, 3, 61):
        changed = E.copy()
        changed[0, 0] += entry
        assert np.abs(np.linalg.eigvalsh(changed)).sum() >= full * (1 - 1e-12)


# --- the law


DRAWS = 400_000


@pytest.mark.thorough
@pytest.mark.parametrize("loss", [SQUARED, TAYLOR])
def test_noise_law(loss):
    """Variances of every kind of entry: accepted at the declared spread, rejected five per cent off.

    The fourth moment is at most 9 times the squared variance here, so the standard error of a variance is at most
    sqrt(8 / draws) of it; five of them are 2.3 per cent, and five per cent of scale are ten of variance.
    """
    law = WishartDifference([0.5, 2.0, 1.0, 1.0], 3.0, loss=loss)
    zero = Quadratic(np.zeros((3, 3)), np.zeros(3), np.array(0.0))
    noisy = perturb(zero, law, 5, draws=(DRAWS,))
    w, m = law.weights, 4
    expected = 9 * 2 * (m + 1) / np.outer(w, w) ** 2 * (1 + np.eye(m))
    found = {
        "M": noisy.M.var(axis=0) / (loss.square**2 * expected[1:, 1:]),
        "v": noisy.v.var(axis=0) / (loss.cross**2 * expected[0, 1:]),
        "c": noisy.c.var() / (loss.constant**2 * expected[0, 0]),
    }
    if loss.labels:  # their squares are no secret, and withheld
        assert found.pop("c") == 0
    for ratio in found.values():
        assert (np.abs(ratio - 1) < 5 * math.sqrt(8 / DRAWS)).all()
        for off in (0.95, 1.05):
            assert (np.abs(ratio / off**2 - 1) > 5 * math.sqrt(8 / DRAWS)).all()
    assert (np.swapaxes(noisy.M, 1, 2) == noisy.M).all()
    assert law.deviation == pytest.approx(math.sqrt(loss.square**2 * np.diag(expected)[1:].max()))
    lifted = noisy.M * np.outer(w[1:], w[1:])
    squares = (lifted**2).sum(axis=(1, 2)).mean() / 3
    assert law.level == pytest.approx(math.sqrt(squares), rel=0.01)


def test_stacks_broadcast_and_seeds_repeat():
    law = WishartDifference(np.ones(3), 1.0).times([1.0, 100.0])
    f = Quadratic(np.zeros((4, 1, 2, 2)), np.zeros((4, 1, 2)), np.zeros((4, 1)))
    one = perturb(f, law, 3, draws=(7,))
    assert one.batch == (7, 4, 2)
    assert (one.M == perturb(f, law, 3, draws=(7,)).M).all()
    assert one.M[..., 1, :, :].std() > 50 * one.M[..., 0, :, :].std()
    with pytest.raises(InputError, match="stacked"):
        certify(law, domain("box", 2, False))


@pytest.mark.parametrize("make", [linear, logistic])
def test_no_noise_in_the_limit_and_clipped_twins(make):
    where, rng = domain("box", 3, True), np.random.default_rng(2)
    X, y = rng.uniform(-1.5, 1.5, (200, 3)), rng.choice([-1.0, 1.0], 200)
    f, g = make(X, y, where), make(np.clip(X, -1, 1), y, where)
    law = difference(where, 1e12, loss=f.loss)
    theta = minimise(repair.lift(release(f, law, 0).objective, law))
    np.testing.assert_allclose(theta, minimise(f), atol=1e-7)
    private = difference(where, 0.5, loss=f.loss)
    assert (release(f, private, 4).objective.M == release(g, private, 4).objective.M).all()
    parts = make(X[:80], y[:80], where) + make(X[80:], y[80:], where)
    np.testing.assert_allclose(release(parts, private, 4).objective.M, release(f, private, 4).objective.M)
    order = [0, 3, 1, 2]
    moved = minimise(release(make(X[:, [2, 0, 1]], y, where), law, 0).objective)
    np.testing.assert_allclose(moved, minimise(f)[order], atol=1e-7)
    flipped = minimise(release(make(X * [1, -1, 1], y, where), law, 0).objective)
    np.testing.assert_allclose(flipped, minimise(f) * [1, 1, -1, 1], atol=1e-7)


# --- the weights


@pytest.mark.parametrize("kind", ["box", "ball"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("d", [1, 2, 5, pytest.param(13, marks=pytest.mark.slow)])
def test_no_other_weights_have_a_smaller_risk(kind, intercept, d):
    where = domain(kind, d, intercept)
    chosen = balanced(where)
    best = reference_risk(chosen, where)
    far, near = np.geomspace(0.05, 20, 11), np.array([0.8, 0.95, 1.05, 1.25])
    for response in [*far, *(near * chosen[0])]:
        for constant in [*far, *(near * chosen[1])] if intercept else [1.0]:
            w = chosen.copy()
            w[0] = response
            w[1 : 1 + intercept] = constant
            assert reference_risk(w, where) >= best * (1 - 1e-4)
    assert reference_risk(7 * chosen, where) == pytest.approx(best)


def test_weights_know_the_shape_of_the_domain_only():
    one = Box([0.0, 0.0], [1.0, 5.0], (0.0, 10.0), intercept=True)
    assert (balanced(one) == balanced(domain("box", 2, True))).all()
    assert not balanced(one).flags.writeable


@pytest.mark.thorough
def test_reference_risk_is_the_mean_excess_error():
    """Simulated on the reference moments of many records, at the worst of the coefficients."""
    where, n, draws = domain("box", 3, True), 1e7, 20_000
    w = np.array([0.5, 0.3, 0.4, 0.4, 0.4])
    M = n * np.diag([1.0, 1 / 3, 1 / 3, 1 / 3])
    law, worst = difference(where, 1.0, weights=w), []
    assert law.public_count
    law = WishartDifference(w, law.spread)  # the formula does not use that n is public
    for theta in np.eye(4):
        noisy = perturb(Quadratic(M, -2 * M @ theta, np.array(0.0)), law, 3, draws=(draws,))
        step = minimise(noisy) - theta
        excess = np.einsum("ni,ij,nj->n", step, M, step)
        worst.append((excess.mean(), excess.std() / math.sqrt(draws)))
    mean, error = max(worst)
    assert abs(mean * n - reference_risk(w, where)) < 4 * error * n + 1e-3 * mean * n


# --- the K-norm mechanism of the nuclear norm


def integrals_of_three_eigenvalues():
    """Constant and second moment of their law, term by term: without its modulus, as x < y < z."""
    orders = [(p, sign(p)) for p in itertools.permutations(range(3))]
    return [sum(s * power_in_order(p, extra) for p, s in orders) for extra in (0, 2)]


def sign(p):
    return np.linalg.det(np.eye(len(p))[list(p)])


def power_in_order(p, extra):
    """The integral of x^p0 y^p1 z^p2 (x^2 + y^2 + z^2 if extra) e^-(|x| + |y| + |z|) over x < y < z."""
    added = [np.zeros(3, int)] if not extra else 2 * np.eye(3, dtype=int)
    return sum(ordered(tuple(np.array(p) + more)) for more in added)


def ordered(powers):
    """By the number k of negative variables: those, from zero down, and the others, from zero up, are sorted."""
    total = 0.0
    for k in range(4):
        below, above = powers[:k][::-1], powers[k:]
        total += (-1) ** sum(below) * falling(below) * falling(above)
    return total


def falling(powers):
    """The integral of prod x_i^(powers_i) e^-x_i over 0 < x_1 < x_2 < ..., as a polynomial times an exponential."""
    tail = {0: 1.0}  # a polynomial in the lower end, times e^-(rate x)
    rate = 0
    for power in reversed(powers):
        rate, inner, tail = rate + 1, {n + power: a for n, a in tail.items()}, {}
        for n, a in inner.items():  # the integral of x^n e^-(rate x) from y up
            for i in range(n + 1):
                tail[i] = tail.get(i, 0.0) + a * math.factorial(n) / math.factorial(i) / rate ** (n - i + 1)
    return tail.get(0, 0.0)


def test_nuclear_ratio_for_small_matrices():
    assert nuclear_ratio(1) == pytest.approx(1.0)  # Laplace noise both
    assert nuclear_ratio(2) == pytest.approx(25 / 27)  # by hand, in the chapter's exercise
    whole, squares = integrals_of_three_eigenvalues()
    assert nuclear_ratio(3) == pytest.approx(squares / whole / (3 * 4**2 / 2), rel=1e-12)


@pytest.mark.thorough
def test_nuclear_ratio_by_drawing():
    """By a Markov chain over the eigenvalues."""
    rng, m, chains = np.random.default_rng(4), 9, 300
    values, at, squares, norms = rng.normal(size=(chains, m)) * m, np.arange(chains), [], []
    for step in range(700 * m):
        j = rng.integers(0, m, chains)
        old, new = values[at, j], values[at, j] + 2.5 * rng.normal(size=chains)
        gaps = np.abs(values - np.stack([new, old])[:, :, None])
        gaps[:, at, j] = 1.0  # no gap to itself
        odds = np.log(gaps[0] / gaps[1]).sum(axis=1) - np.abs(new) + np.abs(old)
        values[at, j] = np.where(np.log(rng.random(chains)) < odds, new, old)
        if step > 200 * m and step % m == 0:
            squares.append((values**2).sum(axis=1))
            norms.append(np.abs(values).sum(axis=1))
    each = np.mean(squares, axis=0) / (m * (m + 1) ** 2 / 2)  # one mean a chain: the chains are independent
    assert abs(each.mean() - nuclear_ratio(m)) < 4 * each.std() / math.sqrt(chains)
    assert np.mean(norms) == pytest.approx(m * (m + 1) / 2, rel=0.01)  # the Gamma law of the chapter


@pytest.mark.parametrize("m", range(1, 31))
def test_nuclear_ratio_obeys_the_theorem(m):
    assert 0.5 + 1 / (m * (m + 1)) - 1e-9 <= nuclear_ratio(m) <= 1 + 1e-9
    assert m == 1 or nuclear_ratio(m) < nuclear_ratio(m - 1)
