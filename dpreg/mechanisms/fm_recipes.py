"""The functional mechanism twice: as 001 prints it, and as its authors coded it.

What is known of their code comes from reading it. It is described here in our own words; its source has no licence, so
nothing of it is here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from numpy.typing import ArrayLike

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.noise import RandomState, generator
from dpreg.pipeline import repair
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import Scales, unit_scales
from dpreg.pipeline.objective import SQUARED, TAYLOR, Loss, Quadratic
from dpreg.pipeline.release import perturb
from dpreg.pipeline.sensitivity import printed_linear, printed_logistic
from dpreg.pipeline.solve import minimise


@checked
@dataclass(frozen=True)
class Recipe:
    """The choices that turn 001's Algorithm 1 into a program.

    Parameters
    ----------
    corner : bool
        Scale predictors to [0, 1/sqrt(d)] (001, footnote 1) rather than to [-1, 1].
    intercept : bool
        Append a constant column, which is then noised and penalised like any other.
    room : float
        What the sensitivity for least squares allows for t^2, beside 2 p^2 + 4 p.
    convention : {"copied", "ordered"}
        Noise on the upper triangle of M, copied down (001, Section 6.1), or on all p^2 entries, which are then averaged
        with their mirror images.
    deviations : float
        The ridge, in standard deviations of the noise on the diagonal.
    floor : float
        Eigenvalues up to this one are trimmed.

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    >>> PAPER.sensitivity(13), CODE.sensitivity(14), CODE.sensitivity(14, TAYLOR)
    (392.0, 448.0, 91.0)
    """

    corner: bool
    intercept: bool
    room: float
    convention: Literal["copied", "ordered"]
    deviations: float
    floor: float

    def domain(self, lower: ArrayLike, upper: ArrayLike, response: tuple[float, float]) -> Box:
        """Return the box of these public bounds, scaled as the recipe says."""
        return Box(lower, upper, response, intercept=self.intercept, corner=self.corner)

    def sensitivity(self, p: int, loss: Loss = SQUARED) -> float:
        """Return the recipe's sensitivity for p columns: 2 p^2 + 4 p and its room, or p^2 / 4 + 3 p for labels."""
        if loss not in (SQUARED, TAYLOR):
            raise InputError(f"neither the paper nor the code knows {loss}: give SQUARED or TAYLOR")
        return printed_logistic(p) if loss.labels else printed_linear(p) - 2.0 + self.room

    def scales(self, domain: Box, epsilon: ArrayLike, loss: Loss = SQUARED) -> Scales:
        """Return one Laplace scale for all coefficients, sensitivity over epsilon; an array of epsilon is stacked."""
        if (domain.corner, domain.intercept) != (self.corner, self.intercept):
            raise InputError("the domain is scaled otherwise than the recipe says: build it with recipe.domain")
        unit = unit_scales(self.convention, domain.p, loss=loss)
        return unit.times(self.sensitivity(domain.p, loss) / checks.epsilons(epsilon))

    def repaired(self, noisy: Quadratic, scales: Scales) -> Quadratic:
        """Return the noisy objective averaged with its mirror image, lifted by the ridge, and trimmed."""
        averaged = replace(noisy, M=noisy.symmetric)
        return repair.trim(repair.ridge(averaged, repair.deviations(scales, self.deviations)), self.floor)

    def fit(self, objective: Quadratic, epsilon: ArrayLike, random_state: RandomState = None) -> FloatArray:
        """Return the coefficients of the mechanism, in scaled units: of smallest norm, and zero if nothing survives.

        Parameters
        ----------
        objective : Quadratic of shape (...), with its domain
        epsilon : float or array broadcastable to (...)
            One draw per entry of the broadcast shape.
        random_state : None, int, SeedSequence or Generator

        Returns
        -------
        array of shape (..., p)
        """
        if not isinstance(objective.domain, Box):
            raise InputError("the objective has no box as its domain: build it with objective.linear or logistic")
        scales = self.scales(objective.domain, epsilon, objective.loss)
        noisy = perturb(objective, scales, generator(random_state))
        return minimise(self.repaired(noisy, scales))


PAPER = Recipe(corner=True, intercept=False, room=2.0, convention="copied", deviations=4.0, floor=0.0)
CODE = Recipe(corner=False, intercept=True, room=0.0, convention="ordered", deviations=5.0, floor=1e-8)

# What the code does instead, in the order in which a record meets it.
CHANGES = {
    "box [-1, 1]": "corner",
    "constant column": "intercept",
    "no room for t²": "room",
    "p² draws, averaged": "convention",
    "ridge of 5 deviations": "deviations",
    "trim below 1e-8": "floor",
}


def path() -> dict[str, Recipe]:
    """Return the recipes on the way from the paper to the code, one more change at a time.

    Examples
    --------
    >>> steps = path()
    >>> list(steps)[0], list(steps.values())[-1] == CODE
    ('paper', True)
    """
    recipes, current = {"paper": PAPER}, PAPER
    for name in CHANGES:
        current = changed(current, name)
        recipes[name] = current
    return recipes


@checked
def changed(recipe: Recipe, change: str, to: Recipe = CODE) -> Recipe:
    """Return the recipe with one of `CHANGES` made: that choice taken from `to`.

    Examples
    --------
    >>> changed(PAPER, "ridge of 5 deviations").deviations, changed(CODE, "box [-1, 1]", to=PAPER).corner
    (5.0, True)
    """
    name = CHANGES[checks.choice(change, tuple(CHANGES), "change")]
    return replace(recipe, **{name: getattr(to, name)})
