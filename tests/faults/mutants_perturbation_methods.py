"""Faults in rivals that perturb an objective, each of which a test must notice."""

MUTANTS = {
    "perturbation methods: a tail of one side": (
        "dpreg.sweeps.perturbation_methods._quantile",
        " - math.log(2)",
        "",
        "test_perturbation_methods.py -k solves",
    ),
    "perturbation methods: a record added, not replaced": (
        "dpreg.sweeps.perturbation_methods.gaussian_tilt",
        'return 2 * checks.positive(slope, "slope")',
        'return checks.positive(slope, "slope")',
        "test_perturbation_methods.py -k solves",
    ),
    "perturbation methods: half the ridge": (
        "dpreg.sweeps.perturbation_methods.squares",
        "ridge(BEND * square,",
        "ridge(BEND * square / 2,",
        "test_perturbation_methods.py -k tilt_and_ridge",
    ),
    "perturbation methods: the tilt of one record": (
        "dpreg.sweeps.perturbation_methods.squares",
        "_in_sup_norm(2 * SLOPE / (share",
        "_in_sup_norm(SLOPE / (share",
        "test_perturbation_methods.py -k tilt_and_ridge",
    ),
    "perturbation methods: a tilt of one degree too few": (
        "dpreg.sweeps.perturbation_methods._in_sup_norm",
        "shape[-1] + 1",
        "shape[-1]",
        "test_perturbation_methods.py -k tilt_and_ridge",
    ),
    "perturbation methods: a face is taken whatever its signs": (
        "dpreg.sweeps.perturbation_methods._on_the_edge",
        "(theta * signs >= 0).all(axis=-1) & ",
        "",
        "test_perturbation_methods.py -k face",
    ),
    "perturbation methods: a face is taken wherever the minimum is": (
        "dpreg.sweeps.perturbation_methods._on_the_edge",
        " & (gap <= GAP * np.abs(g).max(axis=-1))",
        "",
        "test_perturbation_methods.py -k face",
    ),
    "perturbation methods: a gradient mechanism without its second half": (
        "dpreg.sweeps.perturbation_methods.proposals",
        "4 * SLOPE / epsilon",
        "2 * SLOPE / epsilon",
        "test_perturbation_methods.py -k has_its_density",
    ),
    "perturbation methods: the first draw, inside or not": (
        "dpreg.sweeps.perturbation_methods._first_inside",
        "theta[kept][0]",
        "theta[0]",
        "test_perturbation_methods.py -k has_its_density",
    ),
    "row methods: descent pays for one step": (
        "dpreg.sweeps.row_methods.logistic_descent",
        "np.sqrt(square * count)",
        "np.sqrt(square)",
        "test_row_methods.py -k plain_loop",
    ),
}
