"""The K-norm mechanism of the hull: its body by linear programmes, its draws, and what it costs."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from dpreg.checks import InputError
from dpreg.mechanisms import k_norm
from dpreg.mechanisms.k_norm import Hull, gauge, hull, inside, uniform
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import certify
from dpreg.pipeline.objective import SQUARED, TAYLOR, Quadratic, linear
from dpreg.pipeline.release import perturb, release

CHANCE = 1e-6  # that a test of a law errs
# Columns, and whether the first of them is the constant.
BODIES = [(1, False), (2, False), (3, False), (2, True)]
every_body = pytest.mark.parametrize(("p", "public"), BODIES, ids=["ball 1", "ball 2", "ball 3", "line with constant"])


def domain(p, public):
    return Ball(np.zeros(p - public), 1.0, (-1.0, 1.0), intercept=public)


def records(p, public, size, rng, surface=0.5):
    """Records (t, x), many of them at the ends."""
    d = p - public
    X = rng.normal(size=(size, d))
    X /= np.linalg.norm(X, axis=1)[:, None]
    X *= np.where(rng.random((size, 1)) < surface, 1.0, rng.random((size, 1)) ** (1 / d))
    t = np.where(rng.random(size) < 0.7, rng.choice([-1.0, 1.0], size), rng.uniform(-1, 1, size))
    return np.column_stack([t, np.ones((size, int(public))), X])


def moments(z, public):
    """What gets noise, of the moments of each record alone."""
    out = z[:, :, None] * z[:, None, :]
    out[:, 0, 0] = 0.0
    if public:
        out[:, 1, 1] = 0.0
    return out


def flat(E, public):
    """The numbers that get noise, once each."""
    rows, columns = np.triu_indices(E.shape[1])
    kept = (columns > 0) & ~(public & (rows == 1) & (columns == 1))
    return E[:, rows[kept], columns[kept]]


def grid(p, public):
    """Records with t = 1 or -1 that lie close: every record's moments are a mean of those of two of them."""
    if p - public == 1:
        x = np.linspace(-1, 1, 161)[:, None]
    else:
        angle = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        radius = np.r_[0.0, np.linspace(0.1, 1, 10)]
        x = np.array([[r * np.cos(a), r * np.sin(a)] for r in radius for a in angle])
    z = np.vstack([np.column_stack([np.full(len(x), t), np.ones((len(x), int(public))), x]) for t in (-1.0, 1.0)])
    return flat(moments(z, public), public)


def programme(v, points):
    """The least r with v = r (a - b) for means a and b of the points, and the direction that proves it."""
    n = len(points)
    equal = np.vstack([np.hstack([points.T, -points.T]), np.r_[np.ones(n), -np.ones(n)]])
    found = optimize.linprog(np.r_[np.ones(n), np.zeros(n)], A_eq=equal, b_eq=np.r_[v, 0.0], method="highs")
    return found.fun, found.eqlin.marginals[:-1]


# --- the body


@pytest.mark.thorough
@pytest.mark.parametrize(("p", "public"), [(1, False), (2, False), (2, True)])
def test_the_gauge_by_linear_programmes(p, public):
    """A programme over some records is too large, its dual over all of them too small: the gauge is between."""
    rng = np.random.default_rng(p + public)
    points = grid(p, public)
    fine = flat(moments(records(p, public, 200_000, rng), public), public)
    changes = rng.normal(size=(25, p + 1, p + 1))
    changes += changes.swapaxes(1, 2)
    changes[:, 0, 0] = 0.0
    if public:
        changes[:, 1, 1] = 0.0
    found = gauge(changes, public_count=public)
    for v, one in zip(flat(changes, public), found, strict=True):
        high, direction = programme(v, points)
        low = direction @ v / np.ptp(np.r_[fine @ direction, points @ direction])
        assert high <= low * 1.01
        assert low * (1 - 1e-3) <= one <= high * (1 + 1e-6)


def test_the_gauge_of_one_predictor_by_hand():
    """|n| <= 1 + sqrt(1 - |N|): the larger of |N| and n^2 / (2 |n| - |N|)."""
    N, n = np.random.default_rng(0).normal(size=(2, 500))
    changes = np.zeros((500, 2, 2))
    changes[:, 1, 1], changes[:, 0, 1], changes[:, 1, 0] = N, n, n
    by_hand = np.where(np.abs(n) <= np.abs(N), np.abs(N), n**2 / (2 * np.abs(n) - np.minimum(np.abs(N), np.abs(n))))
    np.testing.assert_allclose(gauge(changes), by_hand, rtol=1e-9)


