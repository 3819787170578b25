"""The words for mechanisms that estimators and forecasts take, and the law of noise behind each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import InputError, Neighbours
from dpreg.mechanisms.mean_first import mean_first
from dpreg.mechanisms.wishart import difference
from dpreg.pipeline.domain import Domain
from dpreg.pipeline.laws import Law, certify, functional
from dpreg.pipeline.objective import Loss

# They stand here and nowhere else: other lists, messages and tables are made of these.
PureWord = Literal["mean first", "wishart", "laplace"]
Word = Literal[PureWord, "gaussian"]
LabelWord = Literal["objective", PureWord]
Mechanism = Word | Callable[..., Law]
LabelMechanism = LabelWord | Callable[..., Law]


@checked
def law_for(
    mechanism: Mechanism,
    domain: Domain,
    epsilon: float,
    n: int | None,
    *,
    neighbours: Neighbours,
    loss: Loss,
    delta: float = 0.0,
) -> Law:
    """Return the law of noise that an estimator with this `mechanism` uses, once it is known to cost no more.

    Parameters
    ----------
    mechanism : {"mean first", "wishart", "laplace", "gaussian"} or function
        See `PrivateLinearRegression`.
    domain : Domain
    epsilon : float
    n : int or None
        Number of records. It counts only where it is public: with an intercept, under replace.
    neighbours : {"replace", "add_remove"}
    loss : Loss
    delta : float
        For `gaussian`, which needs one; all others are pure, and a function has its own.

    Examples
    --------
    >>> from dpreg.pipeline.domain import Box
    >>> from dpreg.pipeline.objective import SQUARED
    >>> box = Box([0.0], [1.0], (0.0, 1.0))
    >>> law_for("laplace", box, 1.0, None, neighbours="replace", loss=SQUARED).name
    'Laplace'
    """
    public = n if domain.intercept and neighbours == "replace" else None
    makers: dict[Word, Callable[..., Law]] = {
        "mean first": partial(mean_first, n=public),
        "wishart": difference,
        "laplace": functional,
        "gaussian": partial(mean_first, n=public, delta=delta),
    }
    make = mechanism if callable(mechanism) else makers[mechanism]
    chance = checks.chance(delta, "delta", zero=True)
    if mechanism != "gaussian" and chance:
        raise InputError(f"delta is {delta:g}, and only mechanism='gaussian' spends one: choose it, or give delta=0")
    if mechanism == "gaussian" and not chance:
        raise InputError("delta is 0, and no epsilon covers Gaussian noise without one: give a delta such as 1e-6")
    spent = checks.budget(epsilon)
    law = make(domain, spent, neighbours=neighbours, loss=loss)
    if (cost := certify(law, domain, neighbours, loss)) > spent * (1 + 1e-9):
        raise InputError(f"the law costs {cost:g}, and epsilon is {spent:g}: scale its noise up")
    return law
