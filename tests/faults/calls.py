"""A valid call of every public function, class and method: fresh arguments each time, small enough to be fast."""

import functools
import tempfile
from functools import cache, partial
from pathlib import Path

import dask.array as da
import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from dpreg import accounting, noise
from dpreg.attacks import attribute, inversion, last_bits
from dpreg.audit import search
from dpreg.audit.findings import Finding, Report
from dpreg.estimators import nonprivate, private, records, words
from dpreg.estimators import plan as forecasts
from dpreg.mechanisms import (
    best_scales,
    budget_split,
    chi_square,
    filter_priority,
    fm_recipes,
    gaussian,
    grid,
    histogram,
    irls,
    irls_laws,
    irls_moments,
    k_norm,
    mean_first,
    moment_noise,
    objective_perturbation,
    wishart,
)
from dpreg.pipeline import (
    bounds,
    budget,
    domain,
    guarantee,
    lattice,
    laws,
    logistic,
    newton,
    objective,
    release,
    repair,
    sensitivity,
    solve,
    stream,
    surrogates,
    uncertainty,
)
from dpreg.pipeline.ledger import Ledger, Spend
from dpreg.sweeps import (
    coverage,
    experiment,
    measures,
    methods,
    moment_methods,
    perturbation_methods,
    row_methods,
    scores,
    splits,
    theil_sen,
    tukey,
    views,
)
from lib.data import (
    categories,
    census,
    datasets,
    generated_parameters,
    generated_people,
    ipums,
    ipums_files,
    ipums_synthetic,
)
from lib.pages import claims, report, verdicts
from lib.papers import attacked_fits, contest, fang, park_welling, timing, zhang

PACKAGES = ("dpreg", "lib")
LATER = (
    "dpreg.audit",
    "dpreg.__main__",
    "dpreg.estimators.command",
    "dpreg.estimators.command_plan",
    "dpreg.estimators.files",
    "lib.pages.plot",
    "lib.pages.play",
    "lib.pages.peer",
)  # the command line, whose own tests give it bad files; and drawing, where matplotlib and Altair say what is wrong
CHECKS = (
    "dpreg.checks",
    "dpreg.arguments",
    "dpreg.limits",
)  # what refuses: their errors are judged here


def draws(seed, *shape):
    return np.random.default_rng(seed).uniform(-1, 1, shape)


def rows():
    return draws(0, 8, 2)


def y():
    return draws(1, 8)


def labels():
    return np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0])


def table():
    return np.column_stack([y(), rows()]) / 2


def box(**more):
    return domain.Box([-1.0, -1.0], [1.0, 1.0], (-1.0, 1.0), **more)


def label_box():
    return domain.Box([-1.0, -1.0], [1.0, 1.0], (0.0, 1.0))


def ball():
    return domain.Ball([0.0, 0.0], 1.0, (-1.0, 1.0))


def linear():
    return objective.linear(rows(), y(), box())


def on_lattice():
    return objective.linear(rows(), y(), box(), bits=8)


def bowl():
    return objective.Quadratic(np.eye(2), np.ones(2), np.array(0.0))


def measured():
    return release.release(linear(), wishart.difference(box(), 1.0))


def scales():
    return laws.functional(box(), 1.0)


def spend():
    return Spend("a count", "Laplace", "replace", "L1", 1.0, 2.0, 0.5)


def ledger():
    return Ledger((spend(),))


def bit():
    return attribute.Attribute((1,), [[-1.0], [1.0]])


def bits():
    return np.column_stack([draws(2, 8), np.where(labels() > 0, 1.0, -1.0)])


def predict(rows):
    return rows @ [1.0, 2.0]


def error(y, f):
    return -((y - f) ** 2) / 2


def pair():
    return objective.Quadratic(np.ones((2, 1, 1)), np.array([[-2.0], [2.0]]), np.zeros(2))


def one():
    return objective.Quadratic(np.ones((1, 1)), np.array([1.5]), np.array(0.0))


def small():
    return grid.Grid(domain.Box([-1.0], [1.0], (0.0, 1.0)), (3, 2), (False, True))


def labelled():
    limits = domain.Box([-1.0], [1.0], (0.0, 1.0))
    return histogram.count([[0.1], [0.2], [-0.9]], [1.0, 1.0, 0.0], grid.partition(limits, 3, response=2))


def counted():
    return histogram.count([[0.1], [0.2], [-0.9]], [1.0, 1.0, 0.0], small())


def noisy():
    return histogram.dpme(counted(), 1.0, 1)


def summary():
    return filter_priority.filter_priority(counted(), 1.0, 3, 1)


def plan():
    return irls.gaussian(ball(), 0.5, iterations=2)


def plain():
    return experiment.no_privacy("plain")


def partition():
    fold = np.array([0, 1] * 4, dtype=np.int16)
    return splits.Partition(rows(), y(), box().table(rows(), y()), box(), fold, (0,))


def fit(partition, epsilons, rng):
    return np.zeros((len(partition.tested), len(epsilons), 2))


def fit_moments(train, epsilons, rng):
    return np.zeros((*train.batch[:1], len(epsilons), train.p))


def rows_method():
    return methods.RowMethod("rows", fit)


def moments_method():
    return methods.Method("moments", fit_moments)


def measure(partition, theta, rng):
    return {"size": np.abs(theta).max(axis=-1)}


def fitted():
    keys = {"method": "m", "epsilon": np.ones(1), "repeat": 0, "fold": np.zeros(1)}
    return scores.Fit(partition(), keys, np.zeros((1, 1, 2)), 0, ["mse"])


def view():
    return views.View(box(), [plain()], [1.0], [0, 1])


def results():
    return pd.DataFrame({"method": "m", "epsilon": [1.0, 1.0], "metric": "mse", "value": [1.0, 2.0], "median": 1.0})


def lines():
    part = {"median": [3.0, 2.0], "low": [2.0, 1.0], "high": [4.0, 3.0]}
    return pd.DataFrame({"method": "m", "epsilon": [0.1, 1.0], **part})


@cache
def people():
    return census.census("US", 40, attributes=5)


def data():
    code = {"age": (0.0, 90.0), "race": (1.0, 2.0), "y": (0.0, 1.0)}
    return datasets.Dataset(np.array([[20.0, 1.0], [30.0, 2.0]]), np.array([0.0, 1.0]), ("age", "race"), "y", code, "")


def coded():
    return datasets.one_hot(data(), ["race"])


def claim():
    return claims.Claim("X-1", "001", "Abstract", "code", "", "holds", "", "a/b", "", {"a": 1})


