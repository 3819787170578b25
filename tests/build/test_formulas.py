"""What theorems print is what the engine computes: each formula is read off its page, and its code twin beside it.

So a wrong number in a page fails here, and one in the code too. What is not a closed form has its test by name.
"""

import itertools
import math
import re
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

from dpreg import accounting
from dpreg.mechanisms import gaussian, grid
from dpreg.mechanisms.budget_split import dpba, parts, printed_share, share
from dpreg.mechanisms.fm_recipes import CODE
from dpreg.mechanisms.objective_perturbation import objective_perturbation
from dpreg.mechanisms.wishart import difference, largest_change
from dpreg.pipeline import laws, objective, solve
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.objective import SQUARED, TAYLOR, Loss, Quadratic
from dpreg.pipeline.sensitivity import closed_form
from dpreg.pipeline.solve import Penalty
from tests.build.formulas import displayed, evaluate, stated

PRICES = {"monomial": (1.0, 1.0), "ordered": (1.0, 1.0), "copied": (1.0, 0.5), "triangle": (0.5, 0.5)}
DIMENSIONS = (1, 2, 3, 5, 13)


def box(d, intercept=False, corner=False, labels=False):
    low, high = (0.0, 1.0) if corner else (-1.0, 1.0)
    return Box([low] * d, [high] * d, response=(0.0 if labels else -1.0, 1.0), intercept=intercept, corner=corner)


def rows(label):
    """The lines of an aligned display: what stands after the sign of alignment."""
    inside = re.sub(r"\\(begin|end)\{aligned\}", "", displayed(label))
    return [line.split("&", 1)[1].strip() for line in inside.split("\\\\")]


def cases(text):
    """Formula and condition of each line of a distinction of cases."""
    inside = re.search(r"\\begin\{cases\}(.*?)\\end\{cases\}", text, re.DOTALL)[1]
    return [[part.strip().rstrip(",.") for part in line.split("&")] for line in inside.split("\\\\")]


def right(text, sign="="):
    """What stands to the right of the first sign."""
    return text.split(sign, 1)[1].strip()


def over_angles(text, **names):
    """The largest value over phi from 0 to a quarter turn."""
    found = optimize.minimize_scalar(
        lambda phi: -evaluate(text, varphi=phi, **names),
        bounds=(0, math.pi / 2),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return max(-found.fun, evaluate(text, varphi=math.pi / 2, **names))


# ---- the reader ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"\tfrac12 b\,(1 + \sqrt d)^2 - |x|/b", 6.0),
        (r"\frac{d^3}{d^3+48}", 4 / 7),
        (r"\sqrt2 d\cdot\max(1, b^2/d)", 4 * math.sqrt(2)),
        (r"-e^{-b} + \log\bigl(d\bigr)", math.log(4) - math.exp(-2)),
        (r"a_{12}\,a'^2", 45.0),
    ],
)
def test_a_formula_is_read(text, value):
    assert evaluate(text, b=2.0, d=4.0, x=-6.0, **{"a_12": 5.0, "a'": 3.0}) == pytest.approx(value)


@pytest.mark.parametrize("text", [r"\sum_k k", "2 +", "(d", "d)", r"\frac1", "y", "d = 4", "d?", r"\sin^2 d"])
def test_what_is_not_understood_is_no_number(text):
    with pytest.raises(ValueError, match=r"expected|understood|value|sign"):
        evaluate(text, d=4.0)


