"""Faults in budget_split, best_scales and the general bound of sensitivity that the tests must find."""

MUTANTS = {
    "DPBA forgets that the second share is what is left": (
        "dpreg.mechanisms.budget_split.dpba",
        "unit.v * (linear / (1 - alpha))",
        "unit.v * (linear / alpha)",
        "test_budget_split.py -k 'costs_more or draw_for_draw'",
    ),
    "DPC protects the column and not the row": (
        "dpreg.mechanisms.budget_split.dpc",
        "np.maximum(less[:, None], less)",
        "less + 0 * less[:, None]",
        "test_budget_split.py -k 'every_monomial'",
    ),
    "DPC skips its certificate": (
        "dpreg.mechanisms.budget_split.dpc",
        "    if cost > factor * (1 + 1e-12):",
        "    if cost > 9 * factor:",
        "test_budget_split.py -k opt_in",
    ),
    "PrivR spends the relevance budget twice": (
        "dpreg.mechanisms.budget_split.privr",
        "shape.times(total / ((1 - share) * epsilon))",
        "shape.times(total / epsilon)",
        "test_budget_split.py -k privr",
    ),
    "PrivR's relevances with half the noise": (
        "dpreg.mechanisms.budget_split.privr",
        "noise.laplace(scale, (p,), state)",
        "noise.laplace(scale / 2, (p,), state)",
        "test_budget_split.py -k relevances",
    ),
    "PrivR hides that the bounds leak": (
        "dpreg.mechanisms.budget_split.privr",
        "change / scale, caveat=domain.caveat)",
        "change / scale)",
        "test_budget_split.py -k leak",
    ),
    "PrivR is not charged": (
        "dpreg.mechanisms.budget_split.privr",
        "state), random_state, budget)",
        "state), random_state)",
        "test_budget_split.py -k 'charges'",
    ),
    "design stops at the common scale": (
        "dpreg.mechanisms.best_scales.optimal",
        "    best = build(found)\n",
        "    best = build(0 * found)\n",
        "test_best_scales.py -k worse_start",
    ),
    "design forgets the last certificate": (
        "dpreg.mechanisms.best_scales.optimal",
        "best.times(certify(best, domain, neighbours, loss) / budgets)",
        "best.times(certify(best, domain, neighbours, loss) * 0.97 / budgets)",
        "test_best_scales.py -k cost_epsilon",
    ),
    "lower bound too high": (
        "dpreg.mechanisms.best_scales.least",
        "bounds=box, method=",
        "bounds=None, method=",
        "test_best_scales.py -k smaller_criterion",
    ),
    "certificate trusts its optimiser": (
        "dpreg.pipeline.sensitivity._concave_bound.bound",
        "return change(u) + float(np.where(slope(u) > 0, high - u, low - u) @ slope(u))",
        "return change(u)",
        "test_sensitivity.py -k trust",
    ),
    "relaxation is not lifted": (
        "dpreg.pipeline.sensitivity._box_general",
        "lift = max(0.0, -float(np.linalg.eigvalsh(A[np.ix_(free, free)])[0]))",
        "lift = 0.0",
        "test_sensitivity.py -k 'grid or sound'",
    ),
    "unlike predictors evened by their mean": (
        "dpreg.pipeline.sensitivity._evened",
        "A[:first, first:].max(axis=1, keepdims=True)",
        "A[:first, first:].mean(axis=1, keepdims=True)",
        "test_sensitivity.py -k 'grid or sound'",
    ),
}
