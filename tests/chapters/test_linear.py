"""Claims of the chapter on the functional mechanism for linear regression, derived without it."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from dpreg import noise
from dpreg.audit import search
from dpreg.checks import InputError
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import Scales, certify, functional, unit_scales
from dpreg.pipeline.objective import Quadratic, linear
from dpreg.pipeline.release import perturb
from dpreg.pipeline.sensitivity import closed_form
from dpreg.pipeline.solve import minimise
from lib.pages import claims
from tests.ledger import tolerance, values

X = np.array([1.0, 0.9, -0.5])
T = np.array([0.4, 0.3, -1.0])


def cube(d, **options):
    return Box(-np.ones(d), np.ones(d), (-1.0, 1.0), **options)


def coefficients(t, x):
    """Coefficients of (t - x'w)^2, one per monomial, by hand."""
    products = [
        (2 if j != k else 1) * x[j] * x[k] for j, k in itertools.combinations_with_replacement(range(len(x)), 2)
    ]
    return np.array([t * t, *(-2 * t * x), *products])


def test_power_series_of_the_logistic_loss():
    """Exact fractions: the derivative s = 1 / (1 + e^-z) obeys s' = s (1 - s)."""
    s = [Fraction(1, 2)]
    for k in range(40):
        s.append((s[k] - sum(s[i] * s[k - i] for i in range(k + 1))) / (k + 1))
    found = {"truth": math.log1p(math.exp(4))}
    for order in (2, 10, 20, 40):
        found[f"order_{order}"] = math.log(2) + float(
            sum(s[k] * Fraction(4) ** (k + 1) / (k + 1) for k in range(order))
        )
    assert claims.load()["FM-SW"].differences(found) == []


def test_a_smooth_function_without_a_power_series():
    """Each derivative is e^(-1/z^2) times a polynomial in 1/z, here by the product rule, and so tends to 0 at 0."""
    derivative = np.polynomial.Polynomial([1.0])  # in u = 1/z: (p e^(-u^2))' = (2 u^3 p - u^2 p') e^(-u^2)
    u = np.polynomial.Polynomial([0.0, 1.0])
    for _ in range(12):
        derivative = 2 * u**3 * derivative - u**2 * derivative.deriv()
        size = [math.log(abs(derivative(at))) - at**2 for at in (10.0, 20.0, 40.0)]  # log |f^(k)(1/u)|
        assert size[0] > 2 * size[1] > 4 * size[2], "falls faster than any power of z = 1/u"
        assert size[2] < -1000
    assert claims.load()["RR-SW"].differences({"series": 0.0, "truth": math.exp(-1)}) == []


def test_worked_example():
    f = linear(X[:, None], T, cube(1))
    assert f.M[0, 0] == pytest.approx(X @ X)
    assert f.v[0] == pytest.approx(-2 * X @ T)
    assert f.c == pytest.approx(T @ T)
    expected = values("FM-EX")
    assert [expected["M"], expected["v"], expected["c"]] == pytest.approx([2.06, -2.34, 1.25])
    assert minimise(f)[0] == pytest.approx(117 / 206)
    assert expected["minimiser"] == pytest.approx(117 / 206, abs=1e-6)
    by_rows, *_ = np.linalg.lstsq(X[:, None], T, rcond=None)
    assert by_rows[0] == pytest.approx(117 / 206)


def test_example_sensitivity():
    """On a fine grid of pairs of records the largest change is 4, half of what is printed."""
    grid = np.array([coefficients(t, np.array([x])) for t in np.linspace(-1, 1, 41) for x in np.linspace(-1, 1, 41)])
    for used in (grid, grid[:, 1:]):  # with the constant and without it
        change = max(np.abs(used - row).sum(axis=1).max() for row in used)
        assert change == pytest.approx(values("FM-D")["tight"], abs=1e-9)
    assert values("FM-D")["printed"] == 2 * (1 + 1) ** 2


def test_norm_constraint():
    """Records (1, 1, 1, 0): the last predictor, summed over d records, says nothing about their norms."""
    n, d = 4, 4
    Z, _ = Box(np.zeros(d), np.ones(d), (-1.0, 1.0), corner=True).scale(np.ones((n, d)), np.zeros(n))
    assert pytest.approx(1 / math.sqrt(d)) == Z
    assert values("FM-NORM")["mapped"] == pytest.approx(math.sqrt(d * (1 / math.sqrt(d)) ** 2))
    assert values("FM-NORM")["over_predictors"] == pytest.approx(math.sqrt(d - 1), abs=1e-6)
    assert values("FM-NORM")["as_printed"] == 0


def test_sign_of_the_expansion():
    expected = values("FM-SIGN")
    assert ((T - X) ** 2).sum() == pytest.approx(expected["objective"])
    printed = T @ T - 2 * X @ T - X @ X
    assert printed == pytest.approx(expected["as_printed"])


def test_lemma_one():
    """With degree zero the bound is 2 (d + 1)^2 on the box, without it 2 less; no pair attains more than (d + 1)^2."""
    for claim, name, d in (("FM-L1", "bound", 3), ("RR-L1", "printed", 11)):
        assert values(claim)[name] == 2 * np.abs(coefficients(1.0, np.ones(d))[1:]).sum() == 2 * (d**2 + 2 * d)
        assert values(claim)["worst"] == (d + 1) ** 2
    assert values("FM-L1")["bound_with_c"] == 2 * np.abs(coefficients(1.0, np.ones(3))).sum() == 2 * (3 + 1) ** 2
    points = np.array(list(itertools.product([-1.0, -1 / 3, 1 / 3, 1.0], repeat=4)))
    table = np.array([coefficients(p[0], p[1:]) for p in points])
    for name, used in (("worst", table[:, 1:]), ("worst_with_c", table)):
        assert max(np.abs(used - row).sum(axis=1).max() for row in used) == pytest.approx(values("FM-L1")[name])
    x = np.full(11, 1 / 11)  # the pair of the proof at d = 11
    change = np.abs(coefficients(1.0, np.ones(11)) - coefficients(-1.0, x)).sum()
    assert change == pytest.approx(values("RR-L1")["worst"])


def test_degree_zero():
    for claim, d in (("FM-A1", 1), ("RR-A1", 11)):
        corner, other = coefficients(1.0, np.ones(d)), coefficients(-1.0, np.full(d, 1 / d))
        expected = values(claim)
        assert np.abs(corner).sum() == pytest.approx(expected["add_with"])
        assert np.abs(corner[1:]).sum() == pytest.approx(expected["add_without"])
        assert np.abs(corner - other).sum() == pytest.approx(expected["replace_with"])
        assert np.abs(corner[1:] - other[1:]).sum() == pytest.approx(expected["replace_without"])
        for relation, released in itertools.product(("replace", "add_remove"), (False, True)):
            name = f"{relation.split('_')[0]}_{'with' if released else 'without'}"
            assert closed_form(cube(d), "monomial", relation, constant=released) == pytest.approx(expected[name])


def test_theorem_one():
    """Densities through scipy: their log ratio never exceeds the certificate, and reaches it."""
    scale = 8.0
    one, other = coefficients(1.0, np.ones(1))[1:], coefficients(-1.0, np.ones(1))[1:]
    outputs = np.random.default_rng(0).laplace(one, scale, size=(100_000, 2))
    ratio = (stats.laplace.logpdf(outputs, one, scale) - stats.laplace.logpdf(outputs, other, scale)).sum(axis=1)
    assert ratio.max() == pytest.approx(values("FM-T1")["largest_loss"])
    assert values("FM-T1")["certified"] == 4 / scale


@pytest.mark.parametrize("convention", ["monomial", "ordered", "copied", "triangle"])
def test_log_ratio(convention):
    """`search.log_ratio` against scipy's densities of the numbers that are released."""
    box = cube(2, intercept=True)
    rng = np.random.default_rng(1)
    f, g = (linear(rng.uniform(-1, 1, (5, 2)), rng.uniform(-1, 1, 5), box) for _ in range(2))
    scales = functional(box, 1.0, convention=convention, constant=True)
    outputs = perturb(f, scales, 2, draws=(50,))
    where = np.ones((3, 3), dtype=bool) if convention == "ordered" else np.triu(np.ones((3, 3), dtype=bool))
    where[0, 0] = False  # n, public
    expected = 0.0
    for sign, h in ((1, f), (-1, g)):
        expected += sign * stats.laplace.logpdf(outputs.M[:, where], h.M[where], scales.M[where]).sum(axis=1)
        expected += sign * stats.laplace.logpdf(outputs.v, h.v, scales.v).sum(axis=1)
        expected += sign * stats.laplace.logpdf(outputs.c, h.c, scales.c)
    assert search.log_ratio(outputs, f, g, scales) == pytest.approx(expected)
    assert search.log_ratio(f, f, g, scales) == pytest.approx(total_change(f, g, scales, where))


def total_change(f, g, scales, where):
    change = (np.abs(f.M - g.M)[where] / scales.M[where]).sum() + (np.abs(f.v - g.v) / scales.v).sum()
    return change + abs(f.c - g.c) / scales.c


def test_log_ratio_refuses_exact_numbers():
    one, other = (Quadratic(np.eye(1) * k, np.zeros(1), np.array(0.0)) for k in (1, 2))
    with pytest.raises(InputError, match="scale zero"):
        search.log_ratio(one, one, other, Scales(np.zeros((1, 1)), np.ones(1)))


def test_mean_loss():
    d, n = 11, 4898
    corner, other = coefficients(1.0, np.ones(d)), coefficients(-1.0, np.full(d, 1 / d))
    assert values("SL-D")["printed_times_n"] == 2 * (1 + 2 * d + d**2)
    assert values("SL-D")["tight_times_n"] == pytest.approx(np.abs(corner - other).sum())
    # Slide 10: the entries of M, those of N = X't and O all get noise of scale 2 (d + 1)^2 / n. One record at the
    # corner replaced by zeros changes d^2 + d + 1 numbers by one; that this is the most is in the next chapter.
    spent = (d**2 + d + 1) / (2 * (d + 1) ** 2 / n)
    assert spent == pytest.approx(values("SL-N")["spent"], abs=1e-6)
    half = Scales(np.ones((d, d)), np.full(d, 2.0), 1.0, ordered=True)
    assert search.worst_pair(half, cube(d)).loss == pytest.approx(d**2 + d + 1)


def near(a, v, b, within=0.1):
    """Exact probability that a noisy parabola has a minimum within 0.1 of the clean one."""
    centre = -v / (2 * a)
    low, high = centre - within, centre + within
    law = stats.laplace(scale=b)

    def density(m):
        return law.pdf(m - a) * (law.cdf(-v - 2 * m * low) - law.cdf(-v - 2 * m * high))

    edges = [0.0, *sorted([a, -v / (2 * low), -v / (2 * high)]), a + 60 * b]
    return sum(integrate.quad(density, s, e, epsabs=1e-12)[0] for s, e in itertools.pairwise(edges))


def test_figure_two():
    expected = values("FM-FIG2")
    assert stats.laplace.cdf(-2.06, scale=8) == pytest.approx(expected["upside_down_1"], abs=1e-6)
    assert near(2.06, -2.34, 8.0) == pytest.approx(expected["near_1"], abs=1e-6)
    assert near(2.06, -2.34, 0.8) == pytest.approx(expected["near_10"], abs=1e-6)
    repeats = claims.load()["FM-FIG2"].settings["repeats"]
    largest = max(math.sqrt(p * (1 - p) / repeats) for p in expected.values())
    assert tolerance("FM-FIG2", "upside_down_1") == pytest.approx(4 * largest, rel=0.02)


def test_laplace_cdf():
    x = np.linspace(-5, 5, 41)
    assert noise.laplace_cdf(x, 1.7) == pytest.approx(stats.laplace.cdf(x, scale=1.7))
    with pytest.raises(InputError, match="scale"):
        noise.laplace_cdf(0.0, 0.0)


def test_lemma_two():
    """Moments of x uniform on [-1, 1] and t = x / 2, and the four standard errors of their averages."""
    expected = values("FM-L2")
    assert [expected["M"], expected["v"], expected["c"]] == pytest.approx([1 / 3, -1 / 3, 1 / 12], abs=1e-6)
    n = claims.load()["FM-L2"].settings["n"]
    assert tolerance("FM-L2", "M") == pytest.approx(4 * math.sqrt((1 / 5 - 1 / 9) / n), rel=0.02)


def test_theorem_two():
    """The twins' null direction is negative half the time; the limits of the other case, from its eigenvalues."""
    rng = np.random.default_rng(7)
    draws = 20_000
    diagonal, off = rng.laplace(scale=18, size=(draws, 2)), rng.laplace(scale=9, size=draws)
    assert abs((diagonal.sum(axis=1) / 2 - off < 0).mean() - 0.5) < 4 * 0.5 / math.sqrt(draws)
    assert values("FM-T2")["twins_unbounded"] == 0.5
    assert tolerance("FM-T2", "twins_unbounded") == pytest.approx(4 * 0.5 / math.sqrt(draws), rel=0.01)
    # Distinct columns: eigenvalues near n / 3. Unbounded needs one of three draws above n / 9, of scale at most 18.
    assert 3 * math.exp(-1_000_000 / 9 / 18) < 1e-100
    assert values("FM-T2")["distinct_unbounded"] == 0


def test_twins_never_better_than_half():
    """At least one half for every n, every convention, not only in the limit."""
    box = cube(2)
    rng = np.random.default_rng(8)
    for n, convention in itertools.product((10, 1000), ("monomial", "ordered", "copied", "triangle")):
        x = rng.uniform(-1, 1, (n, 1))
        f = linear(x[:, [0, 0]], x[:, 0], box)
        g = perturb(f, functional(box, 1.0, convention=convention), rng, draws=(20_000,))
        unbounded = (np.linalg.eigvalsh(g.symmetric)[:, 0] <= 0).mean()
        assert unbounded > 0.5 - 4 * 0.5 / math.sqrt(20_000)


def test_error_identity():
    """The exact difference of noisy and clean minimiser, Eq. (eq-linear-error)."""
    rng = np.random.default_rng(9)
    box = cube(3)
    f = linear(rng.uniform(-1, 1, (500, 3)), rng.uniform(-1, 1, 500), box)
    g = perturb(f, functional(box, 5.0), rng)
    N, eta, clean = g.M - f.M, g.v - f.v, minimise(f)
    assert minimise(g) - clean == pytest.approx(-np.linalg.solve(g.M, N @ clean + eta / 2))


def test_noise_does_not_depend_on_n():
    """To first order the error is 1/n times a law without n: a hundred times the records, a hundredth of the error."""
    expected = values("FM-N")
    assert expected["scale"] == 2 * (2 + 1) ** 2
    assert expected["times_error"] == 1_000_000 / 10_000
    box = cube(2)
    rng = np.random.default_rng(10)
    medians = []
    for n in (10_000, 1_000_000):
        f = Quadratic(np.eye(2) * n / 3, -2 * np.array([0.5, 0.2]) * n / 3, np.array(0.0), box)
        g = perturb(f, functional(box, 1.0, sensitivity="printed", convention="monomial"), rng, draws=(20_000,))
        medians.append(np.median(np.linalg.norm(minimise(g) - [0.5, 0.2], axis=1)))
    assert medians[0] / medians[1] == pytest.approx(100, abs=tolerance("FM-N", "times_error"))


def test_intercept():
    """The constant is a column of ones whose square never changes: coefficients by hand, and the pair of the proof."""
    expected = values("FM-FN2")
    for d in (1, 4):
        one = coefficients(1.0, np.ones(d + 1))
        two = coefficients(-1.0, np.r_[1.0, np.zeros(d)])
        assert np.abs(one[1:] - two[1:]).sum() == pytest.approx((d + 2) ** 2) == expected[f"tight_{d}"]
        box = cube(d, intercept=True)
        assert certify(unit_scales("monomial", d + 1, public_count=True), box) == pytest.approx((d + 2) ** 2)
    assert expected["printed_4"] == 2 * (4 + 1 + 1) ** 2
