"""Model inversion: the claims of 004, Sections III-E and V-E, and the mathematics of dpreg/attacks/inversion.py."""

import itertools
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from dpreg.attacks import inversion
from dpreg.attacks.inversion import Attribute
from dpreg.audit.search import worst_pair
from dpreg.mechanisms import budget_split
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import Scales, certify, functional
from dpreg.pipeline.objective import SQUARED, TAYLOR, Quadratic, linear
from dpreg.pipeline.release import perturb
from lib.data.census import census
from tests.ledger import tolerance, value

BOX = Box(-np.ones(13), np.ones(13), response=(-1.0, 1.0))
MARITAL = Attribute((2, 3), [[1, -1], [-1, 1], [-1, -1]])
TRAIN = 296_000


# --- claims: exact ones


def test_attack_and_best_attacker_in_the_toy_worlds():
    """Both accuracies from the joint law, written out outcome by outcome."""
    answers = {}
    for x, y in itertools.product((0, 1), (0, 1, 2)):
        posterior = [share * (0.8 if y == x + s else 0.1) for s, share in ((0, 0.6), (1, 0.4))]
        answers[x, y] = int(posterior[1] > posterior[0])
    for name, one in (("independent", (0.4, 0.4)), ("dependent", (0.1, 0.7))):
        attack = best = 0.0
        for x, y in itertools.product((0, 1), (0, 1, 2)):
            law = [0.5 * share * (0.8 if y == x + s else 0.1) for s, share in ((0, 1 - one[x]), (1, one[x]))]
            attack += law[answers[x, y]]
            best += max(law)
        assert attack == pytest.approx(value("BA-MI-DEF", f"{name}_attack"), abs=1e-9)
        assert best == pytest.approx(value("BA-MI-DEF", f"{name}_best"), abs=1e-9)


def best_accuracy(prior, epsilon):
    """The best guessing channel by a linear programme over all epsilon-private ones: F[w, v] = P(guess v | w)."""
    k = len(prior)
    rows, sums = [], np.zeros((k, k * k))
    for w, u, v in itertools.product(range(k), repeat=3):
        if w != u:
            row = np.zeros((k, k))
            row[w, v], row[u, v] = 1, -math.exp(epsilon)
            rows.append(row.ravel())
    for w in range(k):
        sums[w, w * k : (w + 1) * k] = 1
    found = optimize.linprog(
        -np.diag(prior).ravel(), A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(k)
    )
    return -found.fun


@pytest.mark.parametrize(("name", "epsilon"), [("tenth", 0.1), ("eight_tenths", 0.8), ("large", 3.2)])
def test_bound_for_members(name, epsilon):
    assert best_accuracy([0.5, 0.3, 0.2], epsilon) == pytest.approx(value("BA-MI-SMALL", name), abs=1e-6)


# what one change of marital status, from single to married, moves: with 11 other predictors and a response of one,
# 2 x 11 monomials 2 x_j x_k by 4 each, and 2 monomials 2 t x_j (times |cross| / 2) by 4 each
QUADRATIC = {"linear": 88.0, "logistic": 88 / 8}


LINEAR = {"linear": 8.0, "logistic": 2.0}
PARTS = {"linear": (2 * 13**2, 4 * 13), "logistic": (13**2 / 4, 3 * 13)}
PRINTED = {"linear": 2 * 14**2, "logistic": 13**2 / 4 + 3 * 13}


def by_hand(task, method, ratio=0.01, share=None):
    first, second = PARTS[task]
    if method == "fm":
        return (QUADRATIC[task] + LINEAR[task]) / PRINTED[task]
    if method == "dpc":  # every monomial moved holds a sensitive dummy, and gets a hundredth of the others' budget
        normal = 1 / (1 - 2 / 13 + 2 / 13 * ratio)
        return (QUADRATIC[task] + LINEAR[task]) / (first + second) * normal * ratio
    share = share or first**2 / (first**2 + second)
    return QUADRATIC[task] / first * share + LINEAR[task] / second * (1 - share)


@pytest.mark.parametrize("task", ["linear", "logistic"])
def test_attribute_epsilon_of_dpc_and_fm(task):
    for method in ("fm", "dpc"):
        assert by_hand(task, method) == pytest.approx(value("BA-MI-DPC", f"{task}_{method}"), abs=1e-6)
    assert by_hand(task, "dpc") < by_hand(task, "fm") / 50


@pytest.mark.parametrize("task", ["linear", "logistic"])
def test_dpba_hides_the_attribute_less_than_dpc(task):
    ratio = by_hand(task, "dpba") / by_hand(task, "dpc")
    assert ratio == pytest.approx(value("BA-MI-BETTER", task), abs=1e-4)
    for other in np.linspace(0.01, 0.99, 50):  # 004 prints no ratio
        assert by_hand(task, "dpc", ratio=other) < by_hand(task, "dpba")


@pytest.mark.parametrize("task", ["linear", "logistic"])
def test_dpba_hides_the_attribute_less_than_fm(task):
    ratio = by_hand(task, "dpba") / by_hand(task, "fm")
    assert ratio == pytest.approx(value("BA-MI-RANDOM", task), abs=1e-5)
    assert ratio > 1
    less = by_hand(task, "dpba", share=0.1) / by_hand(task, "fm")
    assert less == pytest.approx(value("BA-MI-RANDOM", f"{task}_tenth"), abs=1e-5)
    assert less < 1


