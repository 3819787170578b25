"""What the appendix says of two more rivals, again: record by record, with programs of its own."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris

from dpreg import Box, PrivateLinearRegression
from lib.data.datasets import wine

DELTA = 1e-6


def over_mean(errors, y, mean):
    return math.sqrt(np.mean(errors**2) / np.mean((y - mean) ** 2))


def test_as_many_models_as_the_exercise_says():
    """Boxes of one volume: the share of the widest is the least that any models have, by the terms one by one."""
    rate, least = (0.5 + math.log(1 - DELTA)) / 2, 1 + math.log(1 / (2 * DELTA)) / 0.5

    def reached(m):
        r, half = m // 4, m // 2
        risen = [
            sum(math.exp(rate * g) - math.exp(rate * (g - 1)) for g in range(1, half - r - k + 1)) for k in range(r)
        ]
        return next((k for k in range(r) if 1 / (1 + risen[k]) > DELTA), r)

    assert [m for m in range(4, 334) if reached(m) >= least] == [330, 331, 332, 333]
    assert 4 * least == pytest.approx(109, abs=0.5)


@pytest.mark.thorough
def test_a_deep_model_predicts_the_alcohol_of_wine_better_than_noisy_moments():
    """At a budget of ten: shells of one depth, drawn by rejection from the box around them."""
    data, found = wine(), []
    X, y = data.X[:, :-1], data.X[:, -1]
    box = Box(*np.transpose([data.bounds[name] for name in data.names[:-1]]), data.bounds["alcohol"], intercept=True)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        test, fit = np.split(rng.permutation(len(y)), [980])
        Z, t = box.scale(X[fit], y[fit])
        p, m = Z.shape[1], len(fit) // (4 * Z.shape[1])
        parts = np.arange(m * 4 * p).reshape(m, -1)
        low = np.sort([np.linalg.lstsq(Z[part], t[part])[0] for part in parts], axis=0)
        width = [np.prod(low[-i] - low[i - 1]) for i in range(m // 4, m // 2 + 1)]
        weight = -np.diff([*width, 0]) * np.exp(2.5 * np.arange(len(width)))
        i = m // 4 + rng.choice(len(width), p=weight / weight.sum())
        theta = rng.uniform(low[i - 1], low[-i])
        while i < m // 2 and ((low[i] <= theta) & (theta <= low[-i - 1])).all():
            theta = rng.uniform(low[i - 1], low[-i])
        tukey = box.unscale(theta).predict(X[test])
        options = {"mechanism": "gaussian", "delta": DELTA, "random_state": seed}
        ours = PrivateLinearRegression(box, 10.0, **options).fit(X[fit], y[fit]).predict(X[test])
        found.append([over_mean(y[test] - guess, y[test], y[fit].mean()) for guess in (tukey, ours)])
    tukey, ours = np.median(found, axis=0)
    assert tukey < 0.65 * ours


@pytest.mark.thorough
def test_two_medians_predict_the_petals_better_than_the_default():
    """At a budget of one: the medians by counting, with noise whose largest sum wins."""
    petals, found = load_iris().data, []
    x, y, places = petals[:, 2], petals[:, 3], np.linspace(0, 5, 100)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        test, fit = np.split(rng.permutation(150), [30])
        pairs, ends = fit.reshape(60, 2), []
        pairs = pairs[x[pairs[:, 0]] != x[pairs[:, 1]]]
        for cut in (2.5, 7.5):
            lines = [np.polyval(np.polyfit(x[pair], y[pair], 1), cut) for pair in pairs]
            score = [-abs(np.sum(lines < c) - np.sum(lines > c)) for c in places]
            ends.append(places[np.argmax(score + rng.exponential(8.0, 100))])
        guess = ends[0] + (ends[1] - ends[0]) * (x[test] - 2.5) / 5
        box = Box([0], [10], (0, 5), intercept=True)
        ours = PrivateLinearRegression(box, 1.0, random_state=seed).fit(x[fit, None], y[fit]).predict(x[test, None])
        found.append([over_mean(y[test] - one, y[test], y[fit].mean()) for one in (guess, ours)])
    medians, ours = np.median(found, axis=0)
    assert medians < 0.5 * ours
