"""Bad input for the black-box half of dpreg.audit."""

import math

from dpreg.audit import black_box, clopper_pearson, pairs

PAIR = pairs.Pair("a response", [[1.0]], [1.0], [[1.0]], [0.0])
BOX, UNIT = (0.0, 1.0), (0.0, 1.0)


def make(X, y, seed):
    return float(sum(y))


def audit(function=make, given=(PAIR,), epsilon=1.0, **options):
    return black_box.estimator(function, given, epsilon, **({"draws": 100} | options))


def standard(bounds_X=BOX, bounds_y=UNIT, **options):
    return pairs.standard(bounds_X, bounds_y, **options)


CHANCES = (0, 1, -0.1, math.nan, "0.5", None)
RANDOM = (-1, 1.5, "seed", True)

CASES = {
    "black_box.estimator": [
        ("make is of type int: give a function", lambda: audit(3)),
        ("there are no pairs: give", lambda: audit(given=[])),
        ("pairs is of type int: give Pair", lambda: audit(given=[3])),
        *[("epsilon", lambda value=value: audit(epsilon=value)) for value in (0, -1, math.nan, "1", 1e60)],
        *[("confidence is", lambda value=value: audit(confidence=value)) for value in CHANCES],
        *[("delta is", lambda value=value: audit(delta=value)) for value in (1, -0.1, math.nan, "0")],
        *[("draws is", lambda value=value: audit(draws=value)) for value in (79, 100.0, True, "100")],
        *[("random_state is", lambda value=value: audit(random_state=value)) for value in RANDOM],
        ("stop_early is 'no': give True", lambda: audit(stop_early="no")),
        ("many is 'no': give True", lambda: audit(many="no")),
        ("progress is 'no': give True", lambda: audit(progress="no")),
        ("classifier is 'no': give True", lambda: audit(classifier="no")),
        ("n_jobs is 0: give", lambda: audit(n_jobs=0)),
        ("n_jobs is 1.5: give", lambda: audit(n_jobs=1.5)),
        ("read is of type int: give a function", lambda: audit(read=3)),
        ("assume is 'laplace': choose", lambda: audit(assume="laplace")),
        ("delta is 0, and Gaussian noise.*give", lambda: audit(assume="gaussian")),
        ("make raised TypeError with every pair", lambda: audit(lambda X: X)),
        ("no number was found.*give read=", lambda: audit(lambda X, y, seed: None)),
        ("no more than epsilon = .*give at least", lambda: audit(epsilon=5.0)),
        ("no number of draws would refute it, give", lambda: audit(epsilon=50.0)),
        ("50: use one row per release", lambda: audit(lambda X, y, rng, n: [1.0], many=True)),
    ],
    "clopper_pearson.limits": [
        ("draws is 0: give", lambda: clopper_pearson.limits(0, 0.1)),
        *[("risk is", lambda value=value: clopper_pearson.limits(10, value)) for value in CHANCES],
    ],
    "clopper_pearson.lower_bound": [
        ("hits are not all between 0 and 10: give", lambda: clopper_pearson.lower_bound(11, 0, 10)),
        ("hits_other are not all between 0 and 10: give", lambda: clopper_pearson.lower_bound(1, -1, 10)),
        ("hits are not all.*whole numbers", lambda: clopper_pearson.lower_bound(1.0, 1, 10)),
        ("hits has entries of type", lambda: clopper_pearson.lower_bound("1", 1, 10)),
        ("draws is 1.5: give", lambda: clopper_pearson.lower_bound(1, 1, 1.5)),
        ("delta is 1: give", lambda: clopper_pearson.lower_bound(1, 1, 10, delta=1)),
        ("delta is -1: give", lambda: clopper_pearson.lower_bound(1, 1, 10, delta=-1)),
        ("delta is 0, and Gaussian noise.*give", lambda: clopper_pearson.lower_bound(1, 1, 10, gaussian=True)),
        *[("confidence is", lambda value=value: clopper_pearson.lower_bound(1, 1, 10, value)) for value in CHANCES],
    ],
    "clopper_pearson.largest_provable": [
        ("draws is 0: give", lambda: clopper_pearson.largest_provable(0)),
        ("confidence is 1: give", lambda: clopper_pearson.largest_provable(10, 1)),
        ("delta is 1: give", lambda: clopper_pearson.largest_provable(10, delta=1)),
    ],
    "clopper_pearson.power": [
        ("p is 1.1: give", lambda: clopper_pearson.power(1.1, 0.1, 1.0, 10)),
        ("q is -0.1: give", lambda: clopper_pearson.power(0.1, -0.1, 1.0, 10)),
        ("epsilon is 0: give", lambda: clopper_pearson.power(0.5, 0.1, 0, 10)),
        ("draws is 0: give", lambda: clopper_pearson.power(0.5, 0.1, 1.0, 0)),
        ("tests is 0: give", lambda: clopper_pearson.power(0.5, 0.1, 1.0, 10, tests=0)),
        ("delta is nan: give", lambda: clopper_pearson.power(0.5, 0.1, 1.0, 10, delta=math.nan)),
        ("confidence is 2: give", lambda: clopper_pearson.power(0.5, 0.1, 1.0, 10, 2)),
    ],
    "clopper_pearson.draws_needed": [
        ("which epsilon = 1 allows: give", lambda: clopper_pearson.draws_needed(0.2, 0.1, 1.0)),
        ("10.7 draws would not refute", lambda: clopper_pearson.draws_needed(0.27183, 0.1, 1.0)),
        ("wanted is 1: give", lambda: clopper_pearson.draws_needed(0.5, 0.1, 1.0, 1)),
        ("p is nan: give", lambda: clopper_pearson.draws_needed(math.nan, 0.1, 1.0)),
        ("q is 'a': give", lambda: clopper_pearson.draws_needed(0.5, "a", 1.0)),
    ],
    "clopper_pearson.power_table": [
        ("epsilon is 0: give", lambda: clopper_pearson.power_table(0)),
        ("allows: give", lambda: clopper_pearson.power_table(1.0, [1.0])),
        ("factors has shape", lambda: clopper_pearson.power_table(1.0, [])),
    ],
    "pairs.Pair": [
        ("X has shape", lambda: pairs.Pair("p", [1.0], [1.0], [[1.0]], [1.0])),
        ("2 records and y has 1", lambda: pairs.Pair("p", [[1.0], [2.0]], [1.0], [[1.0]], [1.0])),
        ("shapes .* give neighbours", lambda: pairs.Pair("p", [[1.0]], [1.0], [[1.0, 2.0]], [1.0])),
        ("2 records differ: give", lambda: pairs.Pair("p", [[1.0]] * 2, [1.0] * 2, [[2.0]] * 2, [1.0] * 2)),
        ("name is 3: give", lambda: pairs.Pair(3, [[1.0]], [1.0], [[1.0]], [0.0])),
    ],
    "pairs.standard": [
        ("both given, or both missing: give one", lambda: standard(None)),
        ("both given, or both missing: give one", lambda: standard(data_norm=1.0)),
        ("both given, or both missing: give bounds_y", lambda: standard(bounds_y=None)),
        ("both given, or both missing: give bounds_y", lambda: standard(labels=(0, 1))),
        ("give lower < upper", lambda: standard((1.0, 0.0))),
        ("give lower < upper", lambda: standard(([0.0, 1.0], [1.0, 1.0]))),
        (r"give \(lower, upper\)", lambda: standard(3.0)),
        (r"give \(lower, upper\)", lambda: standard((1.0,))),
        ("give a finite number for each", lambda: standard((0.0, math.inf))),
        ("3 columns: give a finite number for each", lambda: standard(([0.0, 0.0], [1.0, 1.0]), d=3)),
        ("bounds_X has entries of type", lambda: standard(("a", "b"))),
        (r"bounds_y are \(1.0, 0.0\): give", lambda: standard(bounds_y=(1.0, 0.0))),
        (r"bounds_y are \(1.0,\): give", lambda: standard(bounds_y=(1.0,))),
        ("bounds_y holds nan", lambda: standard(bounds_y=(math.nan, 1.0))),
        (r"labels are \(1, 1\): give two", lambda: standard(bounds_y=None, labels=(1, 1))),
        (r"labels are \(1, 2, 3\): give two", lambda: standard(bounds_y=None, labels=(1, 2, 3))),
        ("labels has entries of type", lambda: standard(bounds_y=None, labels=("a", "b"))),
        ("data_norm is 0: give", lambda: standard(None, data_norm=0, d=2)),
        ("d is None: give", lambda: standard(None, data_norm=1.0)),
        ("d is 0: give", lambda: standard(d=0)),
        ("n is 0: give", lambda: standard(n=0)),
        ("n is 1: give a whole number of at least 2", lambda: standard(bounds_y=None, labels=(0, 1), n=1)),
        ("neighbours is 'swap': choose", lambda: standard(neighbours="swap")),
        ("beyond is 'no': give", lambda: standard(beyond="no")),
        ("both is 'no': give", lambda: standard(bounds_y=None, labels=(0, 1), both="no")),
    ],
}
EXEMPT = {
    "__main__.main": "test_main has its bad uses, which end with the code 2",
    "pairs.Pair.changed": "no arguments",
    "clopper_pearson.proved": "inner step of lower_bound",
    "outcomes.Outcome": "what observe returns",
    "outcomes.Table": "what table returns",
    "outcomes.observe": "inner step of estimator; anything that a call returns or raises is an outcome",
    "outcomes.numbers_of": "takes anything",
    "outcomes.table": "inner step of estimator",
    "outcomes.of_array": "inner step of estimator, which checks its length",
    "outcomes.keys": "inner step of statistics",
    "statistics.Statistic": "what candidates returns",
    "statistics.candidates": "inner step of events.choose",
    "events.Event": "what choose returns",
    "events.Event.hits": "inner step of estimator",
    "events.choose": "inner step of estimator",
    "events.promise": "inner step of estimator",
    "findings.Finding": "what audits return",
    "findings.Report": "what audits return",
    "findings.Report.to_frame": "no arguments",
    "findings.Report.plot": "matplotlib checks it",
}
