"""The methods that 004 compares, and their repair."""

import math

import numpy as np
import pytest

from dpreg.attacks import inversion
from dpreg.mechanisms import budget_split
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import Scales, certify, functional
from dpreg.pipeline.objective import TAYLOR, Quadratic, linear
from dpreg.pipeline.release import perturb
from dpreg.sweeps.experiment import CrossValidation, Holdout, no_privacy
from lib.papers.fang import DPC_RATIO, contenders, every_split, privr, repaired
from tests.lib.papers import BOX, DATA, LABELS, LOSSES, YES_NO, partition


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