@pytest.mark.parametrize("task", ["linear", "logistic"])
def test_the_order_of_the_defences_stays_at_equal_certified_epsilon(task):
    """What each method asks for and what it spends differ; per unit spent DPC still hides best and DPBA least."""
    loss = TAYLOR if task == "logistic" else SQUARED
    laws = {
        "fm": functional(BOX, 1.0, sensitivity="printed", convention="monomial", loss=loss),
        "dpc": budget_split.dpc(BOX, 1.0, (2, 3), loss=loss),
        "dpba": budget_split.dpba(BOX, 1.0, loss=loss),
    }
    each = {name: by_hand(task, name) / certify(law, BOX, loss=loss) for name, law in laws.items()}
    assert each["dpba"] / each["dpc"] > 75
    assert each["dpba"] > each["fm"] > 60 * each["dpc"]
    less = budget_split.dpba(BOX, 1.0, split=0.1, loss=loss)
    assert by_hand(task, "dpba", share=0.1) / certify(less, BOX, loss=loss) < each["fm"]
    dpc = {ratio: budget_split.dpc(BOX, 1.0, (2, 3), loss=loss, ratio=ratio) for ratio in (0.01, 0.1)}
    ratios = {ratio: inversion.attribute_epsilon(scales, MARITAL, loss) for ratio, scales in dpc.items()}
    assert 8 < ratios[0.1] / ratios[0.01] < 10


def test_no_share_brings_dpba_near_dpc():
    shared = {"none": 0.0, "half": 0.5, "all": 1.0}
    for name, alpha in shared.items():
        assert 88 / 338 * alpha + 8 / 52 * (1 - alpha) == pytest.approx(value("BA-MI-ADJUST", name), abs=1e-6)
    assert by_hand("linear", "dpc") == pytest.approx(value("BA-MI-ADJUST", "dpc"), abs=1e-6)
    found = [
        inversion.attribute_epsilon(budget_split.dpba(BOX, 1.0, split=a), MARITAL) for a in np.linspace(0.01, 0.99, 21)
    ]
    assert min(found) > 50 * by_hand("linear", "dpc")


# --- claims: simulated ones, with code that shares nothing with the library but the generated records


def noisy_fits(M, v, epsilon, task, rng):
    """Coefficients of the three methods, from M and v of one population."""
    p, fm = len(v), PRINTED[task] / epsilon
    first, second = PARTS[task]
    share, other = first**2 / (first**2 + second), (first + second) / epsilon * (1 - 2 / 13 + 2 / 13 * 0.01)
    less = np.where(np.isin(np.arange(p), (2, 3)), 100.0, 1.0)
    laws = {
        "fm": (np.full((p, p), fm), np.full(p, fm)),
        "dpc": (other * np.maximum(less[:, None], less), other * less),
        "dpba": (np.full((p, p), first / share / epsilon), np.full(p, second / (1 - share) / epsilon)),
    }
    for name, (scale_M, scale_v) in laws.items():
        E = np.triu(rng.laplace(size=(p, p)) * scale_M * (1 + np.eye(p)) / 2)
        values, Q = np.linalg.eigh(M + E + np.triu(E, 1).T)
        keep, lift = values > 0, 4 * math.sqrt(2) * fm
        noisy_v = v + rng.laplace(size=p) * scale_v
        yield name, -Q[:, keep] @ ((Q[:, keep].T @ noisy_v) / (values[keep] + lift)) / 2


def attacked(f, y, s2, prior):
    """Best value for each target, from its predictions f under the three values; ties go to the larger prior."""
    order = np.argsort(-prior)
    score = np.log(prior)[order, None] - (y - f[order]) ** 2 / (2 * s2)
    return order[score.round(9).argmax(axis=0)]


def one_population(seed, size=10_000):
    people = census("US", random_state=seed)
    low, high = np.array([people.bounds[name] for name in people.names]).T
    Z = 2 * (people.X - low) / (high - low) - 1
    t = 2 * people.y / 100_000 - 1
    label = np.where(people.y > 50_000, 1.0, -1.0)
    truth = np.where(Z[:, 2] > 0, 0, np.where(Z[:, 3] > 0, 1, 2))
    values = np.array([[1, -1], [-1, 1], [-1, -1]])
    prior = np.bincount(truth[:TRAIN]) / TRAIN
    A, rng = Z[:TRAIN], np.random.default_rng(seed + 10**6)
    M, v, v_label = A.T @ A, -2 * A.T @ t[:TRAIN], -A.T @ label[:TRAIN] / 2
    row = {}
    models = {"none": np.linalg.solve(M, -v / 2)}
    for epsilon in (0.1, 0.8, 3.2):
        models |= {f"{name} {epsilon}": w for name, w in noisy_fits(M, v, epsilon, "linear", rng)}
        for name, w in noisy_fits(M / 8, v_label, epsilon, "logistic", rng):
            row["wrong", f"{name} {epsilon}"] = ((Z[TRAIN:] @ w > 0) != (label[TRAIN:] > 0)).mean()
    for place, who in (("inside", slice(0, size)), ("outside", slice(TRAIN, TRAIN + size))):
        row["mode", place] = (truth[who] == 1).mean()
        for name, w in models.items():
            s2 = ((t[:TRAIN] - A @ w) ** 2).sum() / (TRAIN - 13)
            rest = Z[who] @ w - Z[who][:, 2:4] @ w[2:4]
            f = rest + (values @ w[2:4])[:, None]
            for marginals, p in (("marginals", prior), ("none", np.ones(3) / 3)):
                guess = attacked(f, t[who], s2, p)
                row[name, marginals, place] = (guess == truth[who]).mean()
    for name, w in models.items():
        row["mse", name] = ((t[TRAIN:] - Z[TRAIN:] @ w) ** 2).mean()
    free = np.column_stack([np.delete(Z, (2, 3), axis=1), t])
    public, who = slice(TRAIN + size, TRAIN + 3 * size), slice(TRAIN, TRAIN + size)
    row["no model", "outside"] = (
        LogisticRegression(max_iter=1000).fit(free[public], truth[public]).score(free[who], truth[who])
    )
    return row


