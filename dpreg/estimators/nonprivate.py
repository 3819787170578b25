"""The non-private twins, and the usual way to choose their penalty, through scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import InputError, PrivacyLeakWarning
from dpreg.pipeline.domain import Domain
from dpreg.pipeline.solve import Penalty

GRID = tuple(10.0 ** (k / 2) for k in range(-6, 7))


@checked
def twin(penalty: Penalty, n: int) -> Any:
    """Return the unfitted scikit-learn estimator with the same minimiser on n scaled records.

    scikit-learn minimises |y - X w|^2 / (2 n) + a (r |w|_1 + (1 - r) |w|_2^2 / 2), except for `Ridge`, which keeps
    the sum of squares; hence a r = l1 / (2 n) and a (1 - r) = l2 / n.

    Parameters
    ----------
    penalty : Penalty
    n : int
        Number of records it will be fitted to.

    Examples
    --------
    >>> twin(Penalty(2.0, alpha=0.0), n=100)
    Lasso(alpha=0.01, fit_intercept=False, max_iter=100000, tol=1e-10)
    """
    checks.count(n, "n", 2)
    options: dict[str, Any] = {"fit_intercept": False, "max_iter": 100_000, "tol": 1e-10}
    if penalty.lam == 0:
        return LinearRegression(fit_intercept=False)
    if penalty.l1 == 0:
        return Ridge(alpha=penalty.l2, fit_intercept=False)
    if penalty.l2 == 0:
        return Lasso(alpha=penalty.l1 / (2 * n), **options)
    lasso, ridge = penalty.l1 / (2 * n), penalty.l2 / n
    return ElasticNet(alpha=lasso + ridge, l1_ratio=lasso / (lasso + ridge), **options)


@checked
def choose_penalty(
    X: ArrayLike,
    y: ArrayLike,
    domain: Domain,
    alpha: float,
    *,
    grid: tuple[float, ...] = GRID,
    folds: int = 5,
    random_state: int = 0,
) -> Penalty:
    """Return the penalty with the smallest cross-validated squared error on the private records.

    That is what 000 does (Section 5.2). The choice is a function of the data that no noise protects, so a private
    fit that uses it is not differentially private at the epsilon of its noise: this warns.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,), in the user's units
    domain : Domain
    alpha : float
        Mixing, 1 for ridge and 0 for LASSO.
    grid : tuple of float
        Candidate values of `lam`, which goes with the sum of squares of whatever is fitted: a training part here.
    folds, random_state : int

    References
    ----------
    * 000: Dandekar, Basu and Bressan, Differential Privacy for Regularised Linear Regression, 2018.

    Examples
    --------
    >>> import warnings
    >>> from dpreg import Box
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> box = Box([-0.2] * 10, [0.2] * 10, response=(0.0, 400.0))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     choose_penalty(X, y, box, alpha=1.0, grid=(0.1, 1000.0)).lam
    0.1
    """
    warnings.warn(
        "a penalty chosen on private records is itself a release without noise: fix it in advance, "
        "choose it on public data, or pay for a private selection",
        PrivacyLeakWarning,
        stacklevel=3,
    )
    for lam in checks.vector(grid, "grid"):
        checks.positive(lam, "a candidate of grid")
    checks.count(folds, "folds", 2)
    checks.count(random_state, "random_state", 0, 2**32 - 1)
    Z, t = domain.scale(X, y)
    n = len(t)
    if folds > n:
        raise InputError(f"folds is {folds} for {n} records: give at most one per record")
    names: dict[str, Any] = {
        "scoring": "neg_mean_squared_error",
        "cv": KFold(folds, shuffle=True, random_state=random_state),
    }
    # The penalty goes with the sum of squares, in the folds too: the twins are those of a training part.
    estimators = [twin(Penalty(lam, alpha), n - n // folds) for lam in grid]
    keys = [key for key in ("alpha", "l1_ratio") if key in estimators[0].get_params()]
    search = GridSearchCV(
        estimators[0], [{k: [e.get_params()[k]] for k in keys} for e in estimators], refit=False, **names
    )
    search.fit(Z, t)
    return Penalty(grid[int(np.argmin(search.cv_results_["rank_test_score"]))], alpha)
