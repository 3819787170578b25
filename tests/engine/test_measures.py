"""Measures of fits, ROC curves, attacks on fits, and the methods that 004 compares."""

import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.tree import DecisionTreeClassifier

from dpreg.attacks import inversion
from dpreg.attacks.inversion import Attribute
from dpreg.mechanisms import budget_split
from dpreg.noise import seed_sequence, spawn
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import Scales, certify, functional
from dpreg.pipeline.objective import SQUARED, TAYLOR, Quadratic, linear
from dpreg.pipeline.release import perturb
from dpreg.sweeps import splits
from dpreg.sweeps.experiment import CrossValidation, Holdout, no_privacy, sweep
from dpreg.sweeps.measures import measured, roc
from dpreg.sweeps.measures import roc_curve as height
from dpreg.sweeps.methods import method_generator
from dpreg.sweeps.row_methods import logistic_regression
from dpreg.sweeps.scores import auc
from lib.data.census import above, census
from lib.papers.attacked_fits import _people, attacked, unaided
from lib.papers.fang import DPC_RATIO, contenders, every_split, privr, repaired

DATA = census("US", 4000)
LABELS = above(DATA, 50_000)
BOX, YES_NO = DATA.box(), LABELS.box()
MARITAL = Attribute((2, 3), [[1, -1], [-1, 1], [-1, -1]])
LOSSES = {"linear": SQUARED, "logistic": TAYLOR}


def partition(data, protocol, seed, repeat=0):
    table = data.box().table(data.X, data.y)
    return splits.draw(data.X, data.y, table, data.box(), protocol, spawn(seed_sequence(seed), repeat, 0))


# --- measured


def test_measures_see_the_fits_that_the_sweep_scores():
    methods = [*contenders(YES_NO, [2, 3], loss=TAYLOR), logistic_regression(repeats=1)]
    at = (LABELS.X, LABELS.y, YES_NO, methods, [0.5, 2.0], CrossValidation(2, 3))

    def area(part, theta, rng):
        return {"auc": np.array([auc(one, Z, t > 0) for one, (Z, t) in zip(theta, part.test_rows, strict=True)])}

    ours, theirs = measured(*at, area, random_state=4), sweep(*at, metrics=["auc"], random_state=4)
    keys = ["method", "epsilon", "repeat", "fold"]
    both = ours.merge(theirs, on=keys)
    assert len(both) == len(ours) == len(theirs)
    np.testing.assert_array_equal(both["value_x"], both["value_y"])


def test_measures_do_not_depend_on_the_number_of_workers():
    at = (DATA.X, DATA.y, BOX, contenders(BOX, [2])[:2], [1.0], Holdout(3), attacked(MARITAL))
    assert measured(*at, jobs=1).equals(measured(*at, jobs=2))


# --- ROC curves


def test_roc_curve_agrees_with_scikit_learn():
    rng = np.random.default_rng(1)
    Z, y = rng.integers(-3, 4, (300, 2)).astype(float), rng.integers(0, 2, 300).astype(float)
    rates = np.linspace(0, 1, 37)
    for theta in ([1.0, 0.0], [0.3, -1.0], [0.0, 0.0]):  # with many ties, few, and nothing else
        x, hits, _ = roc_curve(y, Z @ theta, drop_intermediate=False)
        ends = np.r_[np.diff(x) > 0, True]
        np.testing.assert_allclose(height(theta, Z, y, rates), np.interp(rates, x[ends], hits[ends]), atol=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_area_below_the_roc_curve_is_the_auc(ties):
    rng = np.random.default_rng(2)
    Z, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200).astype(float)
    Z = Z.round() if ties else Z
    theta = rng.normal(size=(2, 4, 3))
    zeros = int((y == 0).sum())
    corners = np.linspace(0, 1, zeros + 1)  # every vertex of the curve lies over one of these
    heights = height(theta, Z, y, corners)
    below = ((heights[..., 1:] + heights[..., :-1]) / 2).mean(axis=-1)
    if not ties:  # a curve without ties is made of steps, whose left ends are the tops
        below = heights[..., :-1].mean(axis=-1)
    tall = [[roc_auc_score(y, Z @ one) for one in row] for row in theta]
    np.testing.assert_allclose(auc(theta, Z, y), tall, atol=1e-12)
    np.testing.assert_allclose(below, tall, atol=0.005 if ties else 1e-12)


def test_roc_measure_is_that_of_the_test_set():
    plain, part = no_privacy("plain", loss=TAYLOR), partition(LABELS, Holdout(2), 3, repeat=1)
    frame = measured(LABELS.X, LABELS.y, YES_NO, [plain], [1.0], Holdout(2), roc([0.2, 0.7]), random_state=3)
    theta = plain.coefficients(part, np.ones(1), method_generator(seed_sequence(3), 1, plain))[0, 0]
    (Z, t), *_ = part.test_rows
    cut = np.quantile(Z[t < 0] @ theta, [0.8, 0.3])
    expected = [(Z[t > 0] @ theta > c).mean() for c in cut]
    np.testing.assert_allclose(frame[frame["repeat"] == 1]["value"], expected, atol=0.02)
    assert frame["metric"].tolist() == [0.2, 0.7] * 2