@cache
def simulated(repeats=3):
    rows = [one_population(1000 + seed) for seed in range(repeats)]
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def agrees(found, claim, name):
    """A claim's value is the mean of 60 populations, and its tolerance four standard errors against a mean of 20."""
    wide = tolerance(claim, name) * math.sqrt((1 / len(found) + 1 / 60) / (1 / 20 + 1 / 60))
    return abs(np.mean(found) - value(claim, name)) <= wide


@pytest.mark.thorough
def test_other_dummy_gives_the_attribute_away():
    people = census("US", random_state=1000)
    single, married = people.X[:, 2] == 1, people.X[:, 3] == 1
    assert not (single & married).any()
    assert married.mean() == pytest.approx(value("BA-MI-ADV", "mode"), abs=tolerance("BA-MI-ADV", "mode"))
    # right about every single person, and about the married among the others, who are the majority there
    near = tolerance("BA-MI-ADV", "other_dummy")
    assert (single | married).mean() == pytest.approx(value("BA-MI-ADV", "other_dummy"), abs=near)


@pytest.mark.thorough
def test_attack_is_the_prior_mode():
    found = simulated()
    np.testing.assert_array_equal(found["none", "marginals", "outside"], found["mode", "outside"])
    assert (found["none", "none", "outside"] < 1 / 3).all()  # a blind guess
    assert (found["no model", "outside"] > found["mode", "outside"] + 0.2).all()


@pytest.mark.thorough
def test_membership_adds_nothing():
    found = simulated()
    for name, marginals in (("marginals", "marginals"), ("no_marginals", "none")):
        difference = found["none", marginals, "inside"] - found["none", marginals, "outside"]
        assert agrees(difference, "BA-MI-TRAIN", name)


@pytest.mark.thorough
def test_no_method_had_anything_to_reduce():
    found = simulated()
    gain = found["none", "marginals", "outside"] - found["mode", "outside"]
    assert (gain == 0).all()
    for name in ("fm", "dpc", "dpba"):
        gain = found[f"{name} 0.8", "marginals", "outside"] - found["mode", "outside"]
        assert gain.mean() < 0.05  # the ruined models of DPBA are above the mode, by a hundredth or so


def test_dpba_does_not_fit_better_than_dpc():
    found = simulated()
    for name, epsilon in (("tenth", 0.1), ("eight_tenths", 0.8), ("large", 3.2)):
        ratio = np.log10(found["mse", f"dpba {epsilon}"] / found["mse", f"dpc {epsilon}"])
        assert agrees(ratio, "BA-MI-FIT", name), name
        assert value("BA-MI-FIT", name) > tolerance("BA-MI-FIT", name)


def test_dpba_classifies_worse_at_small_budgets_and_no_better_at_large_ones():
    found = simulated()
    for name, epsilon in (("tenth", 0.1), ("large", 3.2)):
        difference = found["wrong", f"dpba {epsilon}"] - found["wrong", f"dpc {epsilon}"]
        assert agrees(difference, "BA-MI-FIT-LOG", name), name
    assert value("BA-MI-FIT-LOG", "tenth") > tolerance("BA-MI-FIT-LOG", "tenth")
    assert tolerance("BA-MI-FIT-LOG", "large") > abs(value("BA-MI-FIT-LOG", "large"))


def test_a_smaller_budget_costs_the_functional_mechanism_accuracy():
    found = simulated()
    for name, epsilon in (("tenth", 0.1), ("eight_tenths", 0.8), ("large", 3.2)):
        assert agrees(found["mse", f"fm {epsilon}"] / found["mse", "none"], "BA-MI-UTILITY", name), name
    assert value("BA-MI-UTILITY", "tenth") - 1 > tolerance("BA-MI-UTILITY", "tenth")


# --- the attack


MODEL = np.array([1.0, 2.0, -1.0])  # of two inputs and a dummy each


def line(rows):
    return rows @ MODEL


