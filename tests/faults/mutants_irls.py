"""Faults in irls, irls_moments and chi_square, and the tests that must notice."""

MUTANTS = {
    "a plan whose bounds were read off the data says nothing": (
        "dpreg.mechanisms.irls.Plan.ledger",
        "in (self.domain.caveat, law.caveat)",
        "in (law.caveat,)",
        "test_pay.py -k bounds_read",
    ),
    "exposure of one iteration": (
        "dpreg.mechanisms.irls.Plan.exposure",
        "self.iterations * math.log1p(-one)",
        "math.log1p(-one)",
        "test_irls.py -k exposure",
    ),
    "exposure of noise that is two-sided": (
        "dpreg.mechanisms.irls.Plan.exposure",
        "if not self.second.one_sided:",
        "if False:",
        "test_irls.py -k exposure_is_the",
    ),
    "weights not capped": (
        "dpreg.mechanisms.irls_moments.moments",
        "np.maximum(size, floor, out=size)",
        "np.maximum(size, floor / 2, out=size)",
        "test_irls_moments.py -k 'row_by_row or exceeds'",
    ),
    "all weights capped by the first cap": (
        "dpreg.mechanisms.irls_moments.stacked",
        "np.maximum(size, floors, out=size)",
        "np.maximum(size, floors[0], out=size)",
        "test_irls_moments.py -k stacked",
    ),
    "the last rows of a stack forgotten": (
        "dpreg.mechanisms.irls_moments.stacked",
        "for start in range(0, len(rows), SHORT)",
        "for start in range(0, len(rows) - SHORT, SHORT)",
        "test_irls_moments.py -k stacked",
    ),
    "a plan that has ended holds up the others": (
        "dpreg.mechanisms.irls.follow",
        "for k in range(max(plan.iterations for plan in plans)):",
        "for k in range(min(plan.iterations for plan in plans)):",
        "test_irls.py -k side_by_side",
    ),
    "all plans draw from one generator": (
        "dpreg.mechanisms.irls.follow",
        "plan.first.vector(p, rng)",
        "plan.first.vector(p, rngs[0])",
        "test_irls.py -k side_by_side",
    ),
    "nuclear norm of one row only": (
        "dpreg.mechanisms.irls_moments.sensitivities",
        "math.sqrt(2) * row, 2 * row, row)",
        "math.sqrt(2) * row, row, row)",
        "test_irls_moments.py -k exceeds",
    ),
    "orthogonal rows forgotten": (
        "dpreg.mechanisms.irls_moments.sensitivities",
        "math.sqrt(2) * row, 2 * row",
        "row, 2 * row",
        "test_irls_moments.py -k exceeds",
    ),
    "Gaussian noise as much off the diagonal, the level as before": (
        "dpreg.mechanisms.irls_laws.VectorLaw.matrix",
        "1.0, self.off_diagonal)",
        "1.0, 1.0)",
        "test_irls_laws.py -k law_of_the_matrix",
    ),
    "one Wishart matrix too few": (
        "dpreg.mechanisms.irls_laws.WishartDifference.matrix",
        "(first - noise.wishart(p, self.degrees, shape, rng))",
        "(first - self.degrees * np.eye(p))",
        "test_irls_laws.py -k 'law_of_the_matrix or one_dimension or sampler'",
    ),
    "moments without noise after the first iteration": (
        "dpreg.mechanisms.irls.follow",
        "gram[1:, 1:] + plan.second.matrix(p, rng)",
        "gram[1:, 1:] + (k == 0) * plan.second.matrix(p, rng)",
        "test_irls.py -k fresh",
    ),
    "one release of two paid for": (
        "dpreg.mechanisms.irls._share",
        "return checks.budget(total, name) / (2 * checks.count(",
        "return checks.budget(total, name) / (1 * checks.count(",
        "test_irls.py -k 'declared or share'",
    ),
    "the gap not charged": (
        "dpreg.mechanisms.irls_laws.Wishart.promise",
        "(loss, -math.expm1(-loss), math.inf)",
        "(loss, 0.0, math.inf)",
        "test_irls.py -k leaves_a_gap",
    ),
    "one order of the neighbours only": (
        "dpreg.mechanisms.chi_square.delta",
        "worst = max(worst, _excess(law.sf(high - a)",
        "worst = min(worst, _excess(law.sf(high - a)",
        "test_chi_square.py -k 'hockey or number_costs'",
    ),
    "calibrated on the wrong side": (
        "dpreg.mechanisms.chi_square._search",
        "return root * (1 - sign * 1e-9)",
        "return root * (1 + sign * 1e-9)",
        "test_chi_square.py -k safe_side",
    ),
    "a plan without noise is free": (
        "dpreg.mechanisms.irls_laws.MomentLaw.price",
        "found = NOTHING if loss == math.inf",
        "found = (0.0, 0.0, 0.0) if loss == math.inf",
        "test_irls.py -k 'without_noise or wrong_degrees'",
    ),
    "the ledger does not look at the cap": (
        "dpreg.mechanisms.irls.Plan.ledger",
        "size, spends = sensitivities(self.domain, self.cap, self.neighbours), []",
        "size, spends = sensitivities(self.domain, 2.0, self.neighbours), []",
        "test_irls.py -k 'worked_out or declared'",
    ),
    "replacing priced as removing, many degrees": (
        "dpreg.mechanisms.chi_square.halved",
        "return epsilon / 2, part",
        "return epsilon, part",
        "test_chi_square.py -k costs_both",
    ),
}