@pytest.mark.thorough
@every_body
def test_the_gauge_is_a_norm(p, public):
    rng = np.random.default_rng(3)
    one, other = uniform(p, 20, 1, public_count=public), uniform(p, 20, 2, public_count=public)
    size = {"public_count": public}
    np.testing.assert_allclose(gauge(-one, **size), gauge(one, **size), rtol=1e-9)
    np.testing.assert_allclose(gauge(2.5 * one, **size), 2.5 * gauge(one, **size), rtol=1e-8)
    assert (gauge(one + other, **size) <= (gauge(one, **size) + gauge(other, **size)) * (1 + 1e-8)).all()
    assert (gauge(one, **size) <= 1 + 1e-9).all()
    assert gauge(0 * one[:1], **size) == pytest.approx(0.0, abs=1e-300)
    if not public and p > 1:  # a ball has no direction of its own
        Q = np.eye(p + 1)
        Q[1:, 1:] = np.linalg.qr(rng.normal(size=(p, p)))[0]
        turned = Q @ one @ Q.T
        np.testing.assert_allclose(gauge((turned + turned.swapaxes(1, 2)) / 2), gauge(one), rtol=1e-8)


@pytest.mark.thorough
@every_body
def test_no_pair_costs_more_than_epsilon_and_the_worst_cost_that(p, public):
    rng = np.random.default_rng(4)
    points = moments(records(p, public, 4000, rng), public)
    changes = points[:2000] - points[2000:]
    assert inside(changes * (1 - 1e-9), public_count=public).all()
    if not public:  # and nothing that is added alone
        assert inside(points * (1 - 1e-9)).all()
    # In every direction the worst pair is at the surface: no smaller body holds it.
    numbers = flat(points, public)
    for direction in rng.normal(size=(20, numbers.shape[1])):
        values = numbers @ direction
        worst = points[[values.argmax()]] - points[[values.argmin()]]
        assert 1 - 2e-2 <= gauge(worst, public_count=public)[0] <= 1 + 1e-8


@every_body
def test_a_worst_pair_by_hand(p, public):
    """The label of one record, at the end of a predictor: nothing moves further."""
    z = np.zeros((2, p + 1))
    z[:, 0], z[:, -1] = [1.0, -1.0], 1.0
    if public:
        z[:, 1] = 1.0
    E = moments(z, public)
    assert gauge(E[:1] - E[1:], public_count=public)[0] == pytest.approx(1.0, rel=1e-9)


def test_the_ascent_may_run_out(monkeypatch):
    """What is not decided counts as outside: it is at the surface, but for rounding."""
    points = uniform(2, 300, 5)
    monkeypatch.setattr(k_norm, "STEPS", 3)
    few = inside(points)
    assert 0.5 < few.mean() < 1.0


# --- the draws


@pytest.mark.thorough
@every_body
def test_points_fill_the_body_evenly(p, public):
    """Cells of one shape inside K hold equal shares; and so many dimensions makes gauge^k uniform."""
    points = uniform(p, 6000, 6, public_count=public)
    assert points.shape == (6000, p + 1, p + 1)
    k = p * (p + 3) // 2 - public
    assert stats.kstest(gauge(points[:1000], public_count=public) ** k, "uniform").pvalue > CHANCE
    centres = uniform(p, 8, 7, public_count=public) * 0.35
    share = 0.64**k  # 0.35 + 0.64 < 1
    for centre in centres:
        found = inside((points - centre) / 0.64, public_count=public).mean()
        assert abs(found - share) < 5 * math.sqrt(share * (1 - share) / 6000)


def test_one_predictor_entry_by_entry():
    """Given N, the number n is uniform up to 1 + sqrt(1 - |N|), and the density of N is proportional to that."""
    points = uniform(1, 20_000, 8)
    N, n = points[:, 1, 1], points[:, 0, 1]
    assert stats.kstest(n / (1 + np.sqrt(1 - np.abs(N))), stats.uniform(-1, 2).cdf).pvalue > CHANCE
    mass = np.abs(N) + 2 / 3 * (1 - (1 - np.abs(N)) ** 1.5)  # its integral from 0
    assert stats.kstest(mass / (5 / 3), "uniform").pvalue > CHANCE


def test_the_volume_of_one_predictor():
    """20/3: the share of a box of eight that is inside."""
    rng, size = np.random.default_rng(9), 100_000
    changes = np.zeros((size, 2, 2))
    changes[:, 1, 1] = rng.uniform(-1, 1, size)
    changes[:, 0, 1] = changes[:, 1, 0] = rng.uniform(-2, 2, size)
    share = 5 / 6
    assert abs(inside(changes).mean() - share) < 5 * math.sqrt(share * (1 - share) / size)


