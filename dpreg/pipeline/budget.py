"""Budgets that cap a ledger, and the one place where privacy is paid for."""

from __future__ import annotations

import importlib
import math
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import BudgetError, InputError
from dpreg.noise import RandomState
from dpreg.pipeline.ledger import Ledger, Spend

T = TypeVar("T")


@checked
class Budget:
    """A cap on what one data set may spend; it refuses a release before any noise is drawn.

    Give it to a release, or release inside `with budget:`, where every release of this process is charged, in all of
    its threads; then also those inside a function that takes no budget. Budgets inside each other are all charged.
    A budget cannot be copied, pickled or sent to another process: each copy would spend all of it. What was spent can:
    `Budget(1.0, ledger=ledger)` goes on from a ledger.

    Parameters
    ----------
    epsilon : float
    delta : float
        Zero to allow pure differential privacy only.
    rho : float
        In place of epsilon: a budget in zCDP, which Gaussian noise fits. `accounting.rho_for` gives the rho of an
        epsilon and a delta.
    ledger : Ledger, optional
        What was spent before.

    Examples
    --------
    >>> budget = Budget(1.0)
    >>> budget.charge(Spend("a count", "Laplace", "replace", "L1", 1.0, 2.0, 0.75))
    >>> budget.remaining
    0.25
    >>> with Budget(rho=0.5) as budget:
    ...     count, _ = pay(Spend("a count", "Gauss", "replace", "L2", 1.0, 2.0, math.inf, zcdp=0.125), noise.generator)
    >>> budget
    Budget(rho=0.5, remaining=0.375)
    """

    def __init__(
        self,
        epsilon: float | None = None,
        delta: float = 0.0,
        *,
        rho: float | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        if (epsilon is None) == (rho is None):
            raise InputError(f"epsilon is {epsilon} and rho is {rho}: give one of them")
        self._zcdp = rho is not None
        self._cap = checks.positive(rho, "rho") if epsilon is None else checks.positive(epsilon, "epsilon")
        self._delta = checks.chance(delta, "delta", zero=True)
        if self._zcdp and self._delta:
            raise InputError(f"delta is {delta:g}: a budget in rho has none, give Budget(rho=rho_for(epsilon, delta))")
        self._ledger, self._process = Ledger(), os.getpid()
        if ledger is not None:
            checks.instance(ledger, Ledger, "ledger")
            self._ledger = self._after(ledger)

    @property
    def epsilon(self) -> float:
        """The cap on epsilon; infinite for a budget in zCDP."""
        return math.inf if self._zcdp else self._cap

    @property
    def delta(self) -> float:
        """The cap on delta."""
        return self._delta

    @property
    def rho(self) -> float:
        """The cap on rho; infinite for a budget in epsilon."""
        return self._cap if self._zcdp else math.inf

    @property
    def ledger(self) -> Ledger:
        """What was spent."""
        return self._ledger

    @property
    def remaining(self) -> float:
        """What is left to spend, of epsilon or of rho."""
        return max(0.0, self._cap - self._cost(self._ledger))

    @property
    def remaining_delta(self) -> float:
        """What is left to spend of delta."""
        return max(0.0, self._delta - self._ledger.delta)

    def charge(self, spend: Spend | Ledger) -> None:
        """Add a spend or all of a ledger, or raise `BudgetError` and add nothing; 1 in 10^12 is forgiven as rounding.

        A seed is refused the second time: composition needs fresh noise, and two releases with the same draws at
        different scales give away the data.
        """
        ledger = Ledger((spend,)) if isinstance(spend, Spend) else spend
        checks.instance(ledger, Ledger, "spend")
        charge([self], ledger)

    def _cost(self, ledger: Ledger) -> float:
        return ledger.rho if self._zcdp else ledger.epsilon

    def _after(self, new: Ledger) -> Ledger:
        """Return the ledger after this one is added, or raise."""
        if os.getpid() != self._process:
            raise BudgetError("this budget is of another process, which would not notice: release in that process")
        total, kind = self._ledger + new, "a rho of " if self._zcdp else ""
        if not self._cost(total) <= self._cap * (1 + 1e-12):
            raise BudgetError(
                f"this release costs {kind}{self._cost(new):.6g} and {self.remaining:.6g} of {self._cap:g} is left: "
                "use more noise, or stop here"
            )
        if not self._zcdp and not total.delta <= self._delta * (1 + 1e-12):
            raise BudgetError(f"this release costs a delta of {new.delta:.3g}, over {self._delta:g}: stop here")
        return total

    def __enter__(self) -> Budget:
        with LOCK:
            if self in LIVE:
                raise BudgetError("this budget counts already: leave its with block first")
            LIVE.append(self)
            _tell_workers()
        return self

    def __exit__(self, *_: object) -> None:
        with LOCK:
            LIVE.remove(self)
            _tell_workers()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise BudgetError(
            "a live budget cannot be copied, pickled or sent to another process, where it would be spent again: "
            "release here, with n_jobs=1 or in threads, or keep budget.ledger"
        )

    def __repr__(self) -> str:
        delta = f", delta={self._delta:g}" if self._delta else ""
        return f"Budget({'rho' if self._zcdp else 'epsilon'}={self._cap:g}{delta}, remaining={self.remaining:g})"


LOCK = threading.RLock()
LIVE: list[Budget] = []  # those whose with block is open
OWNER = "DPREG_BUDGET"  # the process whose budgets are live, for the processes it starts


@checked
def charge(budgets: Sequence[Budget], ledger: Ledger) -> None:
    """Charge all of these budgets, or none if one of them refuses.

    Examples
    --------
    >>> ledger = Ledger((Spend("a count", "Laplace", "replace", "L1", 1.0, 2.0, 0.5),))
    >>> charge(budgets := [Budget(1.0), Budget(2.0)], ledger)
    >>> [budget.remaining for budget in budgets]
    [0.5, 1.5]
    """
    with LOCK:
        after = [budget._after(ledger) for budget in budgets]
        for budget, total in zip(budgets, after, strict=True):
            budget._ledger = total


def _tell_workers() -> None:
    """Let processes that start from now on know whether a budget is live, and make joblib start new ones."""
    if LIVE:
        os.environ[OWNER] = str(os.getpid())
    else:
        os.environ.pop(OWNER, None)
    if "joblib.externals.loky" in sys.modules:
        importlib.import_module("joblib.externals.loky").get_reusable_executor().shutdown(wait=True)


@checked
def pay(
    cost: Spend | Ledger,
    draw: Callable[[RandomState], T],
    random_state: RandomState = None,
    budget: Budget | None = None,
    *,
    origin: str = "",
) -> tuple[T, Ledger]:
    """Charge the budget, then draw: all privacy is paid for here.

    Parameters
    ----------
    cost : Spend or Ledger
        As certified.
    draw : function of a random state
        What is released; it is not called if a budget refuses. If it fails, the charge stays: it may have drawn.
    random_state : None, int, SeedSequence or Generator
        `None` for a real release. A seed is for study, and the ledger says so; a generator is refused where a budget
        counts, because nothing can tell which of its draws were used before, in a copy of it.
    budget : Budget, optional
        Without one, and outside `with budget:`, nobody keeps count but the caller, who gets the ledger.
    origin : str
        Where the draws come from, if they are not numpy's and cannot be repeated; then there is no `random_state`.

    Returns
    -------
    released, ledger

    Examples
    --------
    >>> spend, budget = Spend("a count", "Laplace", "replace", "L1", 1.0, 2.0, 0.5), Budget(1.0)
    >>> count, ledger = pay(spend, lambda state: 7 + float(noise.laplace(2.0, (), state)), 1, budget)
    >>> ledger.epsilon, budget.remaining
    (0.5, 0.5)
    """
    ledger = Ledger((cost,)) if isinstance(cost, Spend) else cost
    checks.instance(ledger, Ledger, "cost")
    if origin and random_state is not None:
        raise InputError(f"random_state is {random_state!r}, and {origin} takes no seed: leave it out")
    ledger = ledger.drawn(origin or noise.origin(random_state))  # a bad one is refused before anything is charged
    if budget is not None:
        checks.instance(budget, Budget, "budget")
    if not LIVE and os.environ.get(OWNER, str(os.getpid())) != str(os.getpid()):
        raise BudgetError(
            "this process was started inside `with budget:` of another one, which would not notice what is released "
            "here: release there, with n_jobs=1 or in threads"
        )
    counting = [*LIVE, *([] if budget is None or budget in LIVE else [budget])]
    if counting and isinstance(random_state, np.random.Generator):
        raise InputError("random_state is a Generator, and a budget cannot tell what it drew before: give None")
    charge(counting, ledger)
    return draw(random_state), ledger
