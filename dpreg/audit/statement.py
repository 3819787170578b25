"""What a mechanism states of itself, in a form that every layer of an audit can hold it to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpreg.checks import FloatArray, Neighbours
from dpreg.noise import RandomState
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.ledger import Ledger, Spend

RELATIONS: tuple[Neighbours, ...] = ("replace", "add_remove")
Price = tuple[float, float, float]  # epsilon, delta, rho


@dataclass(frozen=True)
class Setting:
    """What is asked of a mechanism.

    Parameters
    ----------
    domain : Box or Ball
    epsilon : float
        Or rho, for a mechanism that takes that.
    neighbours : {"replace", "add_remove"}
    """

    domain: Box | Ball
    epsilon: float
    neighbours: Neighbours

    def __str__(self) -> str:
        constant = " and a constant" if self.domain.intercept else ""
        return f"d = {self.domain.d}{constant}, {self.neighbours}"


@dataclass(frozen=True)
class Step:
    """Numbers that get noise together.

    Parameters
    ----------
    name : str
    exact : function of (X, y)
        Returns the numbers before the noise, of shape (k,). Records may be outside the domain, which clips them.
    loss : function of an array of shape (..., k)
        Returns the privacy loss of changing the numbers by so much, of shape (...), from the noise that is stated.
    price : float
        What the ledger charges for them, in the same units.
    climb : function of a generator, optional
        A search of its own, for what has one: it returns a loss that some neighbours reach.
    """

    name: str
    exact: Callable[[FloatArray, FloatArray], FloatArray]
    loss: Callable[[FloatArray], FloatArray]
    price: float
    climb: Callable[[np.random.Generator], float] | None = None


@dataclass(frozen=True)
class Sample:
    """Noise that was drawn, in units of the scale that is stated.

    Parameters
    ----------
    name : str
    values : array of shape (draws, m)
        Independent of each other if the mechanism is sound.
    law : frozen distribution of scipy, or what has `cdf`, `mean` and `var` like one
    absolute : float
        Mean absolute value under that law.
    """

    name: str
    values: FloatArray
    law: Any
    absolute: float


def cube(d: int, intercept: bool) -> Box:
    """Return the box from -1 to 1, with a response from -1 to 1.

    Examples
    --------
    >>> cube(2, False).lower
    (-1.0, -1.0)
    """
    return Box(-np.ones(d), np.ones(d), (-1.0, 1.0), intercept=intercept)


def labelled(d: int, intercept: bool) -> Box:
    """Return the box from -1 to 1 with the labels 0 and 1.

    Examples
    --------
    >>> labelled(1, True).response
    (0.0, 1.0)
    """
    return Box(-np.ones(d), np.ones(d), (0.0, 1.0), intercept=intercept)


def ball(d: int, intercept: bool) -> Ball:
    """Return the unit ball, with a response from -1 to 1.

    Examples
    --------
    >>> ball(2, False).radius
    1.0
    """
    return Ball(np.zeros(d), 1.0, (-1.0, 1.0), intercept=intercept)


def per_scale(spend: Spend, setting: Setting) -> Price:
    """Return what an entry of pure privacy has to say: sensitivity over scale, and the rho of that epsilon.

    Examples
    --------
    >>> setting = Setting(cube(1, False), 0.5, "replace")
    >>> per_scale(Spend("a count", "Laplace", "replace", "L1", 1.0, 2.0, 0.5), setting)[:2]
    (0.5, 0.0)
    """
    epsilon = spend.sensitivity / spend.scale
    return epsilon, 0.0, epsilon * math.tanh(epsilon / 2)  # the best rho of pure privacy (Bun and Steinke, 2016)


def gaussian_price(spend: Spend, setting: Setting) -> Price:
    """Return what an entry of Gaussian noise has to say: half the square of sensitivity over scale, as rho.

    Examples
    --------
    >>> setting = Setting(cube(1, False), 0.5, "replace")
    >>> gaussian_price(Spend("a count", "Gauss", "replace", "L2", 1.0, 2.0, math.inf, zcdp=0.125), setting)
    (inf, 0.0, 0.125)
    """
    return math.inf, 0.0, (spend.sensitivity / spend.scale) ** 2 / 2


@dataclass(frozen=True)
class Declared:
    """A public mechanism: how to run it, and what its ledger and its noise are said to be.

    Parameters
    ----------
    name : str
    release : function of (X, y, setting, random_state)
        Returns the released numbers and the ledger.
    steps : function of setting
        Returns the steps whose sensitivity can be searched for.
    samples : function of (setting, size, generator)
        Returns samples of about so many numbers.
    norms : tuple of str
        That its ledger may name.
    domain : function of (d, intercept)
    labels : bool
        The response is one of the two ends of its bounds.
    price : function of (spend, setting)
        Returns the epsilon, delta and rho of an entry, worked out from its sensitivity and scale.
    spends : {"epsilon", "rho", "at most", "as certified"}
        What the total is to be equal to, or at most; "as certified" if the mechanism promises no total of its own.
    exact : function of (X, y, setting), optional
        The released numbers without the noise, where noise is all that is added.
    study : function of (X, y, setting, random_state), optional
        The same draw by the way that experiments take.
    fit : function of (X, y, setting, random_state), optional
        Coefficients, in scaled units.
    goal : function of (X, y, setting), optional
        What `fit` tends to for a large epsilon.
    density : function of (X, y, setting), optional
        With one column: returns the log density of the released coefficient on a public grid, of shape (k,).
    answer : function of (X, y, setting, random_state), optional
        The coefficients that a fitted model shows, and those that follow from the release it shows.
    seeded : bool
        A seed repeats its draws.
    lossless : bool
        Copies of all records leave the goal where it is, and so do other names and signs of the columns.
    largest : int, optional
        Number of predictors that it takes at most.
    any_records : bool
        It answers for any records: few, or none where one may be added.
    scarce : bool
        Its samples are small, for each of their numbers takes a run of its own.
    """

    name: str
    release: Callable[[FloatArray, FloatArray, Setting, RandomState], tuple[FloatArray, Ledger]]
    steps: Callable[[Setting], tuple[Step, ...]]
    samples: Callable[[Setting, int, np.random.Generator], list[Sample]]
    norms: tuple[str, ...]
    domain: Callable[[int, bool], Box | Ball] = cube
    labels: bool = False
    price: Callable[[Spend, Setting], Price] = per_scale
    spends: Literal["epsilon", "rho", "at most", "as certified"] = "epsilon"
    exact: Callable[[FloatArray, FloatArray, Setting], FloatArray] | None = None
    study: Callable[[FloatArray, FloatArray, Setting, RandomState], FloatArray] | None = None
    fit: Callable[[FloatArray, FloatArray, Setting, RandomState], FloatArray] | None = None
    goal: Callable[[FloatArray, FloatArray, Setting], FloatArray] | None = None
    density: Callable[[FloatArray, FloatArray, Setting], FloatArray] | None = None
    answer: Callable[[FloatArray, FloatArray, Setting, RandomState], tuple[FloatArray, FloatArray]] | None = None
    seeded: bool = True
    lossless: bool = True
    largest: int | None = None
    any_records: bool = True
    scarce: bool = False

    def settings(self, sizes: tuple[int, ...], epsilon: float = 0.7) -> Iterator[Setting]:
        """Return an iterator over all settings with so many predictors, with and without a constant."""
        for d in sizes if self.largest is None else [d for d in sizes if d <= self.largest]:
            for intercept in (False, True):
                domain = self.domain(d, intercept)
                if domain.intercept == intercept:  # some mechanisms fix it
                    yield from (Setting(domain, epsilon, relation) for relation in RELATIONS)

    def records(self, d: int, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return records inside the domain, of shape (n, d) and (n,)."""
        low, high = (0.0 if self.labels else -1.0), 1.0
        X = rng.uniform(-1.0, 1.0, (n, d)) / math.sqrt(d)  # in the box and in the ball
        y = rng.uniform(low, high, n)
        return X, np.where(y > (low + high) / 2, high, low) if self.labels else y