# ---- sensitivities ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("corner", "convention", "d"), itertools.product((False, True), PRICES, DIMENSIONS))
def test_closed_forms_for_boxes(corner, convention, d):
    g, h = PRICES[convention]
    names = {"d": d, "g": g, "h": h, "R": d * box(d, corner=corner).reach, "r": box(d, corner=corner).reach}
    names["T"] = d + d * (d - 1) * h
    replace, released, constant, more, more_constant = (evaluate(row, **names) for row in rows("eq-sensitivity-closed"))
    plain, one = box(d, corner=corner), box(d, True, corner)
    assert closed_form(plain, convention) == pytest.approx(replace)
    assert closed_form(plain, convention, constant=True) == pytest.approx(released)
    assert closed_form(one, convention) == pytest.approx(constant)
    assert closed_form(plain, convention, "add_remove") == pytest.approx(more)
    assert closed_form(one, convention, "add_remove") == pytest.approx(more_constant)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_triangle_against_monomial(d):
    text = right(displayed("eq-sensitivity-rho"))
    formula, bound = text.split("\\le")
    corner = box(d, corner=True)
    rho = 2 * closed_form(corner, "triangle") / closed_form(corner, "monomial")
    assert evaluate(formula, d=d) == pytest.approx(rho)
    assert rho <= evaluate(bound) + 1e-12
    assert evaluate(bound) == pytest.approx(evaluate(formula, d=1))


@pytest.mark.parametrize("d", [2, 3, 8, 13])
def test_monomial_on_the_ball(d):
    (text,) = [b for _, b in stated("thm-sensitivity-ball") if b.startswith(r"\max_\varphi")]
    ball = Ball([0.0] * d, 1.0, response=(-1.0, 1.0), intercept=False)
    assert closed_form(ball, "monomial") == pytest.approx(over_angles(text.removeprefix(r"\max_\varphi"), d=d))


@pytest.mark.parametrize(("corner", "q", "d"), itertools.product((False, True), (1 / 8, 1 / 30), DIMENSIONS))
def test_sensitivities_of_labels(corner, q, d):
    labelled = [box(d, one, corner, labels=True) for one in (False, True)]
    loss, g, h, r = Loss(q, -1 / 2, math.log(2), labels=True), 1 / 4, q, labelled[0].reach
    names = {"d": d, "g": g, "h": h, "q": q, "r": r, "T": d * q + d * (d - 1) * h}
    names_of = cases(displayed("eq-logistic-phi"))

    def phi(k):
        (formula, _), (beyond, condition) = names_of
        assert condition == "k > Tr"
        parabola = displayed("eq-logistic-phi").split("=")[1].split("u\\le r}")[1]
        u = min(r, (k + names["T"] * r) / (2 * names["T"]))
        value = evaluate(beyond if k > names["T"] * r else formula, k=k, **names)
        assert value == pytest.approx(evaluate(parabola, u=u, k=k, **names))
        return value

    replace, constant, more, more_constant = rows("eq-logistic-sensitivity")
    assert replace == r"\Phi(dg)"
    assert closed_form(labelled[0], "monomial", loss=loss) == pytest.approx(phi(d * g))
    before, _, inside = constant.partition(r"+ \Phi\bigl(")
    shifted = evaluate(before, **names) + phi(evaluate(inside.removesuffix(r"\bigr)"), **names))
    assert closed_form(labelled[1], "monomial", loss=loss) == pytest.approx(shifted)
    for space, text in zip(labelled, (more, more_constant), strict=True):
        assert closed_form(space, "monomial", "add_remove", loss=loss) == pytest.approx(evaluate(text, **names))


@pytest.mark.parametrize("d", [2, 3, 8, 13])
def test_labels_on_the_ball(d):
    text = re.sub(r"\\max_\{.*?\\pi/2\}", "", displayed("eq-logistic-ball"))
    ball = Ball([0.0] * d, 1.0, response=(0.0, 1.0), intercept=False)
    assert closed_form(ball, "monomial", loss=TAYLOR) == pytest.approx(
        over_angles(text, d=d, g=1 / 4, q=1 / 8, h=1 / 8), rel=1e-6
    )


@pytest.mark.parametrize("d", DIMENSIONS)
def test_cost_of_the_authors_code(d):
    squares, labels = (part.split("\\quad")[0] for part in displayed("eq-authors-cost").split(r"\qquad"))
    cost = laws.certify(CODE.scales(box(d, True), 1.0), box(d, True))
    b = float(np.unique(CODE.scales(box(d, True), 1.0).M)[0])
    assert cost == pytest.approx(evaluate(squares, p=d + 1, b=b))
    space = box(d, True, labels=True)
    scales = CODE.scales(space, 1.0, loss=TAYLOR)
    b = float(np.unique(scales.M)[0])
    assert laws.certify(scales, space, loss=TAYLOR) == pytest.approx(evaluate(labels, p=d + 1, b=b))