# --- attacks on fits


def by_hand(part, theta, loss, prior, who):
    """Accuracy of the attack on rows (t, Z), from the definition, one person and value at a time."""
    train = part.table[part.labels == 1]
    right = 0
    f = train[:, 1:] @ theta
    if loss.labels:
        table = np.ones((2, 2))
        np.add.at(table, ((train[:, 0] > 0).astype(int), (f > 0).astype(int)), 1)
        table /= table.sum(axis=0)
    else:
        variance = ((train[:, 0] - f) ** 2).sum() / (len(train) - len(theta))
    for row in who:
        best = (-math.inf, 0.0)
        for code, value in enumerate(MARITAL.values):
            z = row[1:].copy()
            z[[2, 3]] = value
            if loss.labels:
                score = math.log(prior[code]) + math.log(table[int(row[0] > 0), int(z @ theta > 0)])
            else:
                score = math.log(prior[code]) - (row[0] - z @ theta) ** 2 / 2 / variance
            best = max(best, (round(score, 9), prior[code], code))
        right += (MARITAL.values[best[2]] == row[[3, 4]]).all()
    return right / len(who)


@pytest.mark.parametrize("kind", LOSSES)
def test_attack_by_hand(kind):
    loss, data = LOSSES[kind], LABELS if kind == "logistic" else DATA
    method = contenders(data.box(), [2, 3], loss=loss)[0]
    at = (data.X, data.y, data.box(), [method], [0.5, 50.0], Holdout(1))
    found = measured(*at, attacked(MARITAL, loss=loss, share=0.1), random_state=6).pivot(
        index="epsilon", columns="metric", values="value"
    )
    part, rng = partition(data, Holdout(1), 6), spawn(seed_sequence(6), 0, 2)
    train, test = part.table[part.labels == 1], part.table[part.labels == 0]
    inside, outside = train[rng.permutation(3200)[:320]], test[rng.permutation(800)[:400]]
    shares_of = [np.mean((train[:, [3, 4]] == value).all(axis=1)) for value in MARITAL.values]
    theta = method.coefficients(part, np.array([0.5, 50.0]), method_generator(seed_sequence(6), 0, method))[0]
    for epsilon, one in zip((0.5, 50.0), theta, strict=True):
        for where, who in (("inside", inside), ("outside", outside)):
            assert found.loc[epsilon, where] == pytest.approx(by_hand(part, one, loss, shares_of, who))
    if kind == "linear":  # labels tie without marginals, and then the smaller code wins
        flat = by_hand(part, theta[0], loss, [1 / 3] * 3, outside)
        assert found.loc[0.5, "outside, no marginals"] == pytest.approx(flat)


def test_people_outside_are_in_no_training_set_and_nobody_is_public_and_attacked():
    ages = np.linspace(18, 90, 500)  # a different one for everybody
    table = BOX.table(np.column_stack([ages, DATA.X[:500, 1:]]), DATA.y[:500])
    rng = np.random.default_rng(0)
    part = splits.draw(DATA.X[:500], DATA.y[:500], table, BOX, CrossValidation(1, 4), rng)
    for train, inside, outside, public in _people(part, 0.3, rng):
        train, inside, outside, public = (set(rows[:, 1]) for rows in (train, inside, outside, public))
        assert inside < train
        assert not train & (outside | public)
        assert not outside & public
        assert (len(inside), len(outside), len(public)) == (112, 62, 63)


def test_attackers_without_a_model():
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    at = (DATA.X, DATA.y, BOX, [no_privacy("plain")], [1.0], Holdout(1))
    found = measured(*at, unaided(MARITAL, tree), random_state=7).set_index("metric")["value"]
    part, rng = partition(DATA, Holdout(1), 7), spawn(seed_sequence(7), 0, 2)
    train, test = part.table[part.labels == 1], part.table[part.labels == 0]
    inside, order = train[rng.permutation(3200)[:640]], rng.permutation(800)
    outside, public = test[order[:400]], test[order[400:]]
    code = {name: MARITAL.codes(rows[:, 1:]) for name, rows in (("i", inside), ("o", outside), ("p", public))}
    blind = np.delete(public, [3, 4], axis=1)[:, [*range(1, 12), 0]]  # inputs, then the response
    tree.fit(blind, code["p"])
    for where, rows, truth in (("inside", inside, code["i"]), ("outside", outside, code["o"])):
        guess = tree.predict(np.delete(rows, [3, 4], axis=1)[:, [*range(1, 12), 0]])
        assert found[f"classifier, {where}"] == pytest.approx((guess == truth).mean())
        assert found[f"mode, {where}"] == pytest.approx((truth == 1).mean())


# --- what 004 compares


@pytest.mark.parametrize("kind", LOSSES)
def test_contenders_without_noise_are_the_fit_without_privacy(kind):
    loss, data = LOSSES[kind], LABELS if kind == "logistic" else DATA
    part, huge = partition(data, Holdout(1), 8), np.array([1e9])
    exact = no_privacy("plain", loss=loss).coefficients(part, huge, np.random.default_rng(0))
    for method in contenders(data.box(), [2, 3], loss=loss):
        theta = method.coefficients(part, huge, np.random.default_rng(0))
        np.testing.assert_allclose(theta, exact, atol=1e-4, err_msg=method.name)