def test_attack_by_hand():
    """Two targets, three values, unit variance; the sensitive attribute takes the last two columns."""
    attribute = Attribute((1, 2), [[1, 0], [0, 1], [0, 0]], prior=[0.2, 0.3, 0.5])
    # target 1: x = 1, predictions 3, 0, 1; target 2: x = -1, predictions 1, -2, -1
    found = inversion.scores(line, [[1, 9, 9], [-1, 9, 9]], [3.0, -2.0], attribute, inversion.gaussian_error(4, 7, 3))
    log = [math.log(share) for share in (0.2, 0.3, 0.5)]
    expected = [
        [log[0], log[1] - 4.5, log[2] - 2.0],
        [log[0] - 4.5, log[1], log[2] - 0.5],
    ]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    # log 0.3 = -1.204 against log 0.5 - 0.5 = -1.193: the prior wins for the second target
    guess = inversion.map_attack(
        line, [[1, 9, 9], [-1, 9, 9]], [3.0, -2.0], attribute, inversion.gaussian_error(4, 7, 3)
    )
    assert guess.tolist() == [0, 2]


def test_confusion_by_hand():
    y, predicted = [0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1, 0]
    error = inversion.confusion_error(y, predicted)
    # counts: label 0 -> (2, 1), label 1 -> (1, 3); plus one: predicted 0 has 3 and 2, predicted 1 has 2 and 4
    table = {(0, 0): 3 / 5, (1, 0): 2 / 5, (0, 1): 2 / 6, (1, 1): 4 / 6}
    for (label, prediction), share in table.items():
        assert np.exp(error(np.array([label]), np.array([[prediction]]))).item() == pytest.approx(share)
    one_class = inversion.confusion_error([0, 1, 1], [1, 1, 1])
    assert np.exp(one_class(np.array([0]), np.array([[0]]))).item() == pytest.approx(0.5)


def test_error_models_of_a_stack_are_those_of_each_model():
    rng = np.random.default_rng(1)
    y, f, targets = rng.integers(0, 2, 50), rng.integers(0, 2, (4, 50)), rng.integers(0, 2, 7)
    inputs = rng.integers(0, 2, (4, 3, 7))
    stacked = inversion.confusion_error(y, f)(targets, inputs)
    rss = rng.uniform(1, 2, 4)
    gaussian = inversion.gaussian_error(rss, 50, 3)(targets, inputs)
    for k in range(4):
        np.testing.assert_allclose(stacked[k], inversion.confusion_error(y, f[k])(targets, inputs[k]))
        np.testing.assert_allclose(gaussian[k], -((targets - inputs[k]) ** 2) / (2 * rss[k] / 47))


def brute(predict, X, y, sensitive, error, unknown):
    """The definition, one target, value and completion at a time, in probabilities."""
    out = np.zeros((len(X), len(sensitive.values)))
    for i, v in itertools.product(range(len(X)), range(len(sensitive.values))):
        for codes in itertools.product(*(range(len(other.values)) for other in unknown)):
            row, weight = X[i].copy(), sensitive.prior[v]
            row[list(sensitive.columns)] = sensitive.values[v]
            for other, code in zip(unknown, codes, strict=True):
                row[list(other.columns)] = other.values[code]
                weight *= other.prior[code]
            pi = np.exp(error(y[i : i + 1], np.atleast_2d(predict(row[None]))).item())
            out[i, v] += weight * pi
    return out


@given(seed=st.integers(0, 10**6), more=st.integers(0, 2))
@settings(max_examples=40, deadline=None)
def test_scores_are_the_definition(seed, more):
    rng = np.random.default_rng(seed)
    X, y, theta = rng.normal(size=(4, 5)), rng.normal(size=4), rng.normal(size=5)
    attributes = [
        Attribute((0, 3), [[1, 0], [0, 1], [0, 0]], prior=rng.dirichlet(np.ones(3))),
        Attribute((1,), [[-1.0], [2.0]], prior=rng.dirichlet(np.ones(2))),
        Attribute((4,), [[0.0], [1.0], [5.0]]),
    ]
    error = inversion.gaussian_error(rng.uniform(5, 50), 20, 5)
    given_ = (lambda rows: rows @ theta, X, y, attributes[0], error, attributes[1 : 1 + more])
    expected = brute(*given_)
    np.testing.assert_allclose(np.exp(inversion.scores(*given_)), expected, rtol=1e-9)
    np.testing.assert_array_equal(inversion.map_attack(*given_), expected.argmax(axis=1))


