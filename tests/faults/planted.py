"""Faults for the auditor to find, in the mechanisms it audits: in this process, and gone after the test.

As a mutant, each is a place, what stands there, and what is put there instead; and then the mechanism that is audited,
and the layer that must notice.
"""

import __future__

import importlib
import inspect
import sys
import textwrap

LAPLACE = ".laplace(size=shape) * b"

PLANTED = {
    # noise
    "noise halved": ("dpreg.noise.laplace", LAPLACE, LAPLACE + " * 0.5", "functional", "noise law"),
    "noise 5 % too small": ("dpreg.noise.laplace", LAPLACE, LAPLACE + " * 0.95", "functional", "noise law"),
    "noise 5 % too large": ("dpreg.noise.laplace", LAPLACE, LAPLACE + " * 1.05", "functional", "noise law"),
    "noise one-sided": ("dpreg.noise.laplace", LAPLACE, ".exponential(size=shape) * b", "functional", "noise law"),
    "noise off centre": ("dpreg.noise.laplace", LAPLACE, LAPLACE + " + 0.05 * b", "functional", "noise law"),
    "normal noise": (
        "dpreg.noise.laplace",
        LAPLACE,
        ".normal(size=shape) * 2**0.5 * b",
        "functional",
        "noise law",
    ),
    "noise shared by coefficients": (
        "dpreg.noise.laplace",
        ".laplace(size=shape)",
        ".laplace(size=(*shape[:-1], 1))",
        "functional",
        "noise law",
    ),
    "one draw for a release's numbers": (
        "dpreg.noise.laplace",
        ".laplace(size=shape)",
        ".laplace(size=(*shape[:-1], 1))",
        "functional",
        "metamorphic",
    ),
    "system randomness is a constant": (
        "dpreg.noise.seed_sequence",
        "return np.random.SeedSequence()",
        "return np.random.SeedSequence(0)",
        "functional",
        "metamorphic",
    ),
    "noise by the size of the data": (
        "dpreg.pipeline.laws.Scales.perturb",
        "noise.laplace(self.v,",
        "noise.laplace(self.v / (1 + objective.M[0, 0]),",
        "functional",
        "metamorphic",
    ),
    "less noise in a release than in a study": (
        "dpreg.pipeline.release.release",
        "perturb(objective, law, state)",
        "perturb(objective, law.times(0.5), state)",
        "functional",
        "metamorphic",
    ),
    "one seed for all iterations": (
        "dpreg.mechanisms.irls.follow",
        "plan.first.vector(p, rng)",
        "plan.first.vector(p, noise.generator(1))",
        "IRLS, Laplace",
        "metamorphic",
    ),
    "Wishart with another number of degrees": (
        "dpreg.mechanisms.wishart.WishartDifference._drawn",
        "noise.wishart(m, m + 1, batch, rng) - noise.wishart(m, m + 1, batch, rng)",
        "noise.wishart(m, m + 2, batch, rng) - noise.wishart(m, m + 2, batch, rng)",
        "Wishart difference",
        "noise law",
    ),
    "one Wishart matrix, less its mean": (
        "dpreg.mechanisms.wishart.WishartDifference._drawn",
        "noise.wishart(m, m + 1, batch, rng) - noise.wishart(m, m + 1, batch, rng)",
        "2**0.5 * (noise.wishart(m, m + 1, batch, rng) - (m + 1) * np.eye(m))",
        "Wishart difference",
        "noise law",
    ),
    "Wishart spread 5 % too small": (
        "dpreg.mechanisms.wishart.WishartDifference._drawn",
        "change *= self.spread[..., None, None]",
        "change *= 0.95 * self.spread[..., None, None]",
        "Wishart difference",
        "noise law",
    ),
    "Wishart weights forgotten": (
        "dpreg.mechanisms.wishart.WishartDifference._drawn",
        "np.outer(self.weights, self.weights)",
        "np.ones((m, m))",
        "Wishart difference",
        "noise law",
    ),
    "Wishart off the diagonal halved": (
        "dpreg.noise.wishart",
        "np.tril(rng.standard_normal((*shape, p, p)), -1)",
        "np.tril(rng.standard_normal((*shape, p, p)), -1) / 2",
        "PrivateLinearRegression",
        "noise law",
    ),
    "normal noise too small off the diagonal": (
        "dpreg.mechanisms.irls_laws.VectorLaw.matrix",
        "1.0, self.off_diagonal)",
        "1.0, self.off_diagonal**2)",
        "IRLS, Gaussian",
        "noise law",
    ),
    "many degrees, and five too few": (
        "dpreg.mechanisms.irls_laws.CentredWishart.matrix",
        "noise.wishart(p, self.degrees, shape, rng)",
        "noise.wishart(p, self.degrees - 5, shape, rng)",
        "IRLS, many degrees",
        "noise law",
    ),
    "counts with less noise": (
        "dpreg.noise.geometric",
        "rng.geometric(1 - alpha, shape) - rng.geometric(1 - alpha, shape)",
        "rng.geometric(1 - alpha, shape) - round(1 / (1 - alpha))",
        "Filter-Priority",
        "noise law",
    ),
    "empty cells pass less often": (
        "dpreg.mechanisms.filter_priority.survivors",
        "passing(alpha, level)",
        "passing(alpha, level + 1)",
        "Filter-Priority",
        "noise law",
    ),
    "exact counts pass the filter": (
        "dpreg.mechanisms.filter_priority.survivors",
        "kept = noisy >=",
        "kept = histogram.counts >=",
        "Filter-Priority",
        "noise law",
    ),
    "relevances with half the noise": (
        "dpreg.mechanisms.budget_split.privr",
        "np.abs(objective.v + drawn)",
        "np.abs(objective.v + drawn / 2)",
        "PrivR",
        "noise law",
    ),
    "half the tilt": (
        "dpreg.mechanisms.objective_perturbation.objective_perturbation",
        "rng.gamma(domain.p, scale)",
        "rng.gamma(domain.p, scale / 2)",
        "objective perturbation",
        "noise law",
    ),
    "a tilt to one side": (
        "dpreg.mechanisms.objective_perturbation.objective_perturbation",
        "direction / np.linalg",
        "np.abs(direction) / np.linalg",
        "objective perturbation",
        "noise law",
    ),
    # sensitivity
    "linear coefficients at half price": (
        "dpreg.pipeline.laws.Scales.cost",
        "abs(loss.cross) / 2 / self.v",
        "abs(loss.cross) / 4 / self.v",
        "functional",
        "sensitivity",
    ),
    "products counted once": (
        "dpreg.pipeline.laws.Scales.cost",
        "np.triu(inverse)",
        "(np.triu(inverse) + np.diag(np.diag(inverse))) / 2",
        "functional",
        "sensitivity",
    ),
    "replacing at the price of removing": (
        "dpreg.pipeline.sensitivity.worst_case",
        '(_box_replace(A, domain) if neighbours == "replace" else',
        '(_box_replace(A, domain) if neighbours == "other" else',
        "functional, monomial",
        "sensitivity",
    ),
    "the constant column free of charge": (
        "dpreg.mechanisms.wishart.largest_change",
        "float(w[1] ** 2) * domain.intercept",
        "0.0",
        "Wishart difference",
        "sensitivity",
    ),
    "norm of the wrong kind": (
        "dpreg.mechanisms.irls_moments.sensitivities",
        "first = 2 * cap * reach,",
        "first = 2 * cap * math.sqrt(square),",
        "IRLS, Laplace",
        "sensitivity",
    ),
    "histogram: one cell changes": ("dpreg.mechanisms.histogram.CHANGED", "replace", 1, "DPME", "sensitivity"),
    "gradient of one record only": (
        "dpreg.mechanisms.objective_perturbation.objective_perturbation",
        "(2.0 if",
        "(1.0 if",
        "objective perturbation",
        "sensitivity",
    ),
    "response not clipped": (
        "dpreg.pipeline.domain.Domain.scale_block",
        "np.clip(out[:, 0], -1.0, 1.0, out=out[:, 0])",
        "pass",
        "functional",
        "sensitivity",
    ),
    "predictors not clipped without a constant": (
        "dpreg.pipeline.domain.Domain.scale_block",
        "self.clip(Z)",
        "Z if not self.intercept else self.clip(Z)",
        "PrivateLinearRegression, Laplace",
        "sensitivity",
    ),
    "predictors not clipped": (
        "dpreg.pipeline.domain.Domain.scale_block",
        "self.clip(Z)",
        "pass",
        "IRLS, Wishart difference",
        "metamorphic",
    ),
    "a ball twice as large": (
        "dpreg.pipeline.domain.Ball.clip",
        "outside = norm > 1",
        "outside = norm > 2",
        "functional, ball",
        "sensitivity",
    ),
    "the last record counts twice": (
        "dpreg.pipeline.objective._moments",
        "gram += part.T @ part",
        "gram += part.T @ part + np.outer(part[-1], part[-1])",
        "functional",
        "sensitivity",
    ),
    # what the ledger says
    "ledger says half of epsilon": (
        "dpreg.pipeline.laws.Law.spends",
        "self.scale, epsilon, zcdp=rho)",
        "self.scale, epsilon / 2, zcdp=rho)",
        "functional",
        "budget algebra",
    ),
    "ledger says half of delta": (
        "dpreg.mechanisms.irls_laws.CentredWishart.promise",
        "hides(self.epsilon, freedom, 2 * loss)",
        "hides(self.epsilon, freedom, 2 * loss) / 2",
        "IRLS, many degrees",
        "budget algebra",
    ),
    "ledger says half of rho": (
        "dpreg.mechanisms.irls_laws.Gaussian.promise",
        "loss**2 / 2",
        "loss**2 / 4",
        "IRLS, Gaussian",
        "budget algebra",
    ),
    "rho of a small epsilon": (
        "dpreg.pipeline.ledger.Spend.rho",
        "zcdp_from_pure(self.epsilon)",
        "self.epsilon**2 / 8",
        "functional",
        "budget algebra",
    ),
    "ledger says other neighbours": (
        "dpreg.mechanisms.irls.Plan.ledger",
        "law.name, self.neighbours, norm",
        'law.name, "add_remove", norm',
        "IRLS, Laplace",
        "budget algebra",
    ),
    "two steps that each spend it all": (
        "dpreg.mechanisms.budget_split.privr",
        "((1 - share) * epsilon)",
        "epsilon",
        "PrivR",
        "budget algebra",
    ),
    "iterations are not charged": (
        "dpreg.mechanisms.irls.Plan.ledger",
        "tuple(spends) * self.iterations",
        "tuple(spends)",
        "IRLS, Wishart difference",
        "budget algebra",
    ),
    "repetition is not charged": (
        "dpreg.pipeline.repair.retry",
        "epsilon=2 * spend.epsilon",
        "epsilon=spend.epsilon",
        "repetition",
        "budget algebra",
    ),
    "normal noise by the wrong formula": (
        "dpreg.mechanisms.irls.gaussian",
        "change / math.sqrt(2 * share)",
        "change / math.sqrt(2 * math.log(1.25 + share))",
        "IRLS, Gaussian",
        "budget algebra",
    ),
    "a share taken twice": (
        "dpreg.mechanisms.budget_split.dpba",
        "(quadratic / alpha)",
        "(quadratic * alpha)",
        "DPBA",
        "budget algebra",
    ),
    # where the audit did not look before: REACH says with what it does
    "records clipped to -1 and 1, whatever the bounds": (
        "dpreg.pipeline.domain.Domain.scale_block",
        "self.clip(Z)",
        "np.clip(Z, -1 / self.unit, 1 / self.unit, out=Z)",
        "functional, other units",
        "sensitivity",
    ),
    "less noise from the fourth iteration on": (
        "dpreg.mechanisms.irls.follow",
        "plan.first.vector(p, rng)",
        "plan.first.vector(p, rng) * (1.0 if k < 3 else 0.5)",
        "IRLS, many iterations",
        "metamorphic",
    ),
    "half the noise where counts are clipped": (
        "dpreg.mechanisms.histogram._Slabs.__call__",
        "noise.laplace(self.scale,",
        "noise.laplace(self.scale / (2 if self.floor == 0 else 1),",
        "DPME, clipped",
        "noise law",
    ),
    "the last block of records forgotten": (
        "dpreg.pipeline.objective._moments",
        "range(0, len(rows), BLOCK)",
        "range(0, max(1, len(rows) - BLOCK), BLOCK)",
        "functional",
        "metamorphic",
    ),
    "a model fitted to the objective without noise": (
        "dpreg.estimators.private._Private._minimise",
        "repair.lift(self.release_.objective, law)",
        "repair.lift(f, law)",
        "PrivateLinearRegression",
        "metamorphic",
    ),
    "Gaussian noise for a change of one record removed": (
        "dpreg.mechanisms.gaussian._change",
        'math.sqrt(2) if checks.neighbours(neighbours) == "replace" else 1.0',
        "1.0",
        "Gaussian",
        "sensitivity",
    ),
    "Gaussian noise too small off the diagonal": (
        "dpreg.mechanisms.gaussian.Gaussian.deviations",
        "(math.sqrt(0.5) + (1 - math.sqrt(0.5))",
        "(0.5 + 0.5",
        "Gaussian",
        "noise law",
    ),
    "Gaussian noise for twice the rho that a delta allows": (
        "dpreg.mechanisms.gaussian.for_delta",
        "chance) ** 2 / 2",
        "chance) ** 2",
        "Gaussian, delta",
        "budget algebra",
    ),
    "half the noise on a lattice": (
        "dpreg.pipeline.lattice.adder",
        "* 4.0**exact.bits * SLACK",
        "* 4.0**exact.bits / 2",
        "functional, lattice",
        "noise law",
    ),
    "a mean that is released first, and free": (
        "dpreg.mechanisms.mean_first.MeanFirst.spends",
        "return (first, *self.rest",
        "return (Spend('mean', 'Laplace', neighbours, 'L1', 2.0, scale, 1e-9), *self.rest",
        "mean first",
        "budget algebra",
    ),
    "a mean that moves by one": (
        "dpreg.mechanisms.mean_first.mean_first",
        "MeanFirst(rest, REPLACED / first)",
        "MeanFirst(rest, 1.0 / first)",
        "mean first",
        "budget algebra",
    ),
    "half the noise on a mean that is released first": (
        "dpreg.mechanisms.mean_first.MeanFirst.perturb",
        "noise.laplace(self.scale_of_sum,",
        "noise.laplace(self.scale_of_sum / 2,",
        "mean first",
        "noise law",
    ),
    # the answer
    "a ridge that is too small": (
        "dpreg.mechanisms.objective_perturbation.objective_perturbation",
        "lift = ridge(domain.longest / 4,",
        "lift = ridge(domain.longest / 8,",
        "objective perturbation",
        "privacy loss",
    ),
    "linear coefficients at half price, seen in the answer": (
        "dpreg.pipeline.laws.Scales.cost",
        "abs(loss.cross) / 2 / self.v",
        "abs(loss.cross) / 4 / self.v",
        "functional, Taylor",
        "privacy loss",
    ),
    "NaN accepted": (
        "dpreg.checks.all_finite",
        "if not math.isfinite(total) and",
        "if math.isfinite(total) and",
        "DPME",
        "metamorphic",
    ),
    "any number is a label": (
        "dpreg.pipeline.objective.check_labels",
        "target[(target != low) & (target != high)]",
        "target[:0]",
        "objective perturbation",
        "metamorphic",
    ),
    "a ridge of its own": (
        "dpreg.mechanisms.irls.lifted",
        "np.maximum(values, floor)",
        "(np.maximum(values, floor) + 9.0)",
        "IRLS, Gaussian",
        "metamorphic",
    ),
}