def paid():
    return pd.DataFrame({"method": ["no privacy", "a"], "n": 10, "repeat": 0, "mse": [0.01, 0.03], "lost": [0.1, 4.0]})


PRIVATE = {"epsilon": 1.0, "random_state": None}
PLAN = {"domain": ball, "iterations": 1}
IRLS_LAW = {"p": 2, "rng": 1}
ATTACK = {"predict": lambda: predict, "X": bits, "y": y, "sensitive": bit, "error": lambda: error}
SWEEP = {
    "X": rows, "y": y, "domain": box, "methods": lambda: [plain()], "epsilons": lambda: [1.0],
    "protocol": lambda: experiment.Holdout(1),
}  # fmt: skip
PARTITION = {"partition": partition, "epsilons": lambda: np.ones(1), "rng": lambda: np.random.default_rng(0)}
LABELLED = {"theta": lambda: np.ones(2), "Z": rows, "y": labels}
LOGISTIC = {"blocks": lambda: newton.blocked(rows(), labels(), np.ones(8)), "p": 2}
RECIPE = {"self": lambda: fm_recipes.PAPER}


def corner():
    return fm_recipes.PAPER.domain([-1.0, -1.0], [1.0, 1.0], (-1.0, 1.0))


def cornered():
    return objective.linear(rows(), y(), corner())


def calls():
    """Yield each function with its arguments: a function makes one anew, what is no function is given as it is."""
    yield from ground()
    yield from pipeline()
    yield from mechanisms()
    yield from attacks()
    yield from sweeps()
    yield from estimators()
    yield from library()


def ground():
    many, chance = {"epsilon": 0.1, "k": 10, "delta": 1e-5}, {"delta": 1e-5}
    share = {"total": 1.0, "k": 10, "delta": 1e-5}
    yield accounting.advanced, many
    yield accounting.advanced_share, share
    yield accounting.optimal, many
    yield accounting.optimal_share, share
    yield accounting.MeanCDP, {"mu": 0.25, "tau": 0.5}
    yield accounting.MeanCDP.from_pure, {"epsilon": 1.0}
    yield accounting.MeanCDP.epsilon, {"self": lambda: accounting.MeanCDP(0.25, 0.5), **chance}
    yield accounting.zcdp_from_pure, {"epsilon": 1.0}
    yield accounting.zcdp_from_laplace, {"epsilon": 1.0}
    yield accounting.laplace_for, {"rho": 0.1}
    yield accounting.zcdp_to_dp, {"rho": 0.1, **chance}
    yield accounting.rho_for, {"epsilon": 1.0, **chance}
    yield accounting.gdp_delta, {"mu": 1.0, "epsilon": 1.0}
    yield accounting.gdp_epsilon, {"mu": 1.0, **chance}
    yield accounting.gdp_mu, {"epsilon": 1.0, **chance}
    yield accounting.gaussian_deviation, {"sensitivity": 1.0, "epsilon": 1.0, **chance}
    yield accounting.classical_deviation, {"sensitivity": 1.0, "epsilon": 1.0, **chance}
    yield noise.generator, {}
    yield noise.origin, {}
    yield noise.repeatable, {}
    yield noise.seed_sequence, {"random_state": 1}
    yield noise.spawn, {"random_state": 1, "keys": (1, 2)}
    yield noise.laplace, {"scale": 1.0, "shape": (2,), "random_state": 1}
    yield noise.symmetric, {"scale": 1.0, "shape": (2, 2), "random_state": 1}
    yield noise.gaussian, {"deviation": 1.0, "shape": (2,), "random_state": 1}
    yield noise.geometric, {"alpha": 0.5, "shape": (2,), "random_state": 1}
    yield noise.wishart, {"p": 2, "degrees": 3.0, "shape": (2,), "random_state": 1}
    yield noise.laplace_cdf, {"x": 1.0, "scale": 1.0}


