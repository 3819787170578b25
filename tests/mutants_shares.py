"""Faults in lib.shares and lib.design that the tests must find."""

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
        "test_design.py -k 'formula or worse'",
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
        "test_design.py -k 'meet or smaller'",
    ),
}
