"""How sure the coefficients are: standard errors and intervals of a private least-squares fit, from its release alone.

All of it is post-processing. It sees no record, and costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.noise import RandomState, generator
from dpreg.pipeline import repair, solve
from dpreg.pipeline.domain import Domain, Model
from dpreg.pipeline.laws import Law
from dpreg.pipeline.objective import Quadratic, zero
from dpreg.pipeline.release import Release, perturb

LEVEL = 0.9
FEWEST = 100  # draws: fewer say little of a tail


@checked
@dataclass(frozen=True, eq=False)
class Uncertainty:
    """A fitted model, and draws from the estimated law of its error.

    Parameters
    ----------
    model : Model
        Intercept and slopes in the user's units: least squares, repaired by `repair.lift`, without a penalty.
    errors : array of shape (repeats, d + 1)
        Of intercept and slopes, fitted minus true.
    residual : float
        Estimated standard deviation of the response around the model, in its units.
    strength : float
        Of the released moments beside their noise: see `strength`. Below about four the lift moves the
        coefficients, and the interval of one of them may hold the truth less often than its level says.
    names : tuple of str
        Of the predictors, if their bounds have names.

    Examples
    --------
    >>> sure = Uncertainty(Model(1.0, np.array([2.0])), np.array([[0.0, 1.0], [0.0, -1.0]]), 0.5, 10.0)
    >>> sure.standard_errors.tolist(), sure.intervals(0.9).round(9).tolist()
    ([0.0, 1.0], [[1.0, 1.0], [1.1, 2.9]])
    """

    model: Model
    errors: FloatArray
    residual: float
    strength: float
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        wanted, found = len(self.model.slopes) + 1, np.shape(self.errors)
        if len(found) != 2 or found[1] != wanted or not found[0]:
            raise InputError(f"errors has shape {found}: give draws in rows, and {wanted} columns")

    @property
    def standard_errors(self) -> FloatArray:
        """Root mean square error of intercept and slopes, of shape (d + 1,)."""
        return np.asarray(np.sqrt((self.errors**2).mean(axis=0)))

    def intervals(self, level: float = LEVEL) -> FloatArray:
        """Return intervals that hold the true intercept and slopes with this chance each, of shape (d + 1, 2)."""
        return _between(np.r_[self.model.intercept, self.model.slopes], self.errors, level)

    def predictions(self, X: ArrayLike, level: float = LEVEL) -> FloatArray:
        """Return intervals of the mean response at each row of X, of shape (n, 2): of the true model's prediction."""
        centre = self.model.predict(X)
        rows = np.asarray(X, dtype=np.float64)
        return _between(centre, self.errors[:, :1] + self.errors[:, 1:] @ rows.T, level)

    def to_frame(self, level: float = LEVEL) -> pd.DataFrame:
        """Return a table: one row for the intercept and each slope, with estimate, standard error and interval."""
        names = ["intercept", *(self.names or (str(j) for j in range(len(self.model.slopes))))]
        low, high = self.intervals(level).T
        columns = {"estimate": np.r_[self.model.intercept, self.model.slopes], "standard error": self.standard_errors}
        return pd.DataFrame({**columns, "low": low, "high": high}, index=names)