def pipeline():
    yield bounds.pairs, {"lower": lambda: [0.0], "upper": lambda: [1.0]}
    yield bounds.interval, {"response": (0.0, 1.0)}
    yield bounds.data_range, {"X": rows, "y": y}
    yield Spend, dict.fromkeys(("released", "mechanism", "norm"), "a") | {
        "neighbours": "replace", "sensitivity": 1.0, "scale": 1.0, "epsilon": 1.0,
    }  # fmt: skip
    yield Ledger, {"spends": lambda: (spend(),)}
    yield Ledger.drawn, {"self": ledger, "origin": "seed"}
    yield Ledger.to_frame, {"self": ledger}
    yield Ledger.to_json, {"self": ledger}
    yield Ledger.from_json, {"text": lambda: ledger().to_json()}
    yield budget.Budget, {"epsilon": 1.0}
    yield budget.Budget.charge, {"self": lambda: budget.Budget(1.0), "spend": spend}
    yield budget.charge, {"budgets": lambda: [budget.Budget(1.0)], "ledger": ledger}
    yield budget.pay, {"cost": spend, "draw": lambda: lambda state: 1.0}
    yield domain.Model, {"intercept": 1.0, "slopes": lambda: np.ones(2)}
    yield domain.Model.predict, {"self": lambda: domain.Model(1.0, np.ones(2)), "X": rows}
    for name in ("scale", "table", "records"):
        yield getattr(domain.Domain, name), {"self": box, "X": rows, "y": y}
    yield domain.Domain.unscale, {"self": box, "theta": lambda: np.ones(2)}
    yield domain.Box, {"lower": lambda: [0.0, 0.0], "upper": lambda: [1.0, 1.0], "response": (0.0, 1.0)}
    yield domain.Box.from_data, {"X": rows, "y": y}
    yield domain.Ball, {"centre": lambda: [0.0, 0.0], "radius": 1.0, "response": (0.0, 1.0)}
    yield domain.Ball.from_data, {"X": rows, "y": y}
    yield laws.Scales, {"M": lambda: np.eye(2), "v": lambda: np.ones(2)}
    yield laws.Scales.times, {"self": scales, "factor": 2.0}
    yield laws.Scales.cost, {"self": scales}
    yield laws.Scales.certify, {"self": scales, "domain": box}
    law = {"objective": linear, "draws": (), "rng": lambda: np.random.default_rng(0)}
    yield laws.Scales.perturb, {"self": scales, **law}
    yield laws.Scales.discrete, {"self": scales, "objective": on_lattice}
    yield lattice.Lattice, {"gram": lambda: np.eye(2), "bits": 2}
    exact = partial(lattice.Lattice, np.eye(3), 2)
    yield lattice.allowed, {"bits": 4}
    yield lattice.origin, {"bits": 4}
    yield lattice.adder, {"kind": "laplace", "exact": exact, "scales": lambda: np.ones((3, 3))}
    yield objective.on_lattice, {"kind": "laplace", "objective": on_lattice, "scales": lambda: np.ones((3, 3))}
    yield laws.unit_scales, {"convention": "copied", "p": 2}
    yield laws.functional, {"domain": box, "epsilon": 1.0}
    yield laws.certify, {"law": scales, "domain": box}
    yield logistic.fit, {"Z": rows, "y": labels}
    yield logistic.loss_at, LABELLED
    yield logistic.misclassified, LABELLED
    yield logistic.records, {"Z": rows, "y": labels}
    yield newton.blocked, {"Z": rows, "y": labels, "w": lambda: np.ones(8)}
    yield newton.newton, LOGISTIC
    yield newton.descend, {"sums": lambda: newton.over(newton.blocked(rows(), labels(), np.ones(8))), "p": 2}
    yield newton.over, {"blocks": lambda: newton.blocked(rows(), labels(), np.ones(8))}
    yield objective.Loss, {"square": 1.0, "cross": -2.0, "constant": 1.0}
    yield objective.Quadratic, {"M": lambda: np.eye(2), "v": lambda: np.ones(2), "c": lambda: np.array(0.0)}
    yield objective.Quadratic.sum, {"self": lambda: linear()[None]}
    yield objective.linear, {"X": rows, "y": y, "domain": box}
    yield objective.logistic, {"X": rows, "y": labels, "domain": label_box}
    yield objective.check_labels, {"y": labels, "domain": label_box}
    yield objective.moments, {"X": rows, "y": y, "domain": box}
    yield objective.add_up, {"add": lambda: lambda rows, *_: np.eye(3), "X": rows, "y": y, "domain": box}
    yield objective.zero, {"p": 2}
    yield objective.from_gram, {"gram": lambda: np.eye(3), "domain": box}
    yield objective.merge, {"shards": lambda: [linear(), linear()]}
    yield release.Release, {"objective": linear, "law": scales, "domain": box, "ledger": ledger}
    yield release.perturb, {"objective": linear, "law": scales, "random_state": 1}
    yield release.release, {"objective": linear, "law": scales}
    yield release.price, {"objective": linear, "law": scales}
    yield repair.ridge, {"objective": bowl, "amount": 1.0}
    yield repair.deviations, {"law": scales}
    yield repair.trim, {"objective": bowl}
    yield repair.lift, {"objective": bowl, "law": scales}
    yield repair.positive, {"objective": bowl, "amount": 1.0}
    yield repair.bound, {"objective": bowl, "law": scales}
    easy = partial(laws.functional, box(), 100.0)
    yield repair.retry, {"objective": linear, "law": easy}
    yield sensitivity.printed_linear, {"d": 2}
    yield sensitivity.printed_logistic, {"d": 2}
    yield sensitivity.closed_form, {"domain": box, "convention": "copied"}
    yield sensitivity.worst_case, {"A": lambda: np.ones((3, 3)), "domain": box}
    yield solve.Penalty, {"lam": 1.0, "alpha": 0.5}
    yield solve.minimise, {"objective": bowl}
    yield solve.asymmetric_closed_form, {"objective": bowl}
    yield solve.violation, {"objective": bowl, "penalty": lambda: solve.Penalty(), "theta": lambda: np.ones(2)}
    yield solve.Program, {"p": 2}
    yield solve.Program.solve, {"self": lambda: program(), "objective": bowl}
    sure = partial(uncertainty.Uncertainty, domain.Model(1.0, np.ones(2)), np.eye(3), 1.0, 9.0)
    told = {"model": lambda: domain.Model(1.0, np.ones(2)), "errors": lambda: np.eye(3)}
    yield uncertainty.Uncertainty, {**told, "residual": 1.0, "strength": 9.0}
    yield uncertainty.Uncertainty.intervals, {"self": sure}
    yield uncertainty.Uncertainty.predictions, {"self": sure, "X": rows}
    yield uncertainty.Uncertainty.to_frame, {"self": sure}
    yield uncertainty.strength, {"noisy": bowl, "law": scales}
    yield uncertainty.uncertainty, {"release": measured, "n": 8, "repeats": 100}
    yield stream.lazy, {"value": rows}
    yield (
        stream.add_up,
        {
            "function": lambda: total,
            "X": lambda: da.from_array(rows()),
            "y": lambda: da.from_array(y()),
            "d": 2,
            "size": 1,
        },
    )
    yield stream.parquet, {"folder": nowhere, "predictors": lambda: ["a"], "response": "y"}
    yield surrogates.even, {"z": lambda: np.ones(2)}
    yield surrogates.remainder, {"z": lambda: np.ones(2)}
    yield surrogates.derivative, {"k": 2}
    yield surrogates.chebyshev, {"R": 4.0}
    yield surrogates.least_squares, {"R": 4.0}


@cache
def program():
    return solve.Program(2)


def total(X, y, first):
    return np.ones((1, 1))


def nowhere():
    return str(Path(tempfile.gettempdir()) / "no-such-folder-of-dpreg")