def test_posterior_in_a_world_where_everything_is_known():
    """s, u and x are independent and y depends on f(s, u, x) by a known table: the score is the exact posterior."""
    p, q, r = np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.4]), np.array([0.7, 0.3])
    table = np.random.default_rng(3).dirichlet(np.ones(5), size=5)  # row f, column y
    s, u, x, y = np.meshgrid(range(3), range(2), range(2), range(5), indexing="ij")
    joint = p[s] * q[u] * r[x] * table[s + u + x, y]
    sensitive, unknown = Attribute((0,), [[0], [1], [2]], prior=p), Attribute((1,), [[0], [1]], prior=q)
    posterior = joint.sum(axis=1)
    posterior = posterior / posterior.sum(axis=0)
    best = joint.sum(axis=1).max(axis=0).sum()
    X = np.array([[9, 9, known] for known in range(2) for _ in range(5)])
    seen = np.tile(np.arange(5), 2)

    def log_pi(y, f):
        return np.log(table[f.astype(int), y.astype(int)])

    found = np.exp(inversion.scores(lambda rows: rows.sum(axis=1), X, seen, sensitive, log_pi, [unknown]))
    np.testing.assert_allclose(found / found.sum(axis=1, keepdims=True), posterior.reshape(3, 10).T, atol=1e-12)
    guess = inversion.map_attack(lambda rows: rows.sum(axis=1), X, seen, sensitive, log_pi, [unknown])
    accuracy = joint.sum(axis=1).reshape(3, 10)[guess, np.arange(10)].sum()
    assert accuracy == pytest.approx(best)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_features_in_another_order(seed):
    rng = np.random.default_rng(seed)
    X, y, theta, order = rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=4), rng.permutation(4)
    one = Attribute((1, 2), [[1, 0], [0, 1], [0, 0]], prior=[0.5, 0.3, 0.2])
    moved = Attribute(tuple(int(np.flatnonzero(order == c)[0]) for c in one.columns), one.values, one.prior)
    error = inversion.gaussian_error(10.0, 20, 4)
    np.testing.assert_array_equal(
        inversion.map_attack(lambda rows: rows @ theta, X, y, one, error),
        inversion.map_attack(lambda rows: rows @ theta[order], X[:, order], y, moved, error),
    )


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_values_in_another_order(seed):
    """With different shares the guessed value does not depend on the order of the list, ties included."""
    rng = np.random.default_rng(seed)
    X, y, theta, order = rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=4), rng.permutation(3)
    theta[1] *= rng.integers(0, 2)  # often a tie of two values, as the second column then counts for nothing
    one = Attribute((1, 2), [[1, 0], [0, 1], [0, 0]], prior=[0.5, 0.3, 0.2])
    moved = Attribute(one.columns, one.values[order], one.prior[order])
    error = inversion.gaussian_error(10.0, 20, 4)
    first = inversion.map_attack(lambda rows: rows @ theta, X, y, one, error)
    second = inversion.map_attack(lambda rows: rows @ theta, X, y, moved, error)
    np.testing.assert_array_equal(one.values[first], moved.values[second])


def test_ties_go_to_the_larger_prior_then_to_the_smaller_code():
    flat, log_pi = (lambda rows: np.zeros(len(rows))), inversion.gaussian_error(1.0, 9, 1)
    X, y = np.zeros((2, 1)), np.array([0.3, -4.0])
    for prior, expected in (([0.2, 0.5, 0.3], 1), ([0.2, 0.4, 0.4], 1), (None, 0)):
        attribute = Attribute((0,), [[1.0], [2.0], [3.0]], prior=prior)
        assert inversion.map_attack(flat, X, y, attribute, log_pi).tolist() == [expected, expected]
        assert attribute.mode == expected
    # rounding does not decide: the last value is better by less than a float can mean here

    def tilted(rows):
        return 1e-13 * (rows[:, 0] == 3.0)

    assert inversion.map_attack(tilted, X[:1], y[:1], attribute, log_pi).tolist() == [0]


@given(shares_=st.lists(st.floats(0.01, 1), min_size=2, max_size=5), seed=st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_a_model_without_information_gives_the_mode(shares_, seed):
    rng = np.random.default_rng(seed)
    k = len(shares_)
    attribute = Attribute((1,), np.arange(k)[:, None], prior=shares_)
    X = np.column_stack([rng.normal(size=40), rng.choice(k, 40, p=attribute.prior)])
    y = rng.normal(size=40)
    labels = (y > 0).astype(float)
    for error, target, predict in (
        (inversion.gaussian_error(3.0, 40, 2), y, lambda rows: rows[:, 0] * 2.0),
        (inversion.confusion_error(labels, X[:, 0] > 0), labels, lambda rows: rows[:, 0] > 0),
    ):
        guess = inversion.map_attack(predict, X, target, attribute, error)
        assert (guess == int(np.argmax(shares_))).all()
        own = inversion.accuracy(predict, X, target, attribute, error)
        assert own == pytest.approx((X[:, 1] == np.argmax(shares_)).mean())


@pytest.mark.thorough
@given(
    w=st.floats(-3, 3).filter(lambda w: abs(w) > 0.01),
    s2=st.floats(0.1, 4),
    share=st.floats(0.5, 0.99),
    residual=st.floats(-20, 20),
)
@settings(max_examples=200, deadline=None)
def test_residual_that_moves_the_guess_off_the_mode(w, s2, share, residual):
    attribute = Attribute((0,), [[0.0], [1.0]], prior=[share, 1 - share])
    needed = s2 / abs(w) * math.log(share / (1 - share)) + abs(w) / 2
    if abs(np.sign(w) * residual - needed) > 1e-6:
        guess = inversion.map_attack(
            lambda rows: w * rows[:, 0], [[7.0]], [residual], attribute, inversion.gaussian_error(s2 * 5, 6, 1)
        )
        assert guess.tolist() == [int(np.sign(w) * residual > needed)]


def test_the_attack_never_reads_what_it_guesses():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    X[:, 1] = rng.integers(0, 2, 30)
    hidden = X.copy()
    hidden[:, 1] = 99.0
    attribute, error = Attribute((1,), [[0.0], [1.0]], prior=[0.5, 0.5]), inversion.gaussian_error(30.0, 30, 3)
    np.testing.assert_array_equal(
        inversion.map_attack(line, X, y, attribute, error), inversion.map_attack(line, hidden, y, attribute, error)
    )
    tree = DecisionTreeClassifier(random_state=0)
    np.testing.assert_array_equal(
        inversion.guess_without_model(X, y, X, y, attribute, tree),
        inversion.guess_without_model(X, y, hidden, y, attribute, tree),
    )


# --- baselines


def test_attacker_without_a_model_is_a_classifier_of_the_other_columns():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(200, 4)), rng.normal(size=200)
    X[:, 2] = (X[:, 0] + y + rng.normal(size=200) > 0).astype(float)
    attribute = Attribute((2,), [[0.0], [1.0]])
    guess = inversion.guess_without_model(X[:100], y[:100], X[100:], y[100:], attribute, LogisticRegression())
    seen = np.column_stack([X[:, 0], X[:, 1], X[:, 3], y])
    expected = LogisticRegression().fit(seen[:100], X[:100, 2]).predict(seen[100:])
    np.testing.assert_array_equal(guess, expected)
    assert (guess == X[100:, 2]).mean() > 0.7


