"""The twins in scikit-learn have the same minimiser, and choosing a penalty on private records warns."""

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, Ridge

from dpreg.checks import InputError, PrivacyLeakWarning
from dpreg.estimators.nonprivate import GRID, choose_penalty, twin
from dpreg.pipeline.domain import Box
from dpreg.pipeline.objective import linear
from dpreg.pipeline.solve import NONE, Penalty, minimise

BOX = Box([-2, -2, -2], [2, 2, 2], (-8, 12), intercept=True)


def data(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, 1 + X @ [2.0, 0.0, -1.0] + rng.normal(size=n)


@pytest.mark.parametrize(
    ("penalty", "kind"),
    [
        (NONE, LinearRegression),
        (Penalty(5.0), Ridge),
        (Penalty(5.0, 0.0), Lasso),
        (Penalty(5.0, 0.25), ElasticNet),
        (Penalty(0.3, 0.9), ElasticNet),
        (Penalty(0.0, 0.5), LinearRegression),
    ],
    ids=str,
)
def test_twins_agree(penalty, kind):
    X, y = data()
    Z, t = BOX.scale(X, y)
    estimator = twin(penalty, len(t))
    assert type(estimator) is kind
    np.testing.assert_allclose(estimator.fit(Z, t).coef_, minimise(linear(X, y, BOX), penalty), atol=1e-8)


@pytest.mark.parametrize("alpha", [0.0, 0.4, 1.0])
def test_the_penalty_chosen_has_the_smallest_cross_validated_error(alpha):
    X, y = data(60)
    grid = (0.01, 1.0, 30.0)
    with pytest.warns(PrivacyLeakWarning, match="release without noise"):
        chosen = choose_penalty(X, y, BOX, alpha, grid=grid, folds=4, random_state=3)
    Z, t = BOX.scale(X, y)
    from sklearn.model_selection import KFold

    errors = []
    for lam in grid:
        parts = KFold(4, shuffle=True, random_state=3).split(Z)
        fits = [(twin(Penalty(lam, alpha), len(a)).fit(Z[a], t[a]), b) for a, b in parts]
        errors.append(np.mean([np.mean((t[b] - fit.predict(Z[b])) ** 2) for fit, b in fits]))
    assert chosen == Penalty(grid[int(np.argmin(errors))], alpha)


def test_the_warning_points_at_the_caller():
    X, y = data(20)
    with pytest.warns(PrivacyLeakWarning) as caught:
        choose_penalty(X, y, BOX, 1.0, grid=(1.0, 2.0))
    assert caught[0].filename == __file__


def test_pure_noise_gets_the_largest_penalty():
    X, _ = data(40)
    y = np.random.default_rng(9).normal(size=40) * 0.01 + 2.0
    with pytest.warns(PrivacyLeakWarning):
        assert choose_penalty(X, y, BOX, 1.0).lam == max(GRID)


@pytest.mark.parametrize("grid", [(), (0.0, 1.0), (1.0, 0.0), (-1.0,)])
def test_grids_without_a_penalty_in_them_are_refused(grid):
    """A candidate of zero would be another estimator, and all candidates would then be compared as that one."""
    X, y = data(20)
    with pytest.warns(PrivacyLeakWarning), pytest.raises(InputError, match="grid"):
        choose_penalty(X, y, BOX, 1.0, grid=grid)


def test_a_grid_with_what_is_no_number_is_refused():
    with pytest.raises(InputError, match="grid is nan: give"):
        choose_penalty(*data(20), BOX, 1.0, grid=(1.0, float("nan")))