def mechanisms():
    study, paid_for = {"domain": box, "epsilon": 1.0}, {"random_state": None}
    yield best_scales.at_random_theta, {}
    yield best_scales.criterion, {"scales": scales}
    yield best_scales.optimal, study
    yield best_scales.least, study
    yield budget_split.parts, {"p": 2}
    yield budget_split.printed_share, {"quadratic": 4.0, "linear": 2.0}
    yield budget_split.share, {"p": 2}
    yield budget_split.dpba, study
    yield budget_split.dpc, {**study, "sensitive": lambda: [0], "share": "exact"}
    for sensitivities in ("tight", "printed"):
        yield budget_split.privr, {"objective": linear, "epsilon": 1.0, "sensitivity": sensitivities}
    yield budget_split.first_order, {"objective": linear}
    yield chi_square.delta, {"epsilon": 1.0, "freedom": 43.0, "shift": 1.0}
    yield chi_square.largest_shift, {"epsilon": 1.0, "delta": 1e-6, "freedom": 43.0}
    yield chi_square.least_freedom, {"epsilon": 1.0, "delta": 1e-2}
    yield chi_square.replaced, {"epsilon": 1.0, "freedom": 43.0, "shift": 1.0}
    yield chi_square.halved, {"epsilon": 1.0, "delta": 1e-6}
    codes = {"grid": small, "codes": lambda: counted().codes}
    yield filter_priority.Summary.blocks, {"self": summary}
    yield filter_priority.passing, {"alpha": 0.5, "level": 2}
    yield filter_priority.filter_level, {"cells": 100, "size": 10, "alpha": 0.5}
    yield filter_priority.priority, {"values": lambda: [5.0, 1.0, 1.0], "size": 2, "random_state": 1}
    yield filter_priority.filter_priority, {"histogram": counted, "epsilon": 1.0, "size": 3, **paid_for}
    yield filter_priority.survivors, {"histogram": counted, "alpha": 0.5, "level": 1, "random_state": 1}
    recipe = dict(corner=False, intercept=True, room=0.1, convention="ordered", deviations=4.0, floor=1e-8)
    yield fm_recipes.Recipe, recipe
    limits = {"lower": lambda: [0.0, 0.0], "upper": lambda: [1.0, 1.0], "response": (0.0, 1.0)}
    yield fm_recipes.Recipe.domain, {**RECIPE, **limits}
    yield fm_recipes.Recipe.sensitivity, {**RECIPE, "p": 2}
    yield fm_recipes.Recipe.scales, {**RECIPE, "domain": corner, "epsilon": 1.0}
    yield fm_recipes.Recipe.repaired, {**RECIPE, "noisy": bowl, "scales": scales}
    yield fm_recipes.Recipe.fit, {**RECIPE, "objective": cornered, "epsilon": 10.0, "random_state": 1}
    yield fm_recipes.path, {}
    yield fm_recipes.changed, {"recipe": lambda: fm_recipes.PAPER, "change": "ridge of 5 deviations"}
    yield grid.bandwidth, {"n": 100, "dimensions": 2}
    yield grid.whole, {"domain": lambda: domain.Box([0.0], [5.0], (0.0, 1.0))}
    yield grid.Grid, {"domain": lambda: small().domain, "cells": (3, 2), "exact": (False, True)}
    inside = {"X": lambda: [[0.1], [0.5]], "y": lambda: [0.0, 1.0]}
    yield grid.Grid.codes, {"self": small, **inside}
    yield grid.Grid.points, {"self": small, "codes": lambda: [0, 1]}
    yield grid.partition, {"domain": lambda: small().domain, "cells": 3}
    yield histogram.Histogram, {**codes, "counts": lambda: counted().counts}
    yield histogram.count, {**inside, "grid": small}
    yield histogram.tally, codes
    yield histogram.Cells.objective, {"self": noisy}
    yield histogram.Cells.logistic, {"self": lambda: histogram.dpme(labelled(), 1.0, 1), "ridge": 0.1}
    yield histogram.Cells.moments, {"self": summary}
    for name in ("blocks", "moments"):
        yield getattr(histogram.NoisyGrid, name), {"self": noisy}
    yield histogram.dpme, {"histogram": counted, "epsilon": 1.0, **paid_for}
    words = {"released": "a", "mechanism": "b", "neighbours": "replace", "scale": 1.0}
    yield histogram.spent, {"histogram": counted, **words}
    none = irls_laws.NoNoise
    yield irls.Plan, {"domain": ball, "cap": 1.0, "iterations": 1, "first": lambda: none(), "second": lambda: none()}
    yield irls.irls, {"X": rows, "y": y, "plan": plan}
    yield irls.lifted, {"first": lambda: np.ones(2), "second": lambda: np.eye(2), "floor": 1.0}
    yield irls.exact, PLAN
    yield irls.gaussian, {**PLAN, "rho": 0.5}
    yield irls.pure, {**PLAN, "epsilon": 1.0}
    yield irls.degrees, {**PLAN, "epsilon": 8.0, "delta": 1e-3}
    yield irls.printed, {**PLAN, "step": 0.3, "as_published": True}
    yield irls.simulated, {"n": 10, "d": 2, "random_state": 1}
    sizes = partial(irls_moments.sensitivities, ball(), 1.0)
    for name, made in {
        "NoNoise": irls_laws.NoNoise,
        "Laplace": lambda: irls_laws.Laplace(1.0),
        "Gaussian": lambda: irls_laws.Gaussian(1.0),
        "WishartLaw": lambda: irls_laws.Wishart(1.0, 4),
        "Wishart": lambda: irls_laws.Wishart(1.0, 4),
        "CentredWishart": lambda: irls_laws.CentredWishart(1.0, 9, 1.0),
        "WishartDifference": lambda: irls_laws.WishartDifference(1.0, 4),
        "VectorLaw": lambda: irls_laws.Laplace(1.0),
        "MomentLaw": lambda: irls_laws.Wishart(1.0, 4),
    }.items():
        kind, here = getattr(irls_laws, name), vars(getattr(irls_laws, name))
        if name not in ("MomentLaw", "VectorLaw", "WishartLaw"):
            yield kind, {"scale": 1.0, **({"degrees": 4} if "Wishart" in name else {})}
        for method in {"vector", "matrix", "level", "mean_square", "price", "change"} & set(here):
            if getattr(here[method], "__isabstractmethod__", False):
                continue
            given = {"vector": IRLS_LAW, "matrix": IRLS_LAW, "level": {"p": 2}, "mean_square": {"p": 2}} | {
                "price": {"change": 1.0, "p": 2, "neighbours": "replace"}, "change": {"size": sizes, "moment": "first"},
            }  # fmt: skip
            yield here[method], {"self": made, **given[method]}
    yield irls_moments.loss, {"residuals": lambda: [1.0, 2.0], "cap": 1.0}
    yield irls_moments.moments, {"table": table, "theta": lambda: np.ones(2), "cap": 1.0}
    yield irls_moments.stacked, {"table": table, "thetas": lambda: np.ones((3, 2)), "caps": lambda: [1.0, 2.0, 3.0]}
    names = ("first_l1", "first_l2", "triangle", "frobenius", "nuclear", "row")
    yield irls_moments.Sensitivities, dict.fromkeys(names, 1.0)
    yield irls_moments.sensitivities, {"domain": ball, "cap": 1.0}
    perturbed = {"X": rows, "y": labels, "domain": label_box, "epsilon": 1.0}
    yield objective_perturbation.objective_perturbation, perturbed
    yield objective_perturbation.share_for, {"p": 3}
    yield objective_perturbation.ridge, {"curvature": 1.0, "epsilon": 1.0}
    yield objective_perturbation.uniform, {"domain": label_box}
    yield moment_noise.in_range, {"weights": lambda: np.ones(3)}
    yield wishart.WishartDifference, {"weights": lambda: np.ones(3), "spread": 1.0}
    difference = partial(wishart.difference, box(), 1.0)
    yield wishart.WishartDifference.times, {"self": difference, "factor": 2.0}
    yield wishart.WishartDifference.certify, {"self": difference, "domain": box}
    drawn = {"objective": linear, "draws": (), "rng": lambda: np.random.default_rng(0)}
    yield wishart.WishartDifference.perturb, {"self": difference, **drawn}
    yield wishart.difference, study
    yield wishart.balanced, {"domain": box}
    yield wishart.reference_risk, {"weights": lambda: np.ones(3), "domain": box}
    yield wishart.largest_change, {"weights": lambda: np.ones(3), "domain": box}
    yield wishart.nuclear_ratio, {"m": 2}
    constant = partial(box, intercept=True)
    plain = partial(wishart.difference, constant(), 0.5)
    yield mean_first.MeanFirst, {"rest": plain, "scale_of_sum": 4.0}
    both, here = partial(mean_first.mean_first, constant(), 0.5, 40), partial(objective.linear, rows(), y(), constant())
    yield mean_first.MeanFirst.times, {"self": both, "factor": 2.0}
    yield mean_first.MeanFirst.certify, {"self": both, "domain": constant}
    yield mean_first.MeanFirst.concentrated, {"self": both, "domain": constant}
    yield mean_first.MeanFirst.spends, {"self": both, "domain": constant}
    yield mean_first.MeanFirst.constant, {"self": both, "noisy": here}
    yield mean_first.MeanFirst.perturb, {"self": both, **drawn, "objective": here}
    twin = partial(mean_first.mean_first, constant(), 0.5, 40, delta=1e-6)
    lattice_here = partial(objective.linear, rows(), y(), constant(), bits=4)
    yield mean_first.MeanFirst.discrete, {"self": twin, "objective": lattice_here}
    yield mean_first.mean_first, {"domain": constant, "epsilon": 0.5, "n": 40}
    yield mean_first.blind_spot, {"law": plain, "chance": 0.25}
    yield gaussian.Gaussian, {"weights": lambda: np.ones(3), "spread": 1.0}
    normal = partial(gaussian.for_rho, box(), 0.5)
    yield gaussian.Gaussian.times, {"self": normal, "factor": 2.0}
    yield gaussian.Gaussian.certify, {"self": normal, "domain": box}
    yield gaussian.Gaussian.concentrated, {"self": normal, "domain": box}
    yield gaussian.Gaussian.perturb, {"self": normal, **drawn}
    yield gaussian.Gaussian.discrete, {"self": normal, "objective": on_lattice}
    yield gaussian.Gaussian.spends, {"self": normal, "domain": box}
    yield gaussian.for_rho, {"domain": box, "rho": 0.5}
    yield gaussian.for_delta, {"domain": box, "epsilon": 0.5, "delta": 1e-6}
    yield gaussian.mu_for, {"epsilon": lambda: np.ones(2), "delta": 1e-6}
    yield k_norm.Hull, {"weights": lambda: np.ones(3), "spread": 1.0}
    body, changes = partial(k_norm.hull, ball(), 0.5), {"changes": lambda: np.zeros((2, 3, 3))}
    yield k_norm.Hull.times, {"self": body, "factor": 2.0}
    yield k_norm.Hull.certify, {"self": body, "domain": ball}
    yield k_norm.Hull.perturb, {"self": body, **drawn}
    yield k_norm.hull, {"domain": ball, "epsilon": 0.5}
    yield k_norm.uniform, {"p": 2, "size": 5}
    yield k_norm.inside, changes
    yield k_norm.gauge, changes


