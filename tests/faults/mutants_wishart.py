"""Faults in the Wishart difference, its repair and the estimators, each of which a test must notice."""

MUTANTS = {
    "Wishart difference: half the spread": (
        "dpreg.mechanisms.wishart.difference",
        "WishartDifference(chosen, change / (2 * budgets),",
        "WishartDifference(chosen, change / (4 * budgets),",
        "test_wishart.py -k costs_what",
    ),
    "Wishart difference: one Wishart matrix only, not centred": (
        "dpreg.mechanisms.wishart.WishartDifference._drawn",
        "noise.wishart(m, m + 1, batch, rng) - noise.wishart(m, m + 1, batch, rng)",
        "noise.wishart(m, m + 1, batch, rng) - (m + 1) * np.eye(m)",
        "test_wishart.py -k noise_law",
    ),
    "Wishart difference: twice the degrees of freedom": (
        "dpreg.mechanisms.wishart.WishartDifference._drawn",
        "noise.wishart(m, m + 1, batch, rng) - noise.wishart(m, m + 1, batch, rng)",
        "noise.wishart(m, m + 2, batch, rng) - noise.wishart(m, m + 2, batch, rng)",
        "test_wishart.py -k noise_law",
    ),
    "Wishart difference: no coordinate may slide": (
        "dpreg.mechanisms.wishart._slide",
        "np.clip(roots.real, least, reach)",
        "np.full_like(roots.real, reach)",
        "test_wishart.py -k 'beats or single'",
    ),
    "Wishart difference: the ball's trade-off halved": (
        "dpreg.mechanisms.wishart.largest_change",
        "_chord(c + a * s + b, a * (1 - s), b)",
        "_chord(c + a * s + b / 2, a * (1 - s), b / 2)",
        "test_wishart.py -k beats",
    ),
    "Wishart difference: a corner box taken for one around zero": (
        "dpreg.mechanisms.wishart.largest_change",
        "0.5 / math.sqrt(d)) if corner",
        "0.0) if corner",
        "test_wishart.py -k 'beats or grid'",
    ),
    "lift: weights forgotten on the way back": (
        "dpreg.pipeline.repair._lifted",
        "back = vectors / w[:, None]",
        "back = vectors",
        "test_repair.py -k lift",
    ),
    "lift: negative directions kept": (
        "dpreg.pipeline.repair._lifted",
        "above * lifted",
        "np.abs(values) * lifted",
        "test_repair.py -k lift",
    ),
    "estimators: log-odds in units of the response": (
        "dpreg.estimators.private.PrivateLogisticRegression.fit",
        "self.coef_ = model.slopes[None] / domain.half_width",
        "self.coef_ = model.slopes[None]",
        "test_private.py -k minimises",
    ),
    "estimators: the declared neighbours dropped": (
        "dpreg.estimators.private._Private._minimise",
        '"neighbours": self.neighbours, ',
        "",
        "test_private.py -k ledger",
    ),
    "estimators: the budget never charged": (
        "dpreg.estimators.private._Private._minimise",
        "neighbours=self.neighbours, budget=budget",
        "neighbours=self.neighbours",
        "test_private.py -k ledger",
    ),
}