# ---- budget splits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "d"), itertools.product((0.05, 0.14, 0.15, 0.3, 0.4, 0.9), (2, 5, 13)))
def test_what_a_split_spends(alpha, d):
    for line, loss, labels in zip(
        displayed("eq-allocation-spent").split(r"\end{cases}")[:2], (SQUARED, TAYLOR), (False, True), strict=True
    ):
        (many, where), (few, _) = cases(line + r"\end{cases}")
        text = many if alpha >= evaluate(right(where, r"\ge")) else few
        space = box(d, labels=labels)
        cost = laws.certify(dpba(space, 1.0, split=alpha, loss=loss), space, loss=loss)
        assert cost == pytest.approx(evaluate(text, alpha=alpha)), (loss, text)


@pytest.mark.parametrize("d", [1, 2, 3, 12, 13, 20])
def test_the_printed_share(d):
    linear, small, logistic, few = rows("eq-allocation-printed")
    linear, noise = linear.split(r"\quad")
    wanted = right(linear if d >= 3 else small).rstrip(";,")
    assert printed_share(*parts(d)) == pytest.approx(evaluate(wanted.strip(" ,;"), d=d))
    if d >= 3:
        left = right(noise).strip(" ;").replace(r"\varepsilon", "1")
        assert parts(d)[1] / (1 - share(d)) == pytest.approx(evaluate(left, d=d))
    wanted = right(logistic if d >= 13 else few).strip(" ,;.")
    assert printed_share(*parts(d, TAYLOR)) == pytest.approx(evaluate(wanted, d=d))


@pytest.mark.parametrize("d", DIMENSIONS)
def test_the_best_split(d):
    text = next(b for _, b in stated("thm-allocation-split") if b.startswith(r"\varepsilon_i \propto")).split("propto")[
        1
    ]
    n, size = (d * (d + 1) / 2, d), parts(d)
    one, two = (evaluate(text, n_i=k, Delta_i=s) for k, s in zip(n, size, strict=True))
    assert share(d, "variance") == pytest.approx(one / (one + two))


# ---- accounting ---------------------------------------------------------------------------------------------------

LOSSES = [(0.05, 3), (0.5, 20), (2.0, 100)]


@pytest.mark.parametrize(("epsilon", "k"), LOSSES)
def test_advanced_composition(epsilon, k):
    names = {"k": k, "delta": 1e-5, "varepsilon'": epsilon}
    assert accounting.advanced(epsilon, k, 1e-5) == pytest.approx(
        evaluate(right(displayed("eq-accounting-advanced")), **names)
    )
    total = reduce(add, [accounting.MeanCDP.from_pure(epsilon)] * k)
    assert total.epsilon(1e-5) == pytest.approx(evaluate(right(displayed("eq-accounting-sharp")), **names))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0])
def test_concentration_of_one_release(epsilon):
    mean = displayed("eq-accounting-mean").split(r"\le")[1]
    assert accounting.zcdp_from_pure(epsilon) == pytest.approx(evaluate(mean, varepsilon=epsilon))
    assert accounting.zcdp_from_laplace(epsilon) == pytest.approx(
        evaluate(right(displayed("eq-accounting-laplace")), varepsilon=epsilon)
    )