def attacks():
    yield attribute.Attribute, {"columns": (1,), "values": lambda: [[-1.0], [1.0]]}
    yield attribute.Attribute.codes, {"self": bit, "X": bits}
    yield attribute.Attribute.with_marginal, {"self": bit, "X": bits}
    yield attribute.Attribute.without_prior, {"self": bit}
    yield attribute.rows_of, {"X": bits, "attributes": lambda: (bit(),)}
    yield attribute.distribution, {"prior": lambda: [1.0, 3.0], "k": 2}
    noisy = partial(release.perturb, linear(), scales(), 1)
    yield last_bits.reachable, {"released": 1.5, "answer": 1.0, "scale": 1.0}
    yield last_bits.possible, {"noisy": noisy, "candidate": linear, "scales": scales}
    yield search.worst_pair, {"scales": scales, "domain": box, "restarts": 2, "steps": 2}
    yield search.log_ratio, {"output": linear, "one": linear, "other": linear, "scales": scales}
    yield inversion.gaussian_error, {"rss": 2.0, "n": 8, "p": 2}
    yield inversion.confusion_error, {"y": labels, "predicted": labels}
    yield inversion.scores, ATTACK
    yield inversion.map_attack, ATTACK
    yield inversion.accuracy, ATTACK
    yield inversion.accuracies, {**ATTACK, "priors": lambda: [None]}
    tree = {"classifier": lambda: DecisionTreeClassifier(max_depth=1)}
    known = {"public_X": bits, "public_y": y, "X": bits, "y": y, "sensitive": bit}
    yield inversion.guess_without_model, known | tree
    yield inversion.accuracy_table, {"right": lambda: {"coin": ([0.5, 0.6], [0.4, 0.5])}}
    yield inversion.accuracy_bound, {"prior": lambda: [0.5, 0.5], "epsilon": 1.0}
    yield inversion.membership_bound, {"epsilon": 1.0}
    yield inversion.attribute_epsilon, {"scales": scales, "sensitive": bit}
    candidates = {"candidates": pair, "scales": lambda: laws.Scales([[8.0]], [8.0]), "prior": lambda: [0.5, 0.5]}
    yield inversion.strongest_attack, {"noisy": one, **candidates}


