"""Whoever takes a budget, and the ways to release through them: the one table that a new mechanism is entered in."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import dpreg
from dpreg.mechanisms import budget_split, filter_priority, histogram, irls
from dpreg.mechanisms.grid import partition
from dpreg.mechanisms.mean_first import mean_first
from dpreg.mechanisms.objective_perturbation import objective_perturbation
from dpreg.mechanisms.wishart import difference
from dpreg.pipeline import laws, objective, release, repair
from dpreg.pipeline.domain import Ball, Box

EPSILON = 0.5  # what every way below spends
MOMENTS = r"objective\.(M|v|c)"
FITTED = r"coef_|intercept_"
WITH_MOMENTS = rf"{FITTED}|release_(\.{MOMENTS})?"


@dataclass(frozen=True)
class Way:
    """A way to spend half an epsilon.

    Parameters
    ----------
    payer : str
        The public function that takes the budget, as module.name.
    run : function of (X, y, *, leaky=False, neighbours="replace", **paid)
        Releases for any two columns, with bounds from -1 to 1, that were read off the data if leaky. `paid` is
        `random_state` and `budget`, for the payer.
    released : str
        Pattern of the paths to the released numbers in what it returns.
    declared : str
        What states this mechanism in `dpreg.audit.declared.MECHANISMS`.
    delta : float
        What it spends beside.
    drawn : tuple of str
        Attributes whose length is released, too.
    """

    payer: str
    run: Callable[..., Any]
    released: str
    declared: str
    delta: float = 0.0
    drawn: tuple[str, ...] = ()


def box(leaky=False, intercept=False):
    return Box([-1, -1], [1, 1], (-1, 1), intercept=intercept, leaky=leaky)


def labelled(leaky=False):
    return Box([-1, -1], [1, 1], (0, 1), intercept=True, leaky=leaky)


def half(y):
    return (np.asarray(y) > 0).astype(float)


def public_number(X, neighbours):
    return len(X) if neighbours == "replace" else None


def counts(X, y, leaky):
    return histogram.count(X, y, partition(box(leaky), 3))


def laplace(X, y, *, leaky=False, neighbours="replace", **paid):
    law = laws.functional(box(leaky), 0.5, neighbours=neighbours)
    return release.release(objective.linear(X, y, box(leaky)), law, neighbours=neighbours, **paid)


def wishart(X, y, *, leaky=False, neighbours="replace", **paid):
    law = difference(box(leaky), 0.5, neighbours=neighbours)
    return release.release(objective.linear(X, y, box(leaky)), law, neighbours=neighbours, **paid)


def first_the_mean(X, y, *, leaky=False, neighbours="replace", **paid):
    domain = box(leaky, intercept=True)
    law = mean_first(domain, 0.5, public_number(X, neighbours), neighbours=neighbours)
    return release.release(objective.linear(X, y, domain), law, neighbours=neighbours, **paid)


def repeated(X, y, *, leaky=False, neighbours="replace", **paid):
    law = laws.functional(box(leaky), 0.25, neighbours=neighbours)
    return repair.retry(objective.linear(X, y, box(leaky)), law, neighbours=neighbours, **paid)


def dpme(X, y, *, leaky=False, neighbours="replace", **paid):
    return histogram.dpme(counts(X, y, leaky), 0.5, neighbours=neighbours, **paid)


def sampled(X, y, *, leaky=False, neighbours="replace", **paid):
    return filter_priority.filter_priority(counts(X, y, leaky), 0.5, 10, neighbours=neighbours, **paid)


def privr(X, y, *, leaky=False, neighbours="replace", **paid):
    f = objective.linear(X, y, box(leaky))
    return budget_split.privr(f, 1.0, share=0.5, neighbours=neighbours, **paid)


def perturbed(X, y, *, norm="L2", leaky=False, neighbours="replace", **paid):
    return objective_perturbation(X, half(y), labelled(leaky), 0.5, norm=norm, neighbours=neighbours, **paid)


def reweighted(X, y, *, leaky=False, neighbours="replace", **paid):
    ball = Ball([0, 0], 1.0, (-1, 1), leaky=leaky)
    return irls.irls(X, y, irls.pure(ball, 0.5, iterations=2, neighbours=neighbours), **paid)


def linear(X, y, *, mechanism, intercept=True, delta=0.0, leaky=False, neighbours="replace", random_state=None, **paid):
    more = {"mechanism": mechanism, "delta": delta, "neighbours": neighbours, "random_state": random_state}
    return dpreg.PrivateLinearRegression(box(leaky, intercept), 0.5, **more).fit(X, y, **paid)


def logistic(X, y, *, mechanism, leaky=False, neighbours="replace", random_state=None, **paid):
    more = {"mechanism": mechanism, "neighbours": neighbours, "random_state": random_state}
    return dpreg.PrivateLogisticRegression(labelled(leaky), 0.5, **more).fit(X, half(y), **paid)


PERTURBATION = "objective_perturbation.objective_perturbation"
LINEAR, LOGISTIC = "private.PrivateLinearRegression.fit", "private.PrivateLogisticRegression.fit"
GRID = {"released": r"codes|weights", "drawn": ("codes", "weights")}  # how many cells pass is released
WAYS = {
    "Laplace": Way("release.release", laplace, MOMENTS, "functional"),
    "Wishart": Way("release.release", wishart, MOMENTS, "Wishart difference"),
    "mean first": Way("release.release", first_the_mean, MOMENTS, "mean first"),
    "retry": Way("repair.retry", repeated, MOMENTS, "repetition"),
    # the exact counts: it refuses to be copied or pickled
    "dpme": Way("histogram.dpme", dpme, r"slabs", "DPME"),
    "filter_priority": Way("filter_priority.filter_priority", sampled, declared="Filter-Priority", **GRID),
    "privr": Way("budget_split.privr", privr, r"relevance", "PrivR"),
    "perturbation": Way(PERTURBATION, perturbed, r"\[0\]", "objective perturbation"),
    "perturbation, K": Way(PERTURBATION, partial(perturbed, norm="K"), r"\[0\]", "objective perturbation, K-norm"),
    "irls": Way("irls.irls", reweighted, r"path", "IRLS, Wishart difference"),
    "linear, Wishart": Way(
        LINEAR, partial(linear, mechanism="wishart", intercept=False), WITH_MOMENTS, "PrivateLinearRegression"
    ),
    "linear, Laplace": Way(
        LINEAR, partial(linear, mechanism="laplace", intercept=False), WITH_MOMENTS, "PrivateLinearRegression, Laplace"
    ),
    "linear, mean first": Way(
        LINEAR, partial(linear, mechanism="mean first"), WITH_MOMENTS, "PrivateLinearRegression, mean first"
    ),
    "linear, Gaussian": Way(
        LINEAR,
        partial(linear, mechanism="gaussian", delta=1e-6),
        WITH_MOMENTS,
        "PrivateLinearRegression, Gaussian",
        delta=1e-6,
    ),
    "logistic": Way(LOGISTIC, partial(logistic, mechanism="objective"), FITTED, "objective perturbation, K-norm"),
    "logistic, Wishart": Way(
        LOGISTIC, partial(logistic, mechanism="wishart"), WITH_MOMENTS, "PrivateLogisticRegression"
    ),
}


def takers():
    """All public functions that take a budget, as module.name."""
    for info in pkgutil.walk_packages(dpreg.__path__, "dpreg."):
        module = importlib.import_module(info.name)
        stem = info.name.rpartition(".")[2]
        for name, thing in vars(module).items():
            if getattr(thing, "__module__", None) != module.__name__ or name.startswith("_"):
                continue
            parts = {name: thing} if not inspect.isclass(thing) else {f"{name}.{k}": v for k, v in vars(thing).items()}
            for path, function in parts.items():
                public = inspect.isfunction(function) and not path.rpartition(".")[2].startswith("_")
                if public and path != "pay" and "budget" in inspect.signature(function).parameters:
                    yield f"{stem}.{path}"
