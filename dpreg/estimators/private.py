"""scikit-learn estimators: scale, release once, repair, solve, and back to the user's units. Nothing else is theirs."""

from __future__ import annotations

from typing import Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError, Neighbours
from dpreg.estimators import records
from dpreg.estimators.records import Bounds
from dpreg.estimators.words import LabelMechanism, LabelWord, Mechanism, law_for
from dpreg.mechanisms.objective_perturbation import objective_perturbation, share_for
from dpreg.noise import RandomState
from dpreg.pipeline import guarantee, lattice, objective, repair, solve
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Ball, Box, Domain
from dpreg.pipeline.objective import Loss, Quadratic
from dpreg.pipeline.release import Release, Sampler, release
from dpreg.pipeline.solve import NONE, Penalty
from dpreg.pipeline.surrogates import chebyshev


class _Private(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What the two estimators share."""

    domain: Bounds
    epsilon: float
    mechanism: Any  # each has words of its own
    delta: float = 0.0
    neighbours: Neighbours
    penalty: Penalty | None
    random_state: RandomState
    sampler: Sampler
    bits: int
    penalise_intercept: bool
    domain_: Domain

    @property
    def _lattice(self) -> int | None:
        """The bits of the lattice, if the noise is to be discrete."""
        bits = lattice.allowed(self.bits)
        return None if checks.choice(self.sampler, ("numpy", "opendp"), "sampler") == "numpy" else bits

    def _minimise(self, f: Quadratic, budget: Budget | None) -> FloatArray:
        """Release the objective, keep what may be published, and return the scaled coefficients."""
        domain = f.domain
        assert domain is not None  # the objective was built with it
        penalty = NONE if self.penalty is None else self.penalty
        checks.instance(penalty, Penalty, "penalty")
        free = not checks.flag(self.penalise_intercept, "penalise_intercept") and domain.intercept
        n = round(float(f.M[0, 0]) / f.loss.square) if domain.intercept else None
        more: Any = {"neighbours": self.neighbours, "loss": f.loss, "delta": self.delta}
        law = law_for(self.mechanism, domain, self.epsilon, n, **more)
        records.no_generator(self.random_state)
        self.release_: Release = release(
            f, law, self.random_state, neighbours=self.neighbours, budget=budget, sampler=self.sampler
        )
        self.ledger_ = self.release_.ledger
        return solve.minimise(repair.lift(self.release_.objective, law), penalty, free=free)

    def _rows(self, X: Any, y: Any, unknown: dict[str, Any]) -> tuple[Any, Any, Domain]:
        """Let scikit-learn note the names and number of the columns, and return records and domain.

        The objective checks the rest.
        """
        records.refuse(unknown)
        X = X if hasattr(X, "shape") else checks.numeric(X, "X")
        y = records.response(y)
        self._noted(X, y=y)
        if checks.neighbours(self.neighbours) == "replace":  # otherwise how many there are is a secret
            checks.enough(X)
        return X, y, records.public_set(self.domain, (X.shape[1] or 1) if len(X.shape) == 2 else None)

    def __str__(self) -> str:
        return f"{self!r}\n{guarantee.text(self._statement)}" if hasattr(self, "ledger_") else repr(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Add the privacy statement of a fitted model to what scikit-learn shows in notebooks."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if hasattr(self, "ledger_"):
            bundle["text/plain"] = str(self)
            if "text/html" in bundle:
                bundle["text/html"] += guarantee.page(self._statement)
        return bundle

    @property
    def _statement(self) -> dict[str, list[str]]:
        return guarantee.statement(self.ledger_.spends, self.domain_)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what is taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _noted(self, X: Any, **more: Any) -> None:
        """Let scikit-learn compare names and number of the columns, or note them, and say what it says as we do."""
        try:
            validate_data(self, X, skip_check_array=True, **more)
        except (ValueError, TypeError) as error:
            raise InputError(f"{str(error).rstrip('.')}: pass X and y as they belong together") from None


class PrivateLinearRegression(RegressorMixin, _Private):  # type: ignore[misc]  # scikit-learn has no types
    """Least squares with epsilon-differential privacy, or with a delta.

    Parameters
    ----------
    domain : Box, Ball, or (lower, upper, (lowest, highest response))
        Public bounds, in the user's units, of the columns in their order; the three make a box with an intercept. One
        number for `lower` or `upper` is that of every column.
    epsilon : float
        What `fit` spends. A second fit on the same records spends it again.
    mechanism : {"mean first", "wishart", "laplace", "gaussian"} or function
        Noise on the moments (`wishart.difference`), after some on the mean of the response, so that few records at a
        small epsilon are not predicted worse than by their mean (`mean_first.mean_first`); or on the coefficients
        (`laws.functional`); or, with a delta, Gaussian noise on the moments after that on the mean. A function takes
        what `laws.functional` takes, and returns a `Law`; one that costs more than epsilon is refused.
    neighbours : {"replace", "add_remove"}
    penalty : Penalty, optional
        In scaled units; it goes with the sum of squares. Public. With alpha=0 it is the LASSO.
    random_state : None, int or SeedSequence
        `None` for a real release. A seed is for study, and the ledger says so: every fit draws the same noise, and the
        model keeps the seed, with which anybody can take the noise off again.
    sampler : {"numpy", "opendp"}
        `opendp` for what is to be published (see `release.release`): with `laplace`, `gaussian` or a function. The
        Wishart difference has no such sampler.
    delta : float
        Zero is pure privacy. `gaussian` needs one: the chance that no epsilon covers, such as 1e-6, well below one over
        the number of records.
    bits : int
        With `opendp`, of the lattice (see `objective.linear`).
    penalise_intercept : bool
        Let the penalty shrink the intercept too: a large one then pulls predictions to the middle of the response's
        bounds, and not to their mean.

    Attributes
    ----------
    coef_, intercept_ : array of shape (d,), float
        In the user's units.
    release_, ledger_ : Release, Ledger
        The noisy objective, and what it cost.
    domain_ : Box or Ball

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> box = Box([-0.2] * 10, [0.2] * 10, response=(0.0, 400.0), intercept=True)
    >>> model = PrivateLinearRegression(box, 1.0, random_state=0).fit(X, y)
    >>> round(model.ledger_.epsilon, 12), model.coef_.shape
    (1.0, (10,))
    """

    def __init__(
        self,
        domain: Bounds,
        epsilon: float = 1.0,
        *,
        mechanism: Mechanism = "mean first",
        neighbours: Neighbours = "replace",
        penalty: Penalty | None = None,
        random_state: RandomState = None,
        sampler: Sampler = "numpy",
        bits: int = 16,
        penalise_intercept: bool = False,
        delta: float = 0.0,
    ) -> None:
        self.domain = domain
        self.epsilon = epsilon
        self.mechanism = mechanism
        self.neighbours = neighbours
        self.penalty = penalty
        self.random_state = random_state
        self.sampler = sampler
        self.bits = bits
        self.penalise_intercept = penalise_intercept
        self.delta = delta

    @checked
    def fit(self, X: Any, y: Any, *, budget: Budget | None = None, **unknown: Any) -> Self:
        """Release the objective of these records, charge the budget if there is one, and minimise.

        Records beyond memory are Dask arrays, such as `stream.parquet` returns; sparse ones are filled block by block.

        Raises
        ------
        InputError
            For NaN, infinities, text, wrong shapes or parameters; for `sample_weight`, and several responses.
        BudgetError
            If the budget does not allow it.
        """
        X, y, domain = self._rows(X, y, unknown)
        model = domain.unscale(self._minimise(objective.linear(X, y, domain, bits=self._lattice), budget))
        self.domain_, self.coef_, self.intercept_ = domain, model.slopes, model.intercept
        return self

    @checked
    def predict(self, X: Any) -> FloatArray:
        """Return predictions of shape (n,), in units of the response."""
        check_is_fitted(self)
        rows = records.table(X)
        self._noted(X, reset=False)
        return np.asarray(self.intercept_ + rows @ self.coef_)


class PrivateLogisticRegression(ClassifierMixin, _Private):  # type: ignore[misc]  # scikit-learn has no types
    """Logistic regression with epsilon-differential privacy.

    Parameters
    ----------
    domain, epsilon, neighbours, penalty, random_state, sampler, bits, penalise_intercept
        See `PrivateLinearRegression`. The ends of the domain's response are the two labels, unless there are `classes`.
    mechanism : {"objective", "mean first", "wishart", "laplace"} or function
        Objective perturbation of the logistic loss itself (`objective_perturbation`, in the K-norm), which brings its
        own ridge. The others put a quadratic in its place and release that, as for `PrivateLinearRegression`; they
        alone take a `penalty`, a `loss`, or the sampler `opendp`.
    loss : Loss, optional
        The quadratic; by default `surrogates.chebyshev(4)`, made for probabilities from 1.8 to 98.2 per cent. With
        the Wishart difference and no penalty it scales all coefficients alike: it moves probabilities but no label.
    classes : pair, optional
        The two labels, of any kind, such as ("no", "yes"); they stand for the ends of the domain's response. Public,
        and never read off the data: that one of them is missing there is private.

    Attributes
    ----------
    coef_, intercept_ : array of shape (1, d), array of shape (1,)
        Of the log-odds of the upper label, in the user's units.
    classes_ : array of the two labels
        In sorted order, and of the kind they were given in.
    ledger_ : Ledger
    release_ : Release
        The noisy quadratic, if there is one.
    domain_ : Box or Ball

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 50, [0, 0, 1, 1] * 50
    >>> model = PrivateLogisticRegression(([0.0], [3.0], (0, 1)), 5.0, random_state=0).fit(X, y)
    >>> model.predict([[0.0], [3.0]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        domain: Bounds,
        epsilon: float = 1.0,
        *,
        mechanism: LabelMechanism = "objective",
        neighbours: Neighbours = "replace",
        penalty: Penalty | None = None,
        random_state: RandomState = None,
        sampler: Sampler = "numpy",
        bits: int = 16,
        penalise_intercept: bool = False,
        loss: Loss | None = None,
        classes: ArrayLike | None = None,
    ) -> None:
        self.domain = domain
        self.epsilon = epsilon
        self.mechanism = mechanism
        self.neighbours = neighbours
        self.penalty = penalty
        self.random_state = random_state
        self.sampler = sampler
        self.bits = bits
        self.penalise_intercept = penalise_intercept
        self.loss = loss
        self.classes = classes

    @checked
    def fit(self, X: Any, y: Any, *, budget: Budget | None = None, **unknown: Any) -> Self:
        """Release, charge and minimise, with the errors of `PrivateLinearRegression.fit`."""
        X, y, domain = self._rows(X, y, unknown)
        y, classes = records.labels(y, self.classes, domain)
        own = self.mechanism
        if not callable(own) and checks.choice(own, get_args(LabelWord), "mechanism") == "objective":
            theta = self._perturb(X, y, domain, budget)
        else:
            loss = chebyshev(4.0) if self.loss is None else self.loss
            theta = self._minimise(objective.logistic(X, y, domain, loss, bits=self._lattice), budget)
        model = domain.unscale(theta)
        middle = sum(domain.response) / 2  # unscale speaks of the response; log-odds have no units
        self.coef_ = model.slopes[None] / domain.half_width
        self.intercept_ = np.array([(model.intercept - middle) / domain.half_width])
        self.domain_, self.classes_ = domain, classes
        return self

    def _perturb(self, X: Any, y: Any, domain: Domain, budget: Budget | None) -> FloatArray:
        """Return the scaled coefficients of objective perturbation."""
        checks.flag(self.penalise_intercept, "penalise_intercept")
        lattice.allowed(self.bits)
        records.no_quadratic(self.penalty, self.loss, self.sampler)
        records.no_generator(self.random_state)
        assert isinstance(domain, Box | Ball)  # `public_set` has refused others
        settings: Any = {"neighbours": self.neighbours, "random_state": self.random_state, "budget": budget}
        share = share_for(domain.p)
        theta, self.ledger_ = objective_perturbation(X, y, domain, self.epsilon, share=share, norm="K", **settings)
        self.__dict__.pop("release_", None)  # of a fit with another mechanism
        return theta

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that there are two labels."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @checked
    def decision_function(self, X: Any) -> FloatArray:
        """Return the log-odds of the upper label, of shape (n,)."""
        check_is_fitted(self)
        rows = records.table(X)
        self._noted(X, reset=False)
        return np.asarray(self.intercept_[0] + rows @ self.coef_[0])

    @checked
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the two labels, of shape (n, 2)."""
        upper = expit(self.decision_function(X))
        return np.stack([1 - upper, upper], axis=1)

    @checked
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the more probable label, of shape (n,)."""
        upper = self.decision_function(X) > 0
        return np.asarray(self.classes_[upper.astype(int)])