def test_accuracy_table_by_hand():
    frame = inversion.accuracy_table({"a": ([0.4, 0.6, 0.8], [0.5, 0.5, 0.5])}).iloc[0]
    spread = math.sqrt(0.08 / 2 / 3)
    assert frame[["inside", "outside", "difference"]].tolist() == pytest.approx([0.6, 0.5, 0.1])
    assert frame[["s.e. inside", "s.e. outside", "s.e. difference"]].tolist() == pytest.approx([spread, 0, spread])


# --- what privacy promises


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=4), st.floats(0.01, 5))
@settings(max_examples=40, deadline=None)
def test_accuracy_bound_is_the_best_private_channel(weights, epsilon):
    prior = np.array(weights) / sum(weights)
    bound = float(inversion.accuracy_bound(prior, epsilon))
    assert bound == pytest.approx(best_accuracy(prior, epsilon), abs=1e-7)
    assert prior.max() - 1e-12 <= bound <= min(1, prior.max() * math.exp(epsilon)) + 1e-12


def test_accuracy_bound_is_attained_by_the_channel_of_the_proof():
    prior, epsilon = np.array([0.5, 0.3, 0.2]), 0.8
    best = 0.0
    for m in (1, 2, 3):
        F = np.full((3, m), 1 / m)
        F[:m] = 1 / (math.exp(epsilon) + m - 1)
        F[np.arange(m), np.arange(m)] *= math.exp(epsilon)
        np.testing.assert_allclose(F.sum(axis=1), 1)
        assert np.log(F.max(axis=0) / F.min(axis=0)).max() <= epsilon + 1e-12
        best = max(best, (prior[:m] * F[np.arange(m), np.arange(m)]).sum())
    assert best == pytest.approx(float(inversion.accuracy_bound(prior, epsilon)))


def test_accuracy_bound_limits_and_stacks():
    priors = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    both = inversion.accuracy_bound(priors, 0.7)
    assert both.tolist() == pytest.approx([float(inversion.accuracy_bound(p, 0.7)) for p in priors])
    np.testing.assert_allclose(inversion.accuracy_bound(priors, 1e-9), [0.5, 0.8], atol=1e-8)
    np.testing.assert_allclose(inversion.accuracy_bound(priors, 50.0), 1.0)
    np.testing.assert_allclose(inversion.accuracy_bound(priors[:, ::-1], 0.7), both)


def test_odds_of_a_one_dimensional_release_change_by_at_most_e_to_the_epsilon():
    """Sum x + Laplace(2 / epsilon), x in [-1, 1]; others known, or beliefs about them that do not depend on v."""
    epsilon, o = 0.9, np.linspace(-30, 30, 6001)

    def density(v, rest):
        return stats.laplace.pdf(o, rest + v, 2 / epsilon)

    rest, weight = np.array([-3.0, 0.5, 4.0]), np.array([0.2, 0.5, 0.3])
    mixed = {v: sum(w * density(v, r) for r, w in zip(rest, weight, strict=True)) for v in (-1, 0, 1)}
    for law in ({v: density(v, 0.0) for v in (-1, 0, 1)}, mixed):
        for v, w in itertools.permutations((-1, 0, 1), 2):
            assert np.log(law[v] / law[w]).max() <= epsilon + 1e-9
    known = np.log(density(1, 0.0) / density(-1, 0.0))
    assert known.max() == pytest.approx(epsilon)
    # beliefs that do depend on v: against the world where the record enters with w, again a factor of e^epsilon
    given_v = {1: np.array([0.9, 0.1, 0.0]), -1: np.array([0.0, 0.1, 0.9])}
    real = {v: given_v[v] @ np.array([density(v, r) for r in rest]) for v in (1, -1)}
    fixed = {v: given_v[v] @ np.array([density(-1, r) for r in rest]) for v in (1, -1)}
    change = np.log(real[1] / real[-1]) - np.log(fixed[1] / fixed[-1])
    assert np.abs(change).max() <= epsilon + 1e-9
    assert np.abs(np.log(real[1] / real[-1])).max() > epsilon  # the odds themselves move by more: the population