def sweeps():
    yield experiment.no_privacy, {"name": "plain"}
    yield experiment.mechanism, {"name": "m", "domain": box, "law": scales}
    yield experiment.constant, {"name": "mean"}
    yield experiment.functional_mechanism, {"name": "m", "domain": box}
    yield experiment.sweep, {**SWEEP, "progress": False}
    yield experiment.summarise, {"frame": results}
    yield coverage.cube, {"d": 2}
    yield coverage.made, {"theta": lambda: np.ones(3) / 4, "n": 8, "noise": 0.1}
    yield coverage.resampled, {"records": table, "n": 8}
    studied = {"theta": lambda: np.ones(3) / 4, "law": lambda: wishart.difference(coverage.cube(2), 1.0)}
    draw = partial(coverage.made, np.ones(3) / 4, 8, 0.1)
    yield coverage.covered, {"draw": draw, **studied, "repeats": 2}
    yield measures.measured, {**SWEEP, "measure": lambda: measure}
    yield measures.roc, {"rates": lambda: [0.5]}
    yield measures.roc_curve, {**LABELLED, "rates": lambda: [0.0, 0.5]}
    yield methods.Method, {"name": "m", "fit": lambda: fit_moments}
    yield methods.RowMethod, {"name": "m", "fit": lambda: fit}
    yield methods.check_methods, {"methods": lambda: [plain()]}
    delta = {"delta": 1e-6}
    yield moment_methods.adassp, {"name": "a", "domain": box, **delta}
    yield moment_methods.gradient_descent, {"name": "g", "domain": partial(box, intercept=True), **delta, "steps": 5}
    yield moment_methods.centred, {"domain": partial(box, intercept=True)}
    yield perturbation_methods.gaussian_tilt, {"reach": 1.0, "slope": 1.0, "epsilon": 1.0, **delta}
    yield perturbation_methods.share_with, delta
    yield perturbation_methods.squares, {"name": "s", "domain": partial(box, intercept=True)}
    yield (
        perturbation_methods.k_norm_gradient,
        {"name": "k", "domain": lambda: domain.Box([-1.0], [1.0], (-1.0, 1.0), intercept=True)},
    )
    yield perturbation_methods.labels, {"name": "l", "domain": box, **delta}
    yield theil_sen.theil_sen, {"name": "t", "domain": lambda: domain.Box([-1.0], [1.0], (-1.0, 1.0), intercept=True)}
    yield tukey.tukey_em, {"name": "t", **delta}
    yield tukey.budgets, {"epsilon": 1.0, **delta}
    yield row_methods.logistic_regression, {}
    yield row_methods.logistic_descent, {"name": "g", "domain": box, **delta, "steps": 5}
    yield row_methods.objective_perturbation, {}
    yield row_methods.dpme, {}
    yield row_methods.filter_priority, {}
    yield scores.check_metrics, {"metrics": lambda: ["mse"]}
    yield scores.of_labels, LABELLED
    yield scores.auc, LABELLED
    for protocol in (splits.CrossValidation, splits.Holdout):
        yield protocol, {}
    protocol = {"protocol": lambda: splits.Holdout(1)}
    yield (
        views.View,
        {"domain": box, "methods": lambda: [plain()], "epsilons": lambda: [1.0], "columns": lambda: [0, 1]},
    )
    yield views.survey, {"X": rows, "Y": lambda: y()[:, None], "views": lambda: [view()], **protocol}


def estimators():
    yield nonprivate.twin, {"penalty": lambda: solve.Penalty(1.0, 0.5), "n": 10}
    chosen = {"X": rows, "y": y, "domain": box, "alpha": 1.0, "grid": (0.1, 1.0), "folds": 2}
    yield nonprivate.choose_penalty, chosen
    yield records.public_set, {"bounds": box, "d": 2}
    priced = {"domain": box, "epsilon": 1.0, "n": 9, "neighbours": "replace", "loss": lambda: objective.SQUARED}
    yield words.law_for, {"mechanism": "wishart", **priced}
    yield forecasts.stand_in, {"domain": box}
    yield forecasts.altered, {"domain": ball, "predictors": 2.0, "response": 2.0}
    ahead = {"domain": box, "n": 100}
    yield forecasts.expected_error, {**ahead, "epsilon": 1.0, "repeats": 3}
    yield forecasts.epsilon_for, {"excess": 0.1, **ahead}
    yield forecasts.compare, {**ahead, "epsilon": 1.0, "times": 2.0}
    yield (
        forecasts.Forecast,
        dict.fromkeys(("without", "excess", "standard_error", "first_order", "noise", "constant"), 0.5),
    )
    yield guarantee.statement, {"spends": lambda: [spend()], "domain": box}
    yield guarantee.bounds, {"domain": ball}
    yield guarantee.text, {"parts": lambda: {"guarantee": ["all"]}}
    yield guarantee.page, {"parts": lambda: {"guarantee": ["all"]}}
    yield records.table, {"X": rows}
    yield records.no_generator, {"random_state": 1}
    yield records.no_quadratic, {"penalty": lambda: solve.Penalty(0.0), "loss": None, "sampler": "numpy"}
    yield settled(private.PrivateLinearRegression, y), {"domain": box}
    yield settled(private.PrivateLogisticRegression, labels), {"domain": label_box}
    yield (
        private.PrivateLinearRegression.fit,
        {"self": lambda: private.PrivateLinearRegression(box()), "X": rows, "y": y},
    )
    model = partial(private.PrivateLogisticRegression, label_box())
    yield private.PrivateLogisticRegression.fit, {"self": model, "X": rows, "y": labels}
    guess = {"self": lambda: private.PrivateLinearRegression(box(), random_state=0).fit(rows(), y()), "X": rows}
    yield private.PrivateLinearRegression.predict, guess
    for name in ("decision_function", "predict_proba", "predict"):
        yield getattr(private.PrivateLogisticRegression, name), {"self": classifier, "X": rows}


def classifier():
    return private.PrivateLogisticRegression(label_box(), random_state=0).fit(rows(), labels())


def settled(kind, response):
    """The settings of an estimator are checked when it is fitted: so a call of its class is a fit."""

    def fitted(**settings):
        return kind(**settings).fit(rows(), response()).coef_

    return functools.wraps(kind, updated=())(fitted)