def test_contenders_are_the_methods_they_name():
    part, budgets = partition(DATA, Holdout(1), 9), np.array([0.3, 2.0])
    f = part.train()
    laws = {
        "FM": functional(BOX, budgets, sensitivity="printed", convention="monomial"),
        "DPBA, printed": budget_split.dpba(BOX, budgets),
        "DPBA, best split": budget_split.dpba(BOX, budgets, split="variance"),
        "DPC": budget_split.dpc(BOX, budgets, [2, 3]),
    }
    for method in contenders(BOX, [2, 3]):
        if method.name in laws:
            law = laws[method.name]
            ridge = law.deviation * (DPC_RATIO if method.name == "DPC" else 1) * 4
            noisy = perturb(f, law, np.random.default_rng(5))
            values, vectors = np.linalg.eigh(noisy.symmetric + ridge[..., None, None] * np.eye(13))
            along = np.einsum("...ij,...i->...j", vectors, noisy.v)
            with np.errstate(divide="ignore"):
                along = np.where(values > 0, along / values, 0.0)
            expected = -np.einsum("...ij,...j->...i", vectors, along) / 2
            theta = method.coefficients(part, budgets, np.random.default_rng(5))
            np.testing.assert_allclose(theta, expected, rtol=1e-6)


def test_ridge_of_dpc_is_set_by_the_predictors_that_are_not_sensitive():
    law = budget_split.dpc(BOX, 1.0, [2, 3])
    assert law.deviation * DPC_RATIO == pytest.approx(math.sqrt(2) * law.M[0, 0])
    lifted = repaired(Quadratic(np.zeros((13, 13)), np.zeros(13), np.array(0.0)), law, 4 * DPC_RATIO)
    assert lifted.M[0, 0] == pytest.approx(4 * math.sqrt(2) * law.M[0, 0])


def test_repaired_lifts_before_it_trims():
    noisy, law = Quadratic(np.diag([-1.0, -9.0]), np.array([2.0, 2.0]), np.array(0.0)), Scales(np.ones((2, 2)), [1, 1])
    mended = repaired(noisy, law)
    np.testing.assert_allclose(mended.M, np.diag([4 * math.sqrt(2) - 1, 0.0]), atol=1e-12)
    np.testing.assert_allclose(mended.v, [2.0, 0.0], atol=1e-12)


def test_privr_draws_relevances_anew_for_every_split_and_budget(monkeypatch):
    asked = []
    real = budget_split.privr

    def spy(objective, epsilon, **options):
        first = real(objective, epsilon, **options)
        asked.append((float(objective.v[0]), epsilon, first))
        return first

    monkeypatch.setattr(budget_split, "privr", spy)
    part = partition(DATA, CrossValidation(1, 3), 10)
    theta = privr().coefficients(part, np.array([0.5, 2.0]), np.random.default_rng(3))
    assert theta.shape == (3, 2, 13)
    train = part.train()
    assert [one[:2] for one in asked] == [(train.v[s, 0, 0], e) for s in range(3) for e in (0.5, 2.0)]
    assert len({tuple(one[2].relevance) for one in asked}) == 6
    for _, epsilon, first in asked:  # both steps together keep the promise
        spent = first.ledger.epsilon + certify(first.scales, BOX)
        assert first.ledger.epsilon == pytest.approx(0.1 * epsilon)
        assert spent <= epsilon * (1 + 1e-9)


def test_every_split_is_dpba_with_that_share():
    methods = every_split(YES_NO, [0.25, 0.5], loss=TAYLOR)
    rules = [budget_split.share(13, rule, loss=TAYLOR) for rule in ("proportional", "variance", "l1", "printed")]
    assert [method.name for method in methods] == [f"{a:.6f}" for a in sorted([0.25, 0.5, *rules])]
    part, one = partition(LABELS, Holdout(1), 11), np.ones(1)
    law = budget_split.dpba(YES_NO, one, split=0.25, loss=TAYLOR)
    noisy = perturb(part.train(TAYLOR), law, np.random.default_rng(1))
    mended = repaired(noisy, law)
    expected = -np.linalg.pinv(mended.M[0, 0], hermitian=True) @ mended.v[0, 0] / 2
    found = methods[0].coefficients(part, one, np.random.default_rng(1))[0, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


def test_a_small_box_will_do():
    box = Box([-1.0, -1.0], [1.0, 1.0], (-1.0, 1.0))
    f = linear([[1.0, 0.5], [-1.0, 0.2], [0.3, -0.4]], [1.0, -1.0, 0.2], box)
    for method in contenders(box, [0]):
        theta = method.fit(f[None, None], np.array([1.0]), np.random.default_rng(0))
        assert theta.shape == (1, 1, 2)
        assert np.isfinite(theta).all()
    assert inversion.membership_bound(1.0) < 1