def test_strongest_attack_on_a_one_dimensional_release():
    """v x with |v| = 1 and Laplace noise of scale 2 / epsilon: the sign is right 1 - e^(-epsilon/2)/2."""
    for epsilon in (0.3, 1.0, 4.0):
        candidates = Quadratic(np.ones((2, 1, 1)), np.array([[-1.0], [1.0]]), np.zeros(2))
        scales = Scales([[1.0]], [2 / epsilon])
        o = np.linspace(-20, 20, 401)
        noisy = Quadratic(np.ones((401, 1, 1)), o[:, None], np.zeros(401))
        guess = inversion.strongest_attack(noisy, candidates, scales, [0.5, 0.5])
        np.testing.assert_array_equal(guess[np.abs(o) > 1e-9], (o > 0)[np.abs(o) > 1e-9])
        exact = 1 - math.exp(-epsilon / 2) / 2
        assert exact <= float(inversion.accuracy_bound([0.5, 0.5], epsilon))
        drawn = perturb(candidates, scales, 4, draws=(20_000,))
        right = (inversion.strongest_attack(drawn, candidates, scales, [0.5, 0.5]) == np.arange(2)).mean()
        assert abs(right - exact) < 4 * math.sqrt(exact * (1 - exact) / 40_000)


def test_membership_bound():
    """The largest difference of two probabilities that privacy allows, by a linear programme."""
    for epsilon in (0.05, 0.5, 2.0):
        e = math.exp(epsilon)
        rows = [[1, -e], [-e, 1], [-1, e], [e, -1]]
        found = optimize.linprog([-1, 1], A_ub=rows, b_ub=[0, 0, e - 1, e - 1], bounds=[(0, 1)] * 2)
        assert -found.fun == pytest.approx(inversion.membership_bound(epsilon))


def test_member_against_stranger_exactly():
    """Three people with independent bits; the release is a randomised sum, the attacker guesses a bit from it."""
    epsilon, p = 0.7, 0.3
    total = np.arange(4)
    law = np.exp(-epsilon * np.abs(total[:, None] - total))  # row: truth; exponential weights, 2 epsilon at most
    law /= law.sum(axis=1, keepdims=True)
    spent = np.log(np.maximum(law[1:] / law[:-1], law[:-1] / law[1:])).max()
    others = stats.binom.pmf(np.arange(3), 2, p)
    for rule in itertools.product((0, 1), repeat=4):
        rule = np.array(rule)
        inside = sum(others[k] * (p if v else 1 - p) * law[k + v][rule == v].sum() for k in range(3) for v in (0, 1))
        one = sum(stats.binom.pmf(k, 3, p) * law[k][rule == 1].sum() for k in range(4))
        outside = p * one + (1 - p) * (1 - one)
        assert abs(inside - outside) <= inversion.membership_bound(spent) + 1e-12
        assert outside <= max(p, 1 - p) + 1e-12  # strangers: no more than the prior


# --- the attribute by itself


def loss_of(scales, one, two, loss):
    """Privacy losses between pairs of records (t, x), coefficient by coefficient."""
    one, two, p, total = one.T, two.T, scales.p, 0.0
    for j in range(p):
        total += abs(loss.cross) * np.abs(one[0] * one[1 + j] - two[0] * two[1 + j]) / scales.v[j]
        for k in range(p) if scales.ordered else range(j, p):
            change = loss.square * np.abs(one[1 + j] * one[1 + k] - two[1 + j] * two[1 + k])
            total += np.divide(change, scales.M[j, k], out=np.zeros_like(change), where=change != 0)
    return total


@given(seed=st.integers(0, 10**6), ordered=st.booleans(), labels=st.booleans())
@settings(max_examples=30, deadline=None)
def test_attribute_epsilon_is_the_worst_pair(seed, ordered, labels):
    rng, loss = np.random.default_rng(seed), TAYLOR if labels else SQUARED
    p, columns = 4, (1, 3)
    M = rng.uniform(0.5, 3, (p, p))
    scales = Scales(M if ordered else np.triu(M) + np.triu(M, 1).T, rng.uniform(0.5, 3, p), ordered=ordered)
    attribute = Attribute(columns, [[1, -1], [-1, 1], [-1, -1], [0.5, 0.25]])
    claimed = inversion.attribute_epsilon(scales, attribute, loss)
    corners = np.array(list(itertools.product((-1, 1), repeat=3)))
    worst = 0.0
    for a, b in itertools.combinations(attribute.values, 2):
        for others, exact in ((corners, True), (rng.uniform(-1, 1, (20, 3)), False)):
            t, first, last = others.T
            one, two = (np.column_stack([t, first, 0 * t + v[0], last, 0 * t + v[1]]) for v in (a, b))
            largest = loss_of(scales, one, two, loss).max()
            assert largest <= claimed + 1e-9
            worst = max(worst, largest) if exact else worst
    assert worst == pytest.approx(claimed)
    box = Box(-np.ones(p), np.ones(p), response=(-1.0, 1.0))
    assert claimed <= certify(scales, box, loss=loss) + 1e-9


