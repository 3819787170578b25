"""Faults in TukeyEM and Theil-Sen, each of which a test must notice."""

MUTANTS = {
    "tukey: a box of one depth too many": (
        "dpreg.sweeps.tukey.log_volumes",
        "ordered[::-1][:half] - ordered[:half]",
        "ordered[::-1][1 : half + 1] - ordered[:half]",
        "test_tukey.py -k counted_one_by_one",
    ),
    "tukey: boxes with the weights of shells": (
        "dpreg.sweeps.tukey.log_weights",
        " + math.log(-math.expm1(-rate))",
        "",
        "test_tukey.py -k rises_with_the_depth",
    ),
    "tukey: models that may be others do not widen the first box": (
        "dpreg.sweeps.tukey.log_weights",
        "logs[depth - moved - 1 : depth - moved]",
        "logs[depth - 1 : depth]",
        "test_tukey.py -k no_fewer_models",
    ),
    "tukey: models that may be others do not narrow the inner boxes": (
        "dpreg.sweeps.tukey.log_weights",
        "logs[depth + moved :]",
        "logs[depth:]",
        "test_tukey.py -k no_fewer_models",
    ),
    "tukey: a distance of one too many": (
        "dpreg.sweeps.tukey.distance",
        "return bisect_left(range(len(logs) // 2), True, key=unsafe)",
        "return bisect_left(range(len(logs) // 2), True, key=unsafe) + 1",
        "test_tukey.py -k no_fewer_models",
    ),
    "tukey: a threshold for one of two neighbours": (
        "dpreg.sweeps.tukey.budgets",
        "1 + math.log(",
        "math.log(",
        "test_tukey.py -k chance_of_delta",
    ),
    "tukey: the noise of the test with the inverse scale": (
        "dpreg.sweeps.tukey.budgets",
        "return 1 / test,",
        "return test,",
        "test_tukey.py -k laplace_noise",
    ),
    "tukey: a density that costs twice its epsilon": (
        "dpreg.sweeps.tukey.budgets",
        "math.log1p(-chance)) / 2",
        "math.log1p(-chance))",
        "test_tukey.py -k have_the_law",
    ),
    "tukey: a draw from the box of the next depth": (
        "dpreg.sweeps.tukey.deep_points",
        "len(fits) // 4 + rng",
        "len(fits) // 4 + 1 + rng",
        "test_tukey.py -k have_the_law",
    ),
    "tukey: a released point where the test fails": (
        "dpreg.sweeps.tukey.deep_points",
        "if rng.uniform() >= chances[epsilon]:",
        "if True:",
        "test_tukey.py -k have_the_law",
    ),
    "tukey: parts that share records": (
        "dpreg.sweeps.tukey.models",
        "rng.permutation(len(Z))[: m * records]",
        "rng.integers(len(Z), size=m * records)",
        "test_tukey.py -k disjoint_parts",
    ),
    "tukey: the first records only": (
        "dpreg.sweeps.tukey.models",
        "rng.permutation(len(Z))[: m * records]",
        "np.arange(m * records)",
        "test_tukey.py -k disjoint_parts",
    ),
    "theil_sen: the noise of one value that is added": (
        "dpreg.sweeps.theil_sen.private_median",
        "4 / checks",
        "2 / checks",
        "test_theil_sen.py -k have_the_law",
    ),
    "theil_sen: values at a candidate count as above it": (
        "dpreg.sweeps.theil_sen.scores",
        ', side="right"',
        "",
        "test_theil_sen.py -k have_the_law",
    ),
    "theil_sen: pairs that share records": (
        "dpreg.sweeps.theil_sen.predicted",
        "rng.permutation(len(x))[: len(x) // 2 * 2]",
        "rng.integers(len(x), size=len(x) // 2 * 2)",
        "test_theil_sen.py -k through_pairs",
    ),
    "theil_sen: a line through the cuts the wrong way round": (
        "dpreg.sweeps.theil_sen.theil_sen",
        "high - low)",
        "low - high)",
        "test_theil_sen.py -k without_noise",
    ),
    "contest: a test that fails is no failure": (
        "lib.papers.contest.more_rivals",
        'failed=frame["value"].isna()',
        "failed=False",
        "test_contest.py -k where_it_fails",
    ),
}