# What finds a fault that the audit missed before: a mechanism, beside the one that misses it, or a relation.
REACH = {
    "records clipped to -1 and 1, whatever the bounds": "functional",
    "less noise from the fourth iteration on": "IRLS, Laplace",
    "half the noise where counts are clipped": "DPME",
    "the last block of records forgotten": "all records of many",
    "a model fitted to the objective without noise": "a model is what its release gives",
    "Gaussian noise for a change of one record removed": "functional",
    "Gaussian noise too small off the diagonal": "functional",
    "half the noise on a lattice": "functional",
}

# Found with five predictors, and missed with two.
MORE_COLUMNS = (
    "dpreg.pipeline.laws.Scales.perturb",
    "noise.laplace(self.v,",
    "noise.laplace(np.where(np.arange(self.p) < 3, self.v, self.v / 2),",
    "functional",
    "noise law",
)


def plant(place, old, new, monkeypatch):
    """Put a fault in its place, wherever the library refers to it; caches are emptied before and should be after."""
    names = place.split(".")
    cut = next(k for k in range(len(names), 0, -1) if ".".join(names[:k]) in sys.modules)
    module = importlib.import_module(".".join(names[:cut]))
    *owners, name = names[cut:]
    owner = module
    for part in owners:
        owner = getattr(owner, part)
    found = vars(owner)[name]
    if isinstance(found, dict):
        monkeypatch.setitem(found, old, new)
        return
    source = textwrap.dedent(inspect.getsource(found.fget if isinstance(found, property) else found))
    assert source.count(old) == 1, f"{place} no longer holds {old!r} once: write the fault anew"
    space = dict(vars(module))
    flags = __future__.annotations.compiler_flag
    exec(compile(source.replace(old, new), f"<{place}>", "exec", flags), space)
    space.update({key: value for key, value in vars(module).items() if key != name})
    if owner is not module:
        monkeypatch.setattr(owner, name, space[name])
        return
    for other in [one for key, one in sys.modules.items() if key.partition(".")[0] == "dpreg"]:
        for key, value in list(vars(other).items()):
            if value is found:
                monkeypatch.setattr(other, key, space[name])


def forget():
    """Empty all caches of the library: what they hold may be of other code."""
    for key, module in list(sys.modules.items()):
        if key.partition(".")[0] == "dpreg":
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