@pytest.mark.thorough
@every_body
def test_the_norm_of_the_noise_is_gamma(p, public):
    """With as many degrees as numbers get noise; accepted at the scale that is said, and rejected five per cent off."""
    size = {(2, False): 3000, (3, False): 2000}.get((p, public), 20_000)  # their gauges take time
    law, k = hull(domain(p, public), 0.5), p * (p + 3) // 2 - public
    drawn = law.perturb(Quadratic(np.zeros((p, p)), np.zeros(p), np.array(0.0)), (size,), np.random.default_rng(10))
    noise = np.zeros((size, p + 1, p + 1))
    noise[:, 1:, 1:], noise[:, 0, 1:] = drawn.M, drawn.v / SQUARED.cross
    noise[:, 1:, 0] = noise[:, 0, 1:]
    norms = gauge(noise, public_count=public) / 2  # the spread is 1 / epsilon
    assert stats.kstest(norms, stats.gamma(k).cdf).pvalue > CHANCE
    error = math.sqrt(k / size)
    assert abs(norms.mean() - k) < 4 * error
    assert abs(1.05 * norms.mean() - k) > 2 * error
    assert abs(0.95 * norms.mean() - k) > 2 * error
    if public:
        assert not noise[:, 1, 1].any()


def test_how_large_the_noise_of_one_predictor_is():
    """Its mean squares are those of a uniform point, 51/175 and 49/50, times that of the radius, 12."""
    law = hull(domain(1, False), 1.0)
    assert law.deviation**2 == pytest.approx(12 * 51 / 175, rel=0.03)
    assert law.level == law.deviation
    drawn = law.perturb(Quadratic(np.zeros((1, 1)), np.zeros(1), np.array(0.0)), (40_000,), np.random.default_rng(11))
    for values, square in ((drawn.M, 12 * 51 / 175), (drawn.v / 2, 12 * 49 / 50)):
        each = values.ravel() ** 2
        assert abs(each.mean() - square) < 5 * each.std() / 200


# --- the mechanism


@pytest.mark.parametrize("loss", [SQUARED, TAYLOR])
@pytest.mark.parametrize(
    "where",
    [Box([0.0], [3.0], (0.0, 1.0), intercept=True), Box([0.0], [3.0], (0.0, 1.0)), Ball([0.0] * 3, 2.0, (0, 1))],
)
def test_it_costs_what_it_is_asked_for(where, loss):
    assert certify(hull(where, 0.7, loss=loss), where, loss=loss) == pytest.approx(0.7)
    if not where.intercept:
        law = hull(where, 0.7, neighbours="add_remove", loss=loss)
        assert certify(law, where, "add_remove", loss) == pytest.approx(0.7)


def test_it_is_released_and_paid_for_like_any_law():
    where, budget = domain(2, False), Budget(1.0)
    X = np.random.default_rng(12).uniform(-0.7, 0.7, (50, 2))
    out = release(linear(X, X[:, 0], where), hull(where, 0.4), 1, budget=budget)
    assert out.ledger.epsilon == pytest.approx(0.4)
    assert (out.ledger.spends[0].mechanism, out.ledger.spends[0].norm) == ("hull K-norm", "K")
    assert perturb(linear(X, X[:, 0], where), hull(where, [0.4, 1.0]), 1, draws=(3,)).batch == (3, 2)


def test_a_count_that_can_change_is_not_public():
    line = domain(2, True)
    assert certify(hull(line, 1.0), line, "add_remove") == math.inf
    with pytest.raises(InputError, match="the count is no public number"):
        hull(line, 1.0, neighbours="add_remove")
    with pytest.raises(InputError, match="predictors without a constant"):
        certify(hull(domain(2, False), 1.0), line)
    assert certify(hull(line, 1.0), domain(2, False)) == math.inf


@pytest.mark.parametrize(
    "where",
    [
        Ball([0.0] * 4, 1.0, (-1, 1)),
        Ball([0.0] * 2, 1.0, (-1, 1), intercept=True),
        Box([0.0] * 2, [1.0] * 2, (-1, 1)),
        Box([0.0], [1.0], (-1, 1), corner=True),
    ],
)
def test_other_hulls_are_refused(where):
    with pytest.raises(InputError, match="no sampler of another hull"):
        hull(where, 1.0)


def test_it_has_no_discrete_twin():
    where = domain(1, False)
    f = linear([[0.5]], [0.5], where, bits=8)
    with pytest.raises(InputError, match="no sampler of hull K-norm noise"):
        release(f, hull(where, 1.0), sampler="opendp")
    assert isinstance(hull(where, 1.0), Hull)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("other than one", lambda: Hull([1.0, 0.5], 1.0)),
        ("with a public count give 3", lambda: Hull(np.ones(4), 1.0, True)),
        ("give at most 4", lambda: Hull(np.ones(5), 1.0)),
        ("not symmetric", lambda: inside(np.triu(np.ones((1, 2, 2))))),
        ("with a public count give 2", lambda: uniform(1, 1, public_count=True)),
    ],
)
def test_what_it_is_not_for(message, call):
    with pytest.raises(InputError, match=message):
        call()
