"""Faults in lib.shares, lib.design and the general bound of lib.sensitivity that the tests must find."""

MUTANTS = {
    "DPBA forgets that the second share is what is left": (
        "shares.py",
        "unit.v * (linear / (1 - alpha))",
        "unit.v * (linear / alpha)",
        "test_shares.py -k 'costs_more or draw_for_draw'",
    ),
    "DPC protects the column and not the row": (
        "shares.py",
        "np.maximum(less[:, None], less)",
        "less + 0 * less[:, None]",
        "test_shares.py -k 'every_monomial'",
    ),
    "DPC skips its certificate": (
        "shares.py",
        "    if cost > factor * (1 + 1e-12):",
        "    if cost > 9 * factor:",
        "test_shares.py -k opt_in",
    ),
    "PrivR spends the relevance budget twice": (
        "shares.py",
        "shape.times(total / ((1 - share) * epsilon))",
        "shape.times(total / epsilon)",
        "test_shares.py -k privr",
    ),
    "PrivR's relevances with half the noise": (
        "shares.py",
        "noise.laplace(scale, (p,), random_state)",
        "noise.laplace(scale / 2, (p,), random_state)",
        "test_shares.py -k relevances",
    ),
    "PrivR hides that the bounds leak": (
        "shares.py",
        "change / scale, caveat=caveat)",
        "change / scale)",
        "test_shares.py -k leak",
    ),
    "PrivR is not charged": (
        "shares.py",
        "        budget.charge(spend, random_state)\n",
        "        pass\n",
        "test_shares.py -k 'charges'",
    ),
    "design stops at the common scale": (
        "design.py",
        "    best = build(found)\n",
        "    best = build(0 * found)\n",
        "test_design.py -k worse_start",
    ),
    "design forgets the last certificate": (
        "design.py",
        "best.times(certify(best, domain, neighbours, loss) / budgets)",
        "best.times(certify(best, domain, neighbours, loss) * 0.97 / budgets)",
        "test_design.py -k cost_epsilon",
    ),
    "lower bound too high": (
        "design.py",
        "bounds=box, method=",
        "bounds=None, method=",
        "test_design.py -k smaller_criterion",
    ),
    "certificate trusts its optimiser": (
        "sensitivity.py",
        "return change(u) + float(np.where(slope(u) > 0, high - u, low - u) @ slope(u))",
        "return change(u)",
        "test_sensitivity.py -k trust",
    ),
    "relaxation is not lifted": (
        "sensitivity.py",
        "lift = max(0.0, -float(np.linalg.eigvalsh(A[np.ix_(free, free)])[0]))",
        "lift = 0.0",
        "test_sensitivity.py -k 'grid or sound'",
    ),
    "unlike predictors evened by their mean": (
        "sensitivity.py",
        "A[:first, first:].max(axis=1, keepdims=True)",
        "A[:first, first:].mean(axis=1, keepdims=True)",
        "test_sensitivity.py -k 'grid or sound'",
    ),
}