@pytest.mark.parametrize(("rho", "delta"), [(0.01, 1e-5), (0.9, 1e-4), (20.0, 1e-9)])
def test_from_rho_to_epsilon(rho, delta):
    simple = evaluate(right(displayed("eq-accounting-simple")), rho=rho, delta=delta)
    assert accounting.zcdp_to_dp(rho, delta, tight=False) == pytest.approx(simple)
    text = right(displayed("eq-accounting-tight"))
    best = optimize.minimize_scalar(
        lambda x: evaluate(text, rho=rho, delta=delta, s=math.exp(x)),
        bounds=(-12, 12),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert accounting.zcdp_to_dp(rho, delta) == pytest.approx(best.fun, rel=1e-6)


@pytest.mark.parametrize(("mu", "epsilon"), [(0.5, 0.1), (1.0, 1.0), (3.0, 4.0)])
def test_gaussian_profile(mu, epsilon):
    one, two = re.findall(r"\\Phi\\Bigl\((.*?)\\Bigr\)", right(displayed("eq-accounting-gauss")))
    assert displayed("eq-accounting-gauss").count("Phi") == 2
    a, b = (stats.norm.cdf(evaluate(text, mu=mu, varepsilon=epsilon)) for text in (one, two))
    assert accounting.gdp_delta(mu, epsilon) == pytest.approx(a - math.exp(epsilon) * b)


# ---- mechanisms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "dimensions", "c_h"), [(100, 2, 1.0), (5000, 5, 0.7), (370_000, 14, 2.0)])
def test_width_of_a_cell(n, dimensions, c_h):
    text = displayed("eq-histograms-bandwidth")
    inside = re.search(r"\\lfloor(.*)\\rfloor", text)[1].removesuffix(r"\Bigr").removesuffix(r"\bigr")
    inside = inside.replace(r"\log n", r"\log(n)")
    assert grid.bandwidth(n, dimensions, c_h) == max(2, math.floor(evaluate(inside, n=n, D=dimensions, c_h=c_h)))


@pytest.mark.parametrize(("neighbours", "d"), itertools.product(("add_remove", "replace"), (1, 3)))
def test_concentration_of_gaussian_moments(neighbours, d):
    formulas = dict(
        zip(
            ("add_remove", "replace"),
            [right(b) for _, b in stated("prop-publishing-gauss") if b.startswith(r"\rho =")],
            strict=True,
        )
    )
    space = Ball([0.0] * d, 1.0, response=(-1.0, 1.0), intercept=False)
    law = gaussian.Gaussian(np.ones(d + 1), 3.0)
    rho = evaluate(formulas[neighbours], R=math.sqrt(2), s=3.0)
    assert law.concentrated(space, neighbours) <= rho + 1e-12
    if neighbours == "add_remove":
        assert law.concentrated(space, neighbours) == pytest.approx(rho)


@pytest.mark.parametrize(("d", "neighbours"), itertools.product((1, 3, 13), ("replace", "add_remove")))
def test_cost_of_a_wishart_difference(d, neighbours):
    text = right(displayed("eq-irls-difference")).replace(r"\max\, \|E\|_*", "E")
    space = box(d, True)
    law = difference(space, 0.7, neighbours=neighbours)
    change = largest_change(law.weights, space, neighbours)
    assert evaluate(text, E=change, s=math.sqrt(law.spread)) == pytest.approx(0.7)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_linear_term_of_objective_perturbation(epsilon):
    text = rows("eq-logistic-perturbation")[1].split(r"\quad")[0].rstrip(", ")
    space = box(2, True, labels=True)
    _, ledger = objective_perturbation([[0.5, 0.1]] * 4, [1, 0, 1, 0], space, epsilon, share=0.4, random_state=1)
    (spend,) = ledger.spends
    names = {"B": math.sqrt(3), "alpha": 0.4, "varepsilon": epsilon}
    assert spend.scale == pytest.approx(evaluate(right(text), **names))


def test_soft_threshold():
    text = right(displayed("eq-regression-soft")).replace(r"\operatorname{sign}(v_j)", "a").replace(r"\,", "")
    m, v, penalty = np.array([2.0, 0.5, 3.0]), np.array([3.0, -4.0, 0.1]), Penalty(1.5, 0.3)
    found = solve.minimise(Quadratic(np.diag(m), v, np.array(0.0)), penalty)
    for j in range(3):
        names = {"a": np.sign(v[j]), "v_j": v[j], "m_j": m[j], "lambda": 1.5, "alpha": 0.3}
        assert found[j] == pytest.approx(evaluate(text, **names), abs=1e-8)


def test_truncated_is_a_multiple_of_least_squares():
    factor = re.match(r".*?= *(\\frac1\{4q\})", displayed("eq-logistic-truncated"), re.DOTALL)[1]
    rng = np.random.default_rng(1)
    X, y = rng.uniform(-1, 1, (40, 2)), rng.integers(0, 2, 40)
    squares = np.linalg.lstsq(X, 2.0 * y - 1, rcond=None)[0]
    space = box(2, labels=True)
    assert solve.minimise(objective.logistic(X, y, space)) == pytest.approx(evaluate(factor, q=1 / 8) * squares)


# ---- wrong numbers ------------------------------------------------------------------------------------------------

CHECKED = {
    "eq-sensitivity-closed": (test_closed_forms_for_boxes, itertools.product((False, True), PRICES, (1, 2, 13))),
    "eq-sensitivity-rho": (test_triangle_against_monomial, [(1,), (5,)]),
    "eq-logistic-phi": (test_sensitivities_of_labels, itertools.product((False, True), (1 / 8, 1 / 30), DIMENSIONS)),
    "eq-logistic-sensitivity": (test_sensitivities_of_labels, [(True, 1 / 8, 3), (False, 1 / 8, 3)]),
    "eq-logistic-ball": (test_labels_on_the_ball, [(3,)]),
    "eq-authors-cost": (test_cost_of_the_authors_code, [(3,)]),
    "eq-allocation-spent": (test_what_a_split_spends, itertools.product((0.05, 0.14, 0.15, 0.3, 0.34, 0.9), (5,))),
    "eq-allocation-printed": (test_the_printed_share, [(1,), (3,), (12,), (13,)]),
    "eq-accounting-advanced": (test_advanced_composition, [(0.5, 20)]),
    "eq-accounting-sharp": (test_advanced_composition, [(0.5, 20)]),
    "eq-accounting-laplace": (test_concentration_of_one_release, [(0.5,)]),
    "eq-accounting-simple": (test_from_rho_to_epsilon, [(0.9, 1e-4)]),
    "eq-accounting-tight": (test_from_rho_to_epsilon, [(0.9, 1e-4)]),
    "eq-accounting-gauss": (test_gaussian_profile, [(1.0, 1.0)]),
    "eq-irls-difference": (test_cost_of_a_wishart_difference, [(3, "replace")]),
    "eq-regression-soft": (test_soft_threshold, [()]),
}
LEFT = {
    "eq-histograms-bandwidth": "its largest whole number hides what moves it by less than one",
    "eq-accounting-mean": "its last side is read",
    "eq-logistic-truncated": "its factor is read",
}
# Digits that say when a line holds or over what a maximum goes, that name a part, or that no convention can tell: where
# d^2 g^2 / T is above one, g is one.
SPARED = re.compile(
    r"d\\[gl]e\d+|\\[gl]e ?\\tfrac1\d|\\ge \d|\\max_\{0.*?\}|0 \\le k|Delta_\d|varepsilon_\d|\\max\(1,\\, d\^2g\^2"
)


def edits(text):
    """The text with one digit moved by one, digit by digit; those that are spared stay."""
    spared = {k for match in SPARED.finditer(text) for k in range(*match.span())}
    for match in re.finditer(r"\d", text):
        if match.start() not in spared:
            yield text[: match.start()] + str((int(match[0]) + 1) % 10) + text[match.end() :]


def test_wrong_numbers_are_tried_in_every_display_that_is_read():
    read = set(re.findall(r'displayed\("([^"]+)"\)', Path(__file__).read_text(encoding="utf-8")))
    assert read <= set(CHECKED) | set(LEFT), "add these to CHECKED, or say in LEFT why not"


@pytest.mark.thorough
@pytest.mark.parametrize("label", CHECKED)
def test_a_wrong_number_on_the_page_is_noticed(label, monkeypatch):
    check, arguments = CHECKED[label]
    arguments, original = list(arguments), displayed
    for edited in edits(original(label)):
        monkeypatch.setitem(globals(), "displayed", lambda name, now=edited: now if name == label else original(name))
        noticed = False
        for given in arguments:
            try:
                check(*given)
            except (AssertionError, ValueError, TypeError, ZeroDivisionError, AttributeError):
                noticed = True
                break
        assert noticed, edited
