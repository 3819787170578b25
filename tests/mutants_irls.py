"""Faults to put into lib.irls, lib.weighted and lib.sheffet, and the tests that must notice."""

MUTANTS = {
    "weights not capped": (
        "weighted.py",
        "np.maximum(size, floor, out=size)",
        "np.maximum(size, floor / 2, out=size)",
        "test_irls.py -k 'row_by_row or exceeds'",
    ),
    "nuclear norm of one row only": (
        "weighted.py",
        "math.sqrt(2) * row, 2 * row, row)",
        "math.sqrt(2) * row, row, row)",
        "test_irls.py -k exceeds",
    ),
    "orthogonal rows forgotten": (
        "weighted.py",
        "math.sqrt(2) * row, 2 * row",
        "row, 2 * row",
        "test_irls.py -k exceeds",
    ),
    "Gaussian noise as much off the diagonal, the level as before": (
        "irls.py",
        'math.sqrt(0.5) if self.law == "Gaussian"',
        '1.0 if self.law == "Gaussian"',
        "test_irls.py -k 'law_of_the_matrix or fresh'",
    ),
    "one Wishart matrix too few": (
        "irls.py",
        "first -= noise.wishart(p, self.degrees, shape, rng)",
        "first -= self.degrees * np.eye(p)",
        "test_irls.py -k 'law_of_the_matrix or one_dimension or sampler'",
    ),
    "moments without noise after the first iteration": (
        "irls.py",
        "gram[1:, 1:] + plan.second.matrix(p, rng)",
        "gram[1:, 1:] + (k == 0) * plan.second.matrix(p, rng)",
        "test_irls.py -k fresh",
    ),
    "one release of two paid for": (
        "irls.py",
        "return checks.budget(total, name) / (2 * checks.count(",
        "return checks.budget(total, name) / (1 * checks.count(",
        "test_irls.py -k 'declared or share'",
    ),
    "the gap not charged": (
        "irls.py",
        "epsilon, delta = loss, -math.expm1(-loss)",
        "epsilon, delta = loss, 0.0",
        "test_irls.py -k leaves_a_gap",
    ),
    "one order of the neighbours only": (
        "sheffet.py",
        "worst = max(worst, _excess(law.sf(high - a)",
        "worst = min(worst, _excess(law.sf(high - a)",
        "test_irls.py -k 'hockey or number_costs'",
    ),
    "calibrated on the wrong side": (
        "sheffet.py",
        "return root * (1 - sign * 1e-9)",
        "return root * (1 + sign * 1e-9)",
        "test_irls.py -k safe_side",
    ),
    "a plan without noise is free": (
        "irls.py",
        "epsilon, delta, rho = math.inf, 0.0, math.inf  #",
        "epsilon, delta, rho = 0.0, 0.0, 0.0  #",
        "test_irls.py -k 'without_noise or wrong_degrees'",
    ),
    "the ledger does not look at the cap": (
        "irls.py",
        "size, spends = sensitivities(self.domain, self.cap, self.neighbours), []",
        "size, spends = sensitivities(self.domain, 2.0, self.neighbours), []",
        "test_irls.py -k 'worked_out or declared'",
    ),
    "replacing priced as removing, many degrees": (
        "sheffet.py",
        "return epsilon / 2, part",
        "return epsilon, part",
        "test_irls.py -k 'costs_both or share'",
    ),
}
