"""Attacks on fits: whom they guess about, and what they get right."""

import math

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from dpreg.noise import seed_sequence, spawn
from dpreg.sweeps import splits
from dpreg.sweeps.experiment import CrossValidation, Holdout, no_privacy
from dpreg.sweeps.measures import measured
from dpreg.sweeps.methods import method_generator
from lib.papers.attacked_fits import _people, attacked, unaided
from lib.papers.fang import contenders
from tests.lib.papers import BOX, DATA, LABELS, LOSSES, MARITAL, partition


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
