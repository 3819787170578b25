"""Faults in forecasts and in the plan of the command line, each of which a test must notice."""

FORECAST = "dpreg.estimators.plan.expected_error"

MUTANTS = {
    "plan: excess measured on n records at once": (
        FORECAST,
        "excess = ((moved @ M) * moved).sum(axis=1) / constant",
        "excess = ((moved @ M) * moved).sum(axis=1) / constant / count",
        "test_plan.py -k fits_to_records",
    ),
    "plan: linear noise forgotten in the first order": (
        FORECAST,
        "half = added.M @ theta + added.v / 2",
        "half = added.M @ theta",
        "test_plan.py -k 'formula or hand'",
    ),
    "plan: moments of the intercept when there is none": (
        "dpreg.estimators.plan._basis",
        "np.delete(whole, 1, axis=0)",
        "np.delete(whole, 2, axis=0)",
        "test_plan.py -k comparison",
    ),
    "plan: neighbours dropped": (
        FORECAST,
        "count, neighbours=neighbours, loss",
        "count, neighbours='replace', loss",
        "test_plan.py -k formula",
    ),
    "plan: standard error of one draw": (
        FORECAST,
        "/ math.sqrt(len(excess))",
        "/ math.sqrt(1)",
        "test_plan.py -k seeds",
    ),
    "plan: the first order said to hold too far out": (
        "dpreg.estimators.plan.Forecast.near",
        "self.noise <= NEAR",
        "self.noise <= 9 * NEAR",
        "test_plan.py -k 'said_to or words'",
    ),
    "plan: stand-in explains too much": (
        "dpreg.estimators.plan.stand_in",
        "math.sqrt(share / (1 - share) / (3 * second",
        "math.sqrt(share / (1 - share) / (2 * second",
        "test_plan.py -k stand_in",
    ),
    "plan: half-filled bounds said to be half as spread": (
        "dpreg.estimators.plan.stand_in",
        "part**2 * second",
        "part * second",
        "test_plan.py -k 'stand_in or filled'",
    ),
    "plan: the lower end of the search": (
        "dpreg.estimators.plan.epsilon_for",
        "return math.exp(high)",
        "return math.exp(low)",
        "test_plan.py -k 'enough_and'",
    ),
    "plan: wider bounds of the response in their own units": (
        "dpreg.estimators.plan.compare",
        "constant=k**2 * found",
        "constant=found",
        "test_plan.py -k same_records",
    ),
    "plan: records widened with the bounds": (
        "dpreg.estimators.plan.compare",
        "wide[2:], tall[0] = 1 / k, 1 / k",
        "wide[2:], tall[0] = 1.0, 1 / k",
        "test_plan.py -k same_records",
    ),
    "plan: mean of the target in scaled units": (
        "dpreg.estimators.command_plan._moments",
        "mean / domain.half_width",
        "mean",
        "test_command_plan.py -k 'plan'",
    ),
    "plan: public records on the corner": (
        "dpreg.estimators.command_plan._moments",
        "moments(X, y, domain.centred)",
        "moments(X + 1, y, domain.centred)",
        "test_command_plan.py -k 'public'",
    ),
    "plan: delta dropped": (
        "dpreg.estimators.command_plan.tables",
        '"delta": given.delta',
        '"delta": 1e-3',
        "test_command_plan.py -k 'plan'",
    ),
}