@checked
def uncertainty(
    release: Release, *, n: int | None = None, repeats: int = 4000, random_state: RandomState = None
) -> Uncertainty:
    """Return the least-squares model of a release, and draws from the estimated law of its error.

    The error is that of the records, as classical theory has it, plus that of the noise, whose law is known: with M the
    lifted moments, s^2 the estimated variance around the model and theta the model in scaled units, a draw is

        -M^-1 (s M^(1/2) e + v' / 2 + M' theta),  e normal, (M', v') noise drawn again from the law.

    Parameters
    ----------
    release : Release
        Of `objective.linear`, with the sum of squared responses, as that of a fitted `PrivateLinearRegression`. What a
        penalty did to the estimator's own coefficients is not part of it.
    n : int, optional
        Number of records, for a domain without an intercept. With one the release holds it: exactly if it is public,
        else as noisy as it went out.
    repeats : int
        Number of draws, at least a hundred.
    random_state : None, int, SeedSequence or Generator
        Of these draws. They hide nothing, so a seed does no harm; it need not be that of the release.

    Raises
    ------
    InputError
        If the release withholds the sum of squares, or the number of records is missing, a secret, or too small.

    Examples
    --------
    >>> from dpreg.mechanisms.wishart import difference
    >>> from dpreg.pipeline.domain import Box
    >>> from dpreg.pipeline.objective import linear
    >>> from dpreg.pipeline.release import release
    >>> rng, box = np.random.default_rng(0), Box([0.0], [10.0], response=(0.0, 50.0), intercept=True)
    >>> x = rng.uniform(0, 10, (2000, 1))
    >>> out = release(linear(x, 5 + 3 * x[:, 0] + rng.normal(0, 4, 2000), box), difference(box, 1.0), random_state=1)
    >>> uncertainty(out, random_state=2).to_frame().round(1).loc["0"].tolist()
    [3.0, 0.1, 2.8, 3.1]
    """
    checks.count(repeats, "repeats", FEWEST)
    noisy, law, rng = release.objective, release.law, generator(random_state)
    if float(noisy.c) == 0.0:  # noise is continuous, so nothing else makes it zero
        raise InputError(
            "the release withholds the sum of squared responses, or is one of labels: release least squares with a "
            "law that has it, such as wishart.difference, or functional with constant=True"
        )
    freedom = _count(release, n) - noisy.p
    lifted = repair.lift(noisy, law)
    theta, M = solve.minimise(lifted), lifted.symmetric
    noise = perturb(zero(noisy.p), law, rng, draws=(repeats,))
    pull = noise.v / 2 + noise.M @ theta  # half the gradient of the noise
    inverse = np.linalg.inv(M)
    variance = _variance(noisy, theta, float((pull @ inverse * pull).sum(axis=1).mean()), freedom)
    sampled = math.sqrt(variance) * rng.standard_normal(pull.shape) @ np.linalg.cholesky(M).T
    errors = -(pull + sampled) @ inverse
    domain, residual = release.domain, release.domain.half_width * math.sqrt(variance)
    return Uncertainty(domain.unscale(theta), errors @ _units(domain), residual, strength(noisy, law), domain.names)


@checked
def strength(noisy: Quadratic, law: Law) -> float:
    """Return the smallest eigenvalue of D M D over the level of the noise on it, where D = diag(`Law.columns`).

    Examples
    --------
    >>> from dpreg.mechanisms.wishart import WishartDifference
    >>> law = WishartDifference([1.0, 1.0, 1.0], 2.0)
    >>> round(strength(Quadratic(float(law.level) * np.diag([5.0, 3.0]), np.zeros(2), np.array(0.0)), law), 9)
    3.0
    """
    if noisy.batch or law.batch or law.p != noisy.p:
        raise InputError(
            f"noisy has {noisy.p} columns, the law {law.p}, or one is a stack: give one of each that match"
        )
    if not law.level > 0:
        raise InputError("the law has no noise on M, so nothing to compare eigenvalues with: give one that has")
    w = law.columns
    return float(np.linalg.eigvalsh(noisy.symmetric * np.outer(w, w))[0] / law.level)


def _count(release: Release, n: int | None) -> float:
    """Return the number of records, as far as it is public."""
    domain, p = release.domain, release.objective.p
    if domain.intercept:
        if n is not None:
            raise InputError(f"n is {n}, and the release holds the number of records: leave n out")
        counted = float(release.objective.M[0, 0])
        if any(spend.neighbours == "add_remove" for spend in release.ledger.spends):
            return max(counted, p + 1.0)  # a noisy count may be anything
    elif n is None:
        raise InputError("the domain has no intercept, so the release does not hold the number of records: give n")
    elif any(spend.neighbours == "add_remove" for spend in release.ledger.spends):
        raise InputError(f"n is {n}, and under add_remove it is a secret: release with an intercept, which counts")
    else:
        counted = checks.count(n, "n")
    if counted <= p:
        raise InputError(f"n is {counted:g}, and there are {p} coefficients: release more records")
    return counted


def _variance(noisy: Quadratic, theta: FloatArray, optimism: float, freedom: float) -> float:
    """Return the variance around the model in scaled units; the minimum lies below the truth by the optimism."""
    return float(np.clip((float(noisy(theta)) + optimism) / freedom, 0.0, 1.0))  # responses are within [-1, 1]


@cache
def _units(domain: Domain) -> FloatArray:
    """Return the matrix of shape (p, d + 1) that makes errors of intercept and slopes of scaled ones."""
    zero, *units = (domain.unscale(theta) for theta in np.vstack([np.zeros(domain.p), np.eye(domain.p)]))
    matrix = np.array([np.r_[unit.intercept - zero.intercept, unit.slopes] for unit in units])
    matrix.flags.writeable = False  # the cache hands out this very array
    return matrix


def _between(centre: FloatArray, errors: FloatArray, level: float) -> FloatArray:
    """Return intervals around the centres: an estimate is off by its error, so the tails change sides."""
    tail = (1 - checks.chance(level, "level")) / 2
    least, most = np.quantile(errors, [tail, 1 - tail], axis=0)
    return np.stack([centre - most, centre - least], axis=-1)