def library():
    yield categories.groups, {"names": lambda: ["age", "race=1", "race=2"]}
    yield categories.silent, {"domain": box, "columns": lambda: [[0, 1]]}
    yield categories.ball, {"data": coded}
    yield census.bounds, {"country": "US"}
    yield census.census, {"country": "US", "n": 5}
    yield census.above, {"data": lambda: people(), "threshold": 1e4}
    yield census.calibration, {"country": "US", "n": 200}
    set_of = {"X": lambda: np.ones((2, 1)), "y": lambda: np.ones(2), "names": ("a",), "response_name": "y"}
    yield datasets.Dataset, {**set_of, "bounds": lambda: {"a": (0.0, 1.0), "y": (0.0, 1.0)}, "source": ""}
    yield datasets.Dataset.box, {"self": data}
    yield datasets.wine, {}
    yield datasets.kdd_heads, {}
    yield datasets.one_hot, {"data": data, "columns": lambda: ["race"]}
    file = {"path": lambda: datasets.DATA / datasets.WINE_FILE, "sha256": datasets.WINE_SHA256}
    yield datasets.verified, file
    yield generated_parameters.document, {}
    yield generated_parameters.parameters, {"country": "US"}
    yield generated_parameters.provenance, {}
    yield generated_people.people, {"country": "US", "n": 5}
    yield ipums.heads, {"folder": nowhere, "country": "US", "columns": lambda: ["age"]}
    yield ipums_files.codebook, {"file": lambda: Path(nowhere())}
    yield ipums_files.meanings, {"labels": lambda: {"SEX": [("1", "Male")]}, "name": "SEX", "file": "US.xml"}
    yield ipums_synthetic.write, {"folder": lambda: scratch(), "country": "US", "n": 3}
    fields = {"id": "X-1", "source": "001", "place": "Abstract", "kind": "code", "claim": "", "verdict": "holds"}
    yield claims.Claim, {**fields, "truth": "", "chapter": "a/b", "test": "", "values": lambda: {"a": 1}}
    yield claims.Claim.differences, {"self": claim, "found": lambda: {"a": 1}}
    yield claims.load, {}
    yield claims.check, {"claim_id": "FM-D", "found": lambda: {"printed": 8, "tight": 4}}
    yield claims.Table, {"claims": lambda: [claim()]}
    yield claims.box, {"chapter": "mechanisms/linear"}
    yield claims.outcomes, {"chapter": "mechanisms/linear"}
    yield verdicts.settled, {"source": "001"}
    yield verdicts.not_judged, {"source": "001"}
    yield verdicts.counts, {}
    yield verdicts.Everything, {}
    yield verdicts.Paper, {"source": "001"}
    yield verdicts.Errata, {"source": "001"}
    yield verdicts.save, {"folder": lambda: Path(scratch())}
    yield verdicts.position, {"place": "Section 1"}
    yield verdicts.opening, {"text": "One. Two."}
    yield report.number, {"value": 1.0}
    yield report.line, {"found": lambda: {"a": 1.0}}
    finding = Finding("black box", "fit", "a pair", "an event", 1.0, 2.0, 0.95, 40, 39, 0)
    yield report.audit, {"found": lambda: Report((finding,), 1, 0.0)}
    yield report.table, {"frame": results}
    yield report.medians, {"tables": lambda: {"US": pd.DataFrame({"x": [1.0], "FM": [0.5]})}}
    yield report.cases, {"frame": lambda: lines()[["method", "epsilon"]]}
    yield report.turned, {"frame": lambda: pd.DataFrame({"rate": [0.1, 1.0], "FM": [0.5, 0.25]}), "corner": "US"}
    yield report.pivot, {"summary": lambda: lines()[["method", "epsilon", "median"]]}
    yield attacked_fits.attacked, {"sensitive": bit}
    yield attacked_fits.unaided, {"sensitive": bit, "classifier": DecisionTreeClassifier}
    yield fang.repaired, {"noisy": bowl, "law": scales}
    yield fang.privr, {}
    yield fang.contenders, {"domain": box, "sensitive": lambda: [0]}
    yield fang.every_split, {"domain": box, "grid": lambda: [0.5]}
    plans = {"plans": lambda: {"no privacy": irls.exact(irls.simulated(2, 2)[2], iterations=1)}}
    yield park_welling.replicate, {**plans, "sizes": lambda: [12], "repeats": 1, "progress": False}
    yield park_welling.log_likelihood, {"mse": lambda: [0.1]}
    yield park_welling.scored, {"frame": paid}
    yield park_welling.needed, {"frame": needed, "level": 2.0, "beside": "b"}
    yield park_welling.disturbance, {"plan": plan, "square": 0.5}
    yield park_welling.predicted, {"plan": plan, "level": 1.0}
    yield park_welling.row_method, {"name": "m", "plan": plan}
    constant = partial(box, intercept=True)
    yield contest.pure, {"box": constant, "n": 40}
    yield contest.with_delta, {"box": constant, "n": 40, "delta": 1e-6}
    yield contest.for_labels, {"box": constant, "delta": 1e-6}
    yield contest.training, {"data": datasets.wine}
    yield contest.exactly, {"law": lambda: laws.functional(constant(), 0.5), "domain": constant}
    yield timing.fit_times, {**{k: SWEEP[k] for k in ("methods", "X", "y", "domain")}, "runs": 1}
    yield timing.counts, {k: SWEEP[k] for k in ("methods", "X", "y", "domain")}
    yield timing.scikit_learn, {"solver": "lbfgs"}
    yield timing.newton, {}
    yield timing.orthogonal, {}
    yield timing.passes, {"X": rows, "y": labels, "domain": label_box}
    yield zhang.published, {"data": lambda: people()}
    yield zhang.rivals, {"repeats": 2}
    yield zhang.variants, {"data": lambda: people()}
    yield zhang.Panel, {"data": lambda: people(), "lines": some_lines, "epsilons": lambda: [1.0]}
    yield zhang.run, {"panels": panels, "protocol": lambda: splits.Holdout(1)}
    yield zhang.run_by, {"tag": "country", "panels": panels, "protocol": lambda: splits.Holdout(1)}
    yield zhang.wins, {"tables": won, "method": "FM", "margins": lambda: {"linear": 0.0}}


def rng():
    return np.random.default_rng(0)


@cache
def scratch():
    return tempfile.mkdtemp()


def needed():
    more = {"repeat": 0, "lost": [4.0, 1.0, 8.0, 0.5]}
    return pd.DataFrame({"method": ["a", "a", "b", "b"], "n": [1000, 2000, 1000, 4000], **more})


def some_lines():
    return [(people().box(), [plain()])]


def panels():
    return [zhang.Panel(people(), some_lines(), [1.0], tags={"country": "US"})]


def won():
    return {("linear", "US", False, 5): pd.DataFrame({0.1: [0.5, 0.4, 0.6]}, index=["FM", "DPME", "FP"])}


# What an error may call an argument instead of its name.
ALIASES = {
    "amount": ("ridge",),
    "rng": ("random_state",),
    "k": ("shares",),
    "figure": ("outcome",),
    "grid": ("split", "X has", "domain"),
    "sizes": ("size",),
    "data": ("X",),
    "methods": ("method names",),
    "epsilons": ("epsilon",),
    "metrics": ("metric",),
    "priors": ("prior",),
    "high": ("band",),
    "low": ("band",),
    "noisy": ("release",),
    "public_X": ("X", "public"),
    "X": ("a record has", "records", "columns", "targets"),
    "Y": ("y has",),
    "bounds": ("domain", "response", "lower", "upper"),
    "theta": ("table",),
    "columns": ("values", "column"),
    "beta": ("split",),
    "quadratic": ("beta",),
    "linear": ("beta",),
    "codes": ("count",),
    "counts": ("count",),
    "exact": ("marks",),
    "cells": ("cell",),
    "share": ("scale of the noise", "epsilon"),
    "shift": ("delta",),
    "iterations": ("delta",),
    "delta": ("scale",),
    "first": ("second",),
    "prior": ("share",),
    "sensitive": ("attribute", "value"),
    "weights": ("loss",),
    "domain": ("weights", "cells", "response", "lower", "upper"),
    "objective": ("recipe", "no paper prints"),
    "scales": ("amount", "change has scale", "noise", "coefficient", "law", "epsilon", "M, v", "objective", "domain"),
    "law": ("noise", "scales", "amount"),
    "predictors": ("columns are",),
    "response": ("columns are",),
    "loss": ("no paper prints", "sensitivity", "knows"),
}