def test_attribute_epsilon_with_a_constant_column_and_no_noise_on_its_square():
    box = Box([-1.0, -1.0], [1.0, 1.0], response=(-1.0, 1.0), intercept=True)
    scales = functional(box, 1.0)
    assert scales.M[0, 0] == 0
    attribute = Attribute((2,), [[-1.0], [1.0]])
    # M_02 and M_12 move by 2, v_2 by 4
    expected = 2 / scales.M[0, 2] + 2 / scales.M[1, 2] + 4 / scales.v[2]
    assert inversion.attribute_epsilon(scales, attribute) == pytest.approx(expected)
    hidden = replace(scales, M=np.where(np.eye(3)[2] + np.eye(3)[:, [2]] > 0, 0.0, scales.M))
    assert inversion.attribute_epsilon(hidden, attribute) == math.inf


def test_strongest_attack_is_bayes_and_stays_below_the_bound():
    rng, prior = np.random.default_rng(9), np.array([0.5, 0.3, 0.2])
    scales = functional(BOX, 6.0)
    row = np.tile(rng.uniform(-1, 1, 14), (3, 1))
    row[:, [3, 4]] = MARITAL.values
    rest = linear(rng.uniform(-1, 1, (20, 13)), rng.uniform(-1, 1, 20), BOX)
    candidates = Quadratic(
        rest.M + row[:, 1:, None] * row[:, None, 1:], rest.v - 2 * row[:, :1] * row[:, 1:], np.zeros(3)
    )
    drawn = perturb(candidates, scales, 10, draws=(4000,))
    guess = inversion.strongest_attack(drawn, candidates, scales, prior)
    upper = np.triu_indices(13)
    for i, v in itertools.product(range(5), range(3)):
        score = [
            math.log(prior[k])
            + stats.laplace.logpdf(drawn.M[i, v][upper], candidates.M[k][upper], scales.M[upper]).sum()
            + stats.laplace.logpdf(drawn.v[i, v], candidates.v[k], scales.v).sum()
            for k in range(3)
        ]
        assert guess[i, v] == np.argmax(score)
    right = (guess == np.arange(3)).mean(axis=0) @ prior
    bound = float(inversion.accuracy_bound(prior, inversion.attribute_epsilon(scales, MARITAL)))
    assert prior.max() < right <= bound + 4 * math.sqrt(0.25 / 4000)
    exact = inversion.strongest_attack(candidates, candidates, scales.times(1e-9), prior)
    assert exact.tolist() == [0, 1, 2]


@pytest.mark.parametrize("ordered", [False, True])
def test_strongest_attack_reads_every_number_that_is_published(ordered):
    """Bayes' rule coefficient by coefficient, the constant too; what has no noise no value may move."""
    rng, prior = np.random.default_rng(12), np.array([0.4, 0.35, 0.25])
    M = rng.uniform(1, 3, (2, 2)) if ordered else np.array([[0.0, 2.0], [0.0, 1.5]])  # the lower half is never drawn
    scales = Scales(M, rng.uniform(1, 3, 2), c=0.7, ordered=ordered)
    spread = rng.normal(size=(3, 2, 2))
    spread[:, 0, 0] = 5.0
    exact = Quadratic(spread + np.swapaxes(spread, 1, 2), rng.normal(size=(3, 2)), rng.normal(size=3))
    drawn = perturb(exact, scales, 3, draws=(200,))
    guess = inversion.strongest_attack(drawn, exact, scales, prior)
    used = list(itertools.product(range(2), repeat=2)) if ordered else [(0, 1), (1, 1)]
    for i, v in itertools.product(range(200), range(3)):
        score = np.log(prior) - np.abs(drawn.c[i, v] - exact.c) / 0.7
        for j, k in used:
            score -= np.abs(drawn.M[i, v, j, k] - exact.M[:, j, k]) / M[j, k]
        score -= (np.abs(drawn.v[i, v] - exact.v) / scales.v).sum(axis=1)
        assert guess[i, v] == np.argmax(score)


def test_on_a_smaller_domain_the_attribute_epsilon_is_an_upper_bound():
    """In the corner the other entries are at most 1 / sqrt(d), so no pair is as bad as one in the box."""
    box = Box(np.zeros(4), np.ones(4), response=(-1.0, 1.0), corner=True)
    scales, rng = functional(box, 1.0), np.random.default_rng(4)
    claimed = inversion.attribute_epsilon(scales, Attribute((1,), [[0.0], [0.5]]))
    one = np.column_stack([rng.uniform(-1, 1, 200), rng.uniform(0, 0.5, (200, 4))])
    two = one.copy()
    one[:, 2], two[:, 2] = 0.0, 0.5
    assert (loss_of(scales, one, two, SQUARED) < claimed).all()


def test_search_over_neighbours_stays_below_the_attribute_epsilon_of_everything():
    """With every column sensitive, the attribute's pairs are pairs of whole records with one response."""
    box = Box([-1.0, -1.0], [1.0, 1.0], response=(-1.0, 1.0))
    scales = functional(box, 1.0, convention="monomial")
    corners = Attribute((0, 1), list(itertools.product((-1.0, 1.0), repeat=2)))
    assert inversion.attribute_epsilon(scales, corners) <= worst_pair(scales, box, random_state=0).loss + 1e-9