ABSTRACT = {
    "dpreg.mechanisms.histogram.Cells": ("blocks",),
    "dpreg.mechanisms.moment_noise.MomentNoise": (),
    "dpreg.mechanisms.irls_laws.MomentLaw": ("change", "level", "matrix"),
    "dpreg.mechanisms.irls_laws.VectorLaw": ("vector",),
    "dpreg.mechanisms.irls_laws.WishartLaw": (),
    "dpreg.pipeline.domain.Domain": (),
    "dpreg.pipeline.laws.Law": ("certify", "concentrated", "constant", "discrete", "perturb", "spends", "times"),
}
# No calls: what a function of ours returns, which nobody else makes; inner steps on what their callers have checked.
EXEMPT = (
    dict.fromkeys(
        (
            "dpreg.mechanisms.budget_split.Relevance",
            "dpreg.mechanisms.filter_priority.Summary",
            "dpreg.mechanisms.irls.Fit",
            "dpreg.mechanisms.histogram.NoisyGrid",
            "dpreg.mechanisms.histogram.Part",
            "dpreg.sweeps.scores.Fit",
            "lib.papers.timing.Count",
            "lib.papers.timing.counted",
        ),
        "what a function returns",
    )
    | dict.fromkeys(
        [name for kind, methods in ABSTRACT.items() for name in (kind, *(f"{kind}.{method}" for method in methods))],
        "abstract",
    )
    | {
        "lib.papers.contest.tasks": "takes nothing",
        "dpreg.sweeps.shared.Shared": "takes anything",
        "lib.papers.contest.labelled": "takes nothing",
        "lib.papers.contest.wrong_labels": "thirty splits of all methods; test_contest runs it",
        "lib.papers.contest.errors": "a hundred splits of all methods; test_contest runs it",
        "lib.papers.contest.more_rivals": "a hundred splits; test_contest runs it",
        "lib.papers.contest.relative": "a hundred splits; test_contest runs it",
        "lib.papers.contest.picked": "columns of a table, by their names",
    }
    | {"lib.pages.claims.LedgerError": "an error", "lib.data.ipums_labels.Reading": "two tables of the library's own"}
)
EXEMPT |= {
    "dpreg.estimators.records.response": "hands on what the objective refuses; `fit` meets every value",
    "dpreg.estimators.records.labels": "as response; the estimator meets every value of classes",
    "dpreg.estimators.records.refuse": "says of an unknown argument what Python says",
}
EXEMPT |= dict.fromkeys(
    (
        "dpreg.pipeline.lattice.Lattice.plus", "dpreg.pipeline.lattice.snap",
        "dpreg.mechanisms.irls.follow", "dpreg.mechanisms.grid.Grid.values", "dpreg.mechanisms.grid.Grid.records",
        "dpreg.mechanisms.histogram.Part.gram", "dpreg.mechanisms.histogram.Part.total",
        "dpreg.pipeline.newton.pointwise", "dpreg.pipeline.bounds.apart", "dpreg.pipeline.bounds.named",
        "dpreg.pipeline.logistic.predicted",
        *(f"dpreg.mechanisms.irls_laws.{name}.promise" for name, law in vars(irls_laws).items()
          if isinstance(law, type) and "promise" in vars(law)),
        "dpreg.pipeline.domain.Domain.clip",
        "dpreg.pipeline.domain.Box.clip", "dpreg.pipeline.domain.Ball.clip", "dpreg.pipeline.domain.Domain.scale_block",
        "dpreg.sweeps.perturbation_methods.proposals", "dpreg.sweeps.perturbation_methods.bounded_minimiser",
        "dpreg.sweeps.tukey.models", "dpreg.sweeps.tukey.log_volumes", "dpreg.sweeps.tukey.log_weights",
        "dpreg.sweeps.tukey.distance", "dpreg.sweeps.tukey.failure", "dpreg.sweeps.tukey.deep_points",
        "dpreg.sweeps.theil_sen.predicted", "dpreg.sweeps.theil_sen.scores", "dpreg.sweeps.theil_sen.private_median",
        "dpreg.sweeps.moment_methods.ridge_for", "dpreg.sweeps.moment_methods.inside",
        "dpreg.sweeps.methods.Method.coefficients", "dpreg.sweeps.methods.RowMethod.coefficients",
        "dpreg.sweeps.methods.Method.takes_part", "dpreg.sweeps.methods.RowMethod.takes_part",
        "dpreg.sweeps.methods.plan", "dpreg.sweeps.methods.gathered", "dpreg.sweeps.methods.frame",
        "dpreg.sweeps.methods.fitted", "dpreg.sweeps.methods.method_generator", "dpreg.sweeps.scores.needs_labels",
        "dpreg.sweeps.scores.scored", "dpreg.sweeps.splits.CrossValidation.labels",
        "dpreg.sweeps.splits.Holdout.labels", "dpreg.sweeps.splits.draw", "dpreg.sweeps.splits.totals",
        "dpreg.sweeps.splits.fold_grams", "dpreg.sweeps.splits.Partition", "dpreg.sweeps.splits.fold_moments",
        "dpreg.sweeps.splits.Partition.train",
        "dpreg.sweeps.splits.Partition.training", "dpreg.sweeps.splits.Partition.training_rows",
        "dpreg.sweeps.splits.Partition.on_test_rows", "lib.papers.park_welling.absolute",
        "lib.data.generated_income.income", "lib.data.ipums_files.data", "lib.data.ipums_files.records",
    ),
    "an inner step, on numbers that its callers have checked",
)  # fmt: skip

# Values that an argument may have, and that would start processes: test_experiment does.
VALID = {"jobs": {"2", "-1", "-5", "int8", "uint64"}}
# These read files that are not here, and say so.
NO_FILES = {"dpreg.pipeline.stream.parquet", "lib.data.ipums.heads", "lib.data.ipums_files.codebook"}
# Where NaN is an answer: for a level that no number of records reaches, and for people whom a small sample lacks.
GAPS = {"lib.papers.park_welling.needed", "lib.data.census.calibration"}
