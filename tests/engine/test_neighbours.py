"""Nothing but the released numbers depends on one record: no error, warning, type, shape, ledger or attribute."""

import copy
import functools
import pickle
import re
import types
import warnings

import cloudpickle
import numpy as np
import pandas as pd
import pytest

import dpreg
from dpreg import noise
from dpreg.mechanisms import budget_split, filter_priority, histogram, irls
from dpreg.mechanisms import mean_first as mean
from dpreg.mechanisms.grid import Grid, bandwidth, partition
from dpreg.mechanisms.objective_perturbation import objective_perturbation
from dpreg.pipeline import laws, objective, release, repair, solve
from dpreg.pipeline.domain import Ball, Box, Domain
from dpreg.pipeline.ledger import Ledger
from dpreg.pipeline.surrogates import chebyshev
from dpreg.sweeps import row_methods
from dpreg.sweeps.splits import Holdout, draw
from tests.engine.payers import takers

RELATIONS = ("replace", "add_remove")
BOX, LABELLED = Box([-1, -1], [1, 1], (-1, 1)), Box([-1, -1], [1, 1], (0, 1), intercept=True)
CONSTANT = Box([-1, -1], [1, 1], (-1, 1), intercept=True)
BALL = Ball([0, 0], 1.0, (-1, 1))
rng = np.random.default_rng(0)
X, Y = rng.uniform(-1, 1, (30, 2)), rng.uniform(-1, 1, 30)


def laplace(X, y, relation, seed):
    law = laws.functional(BOX, 0.5, neighbours=relation)
    return release.release(objective.linear(X, y, BOX), law, seed, neighbours=relation)


def repeated(X, y, relation, seed):
    law = laws.functional(BOX, 50.0, neighbours=relation)
    return repair.retry(objective.linear(X, y, BOX), law, seed, neighbours=relation)


def wishart(X, y, relation, seed):
    law = dpreg.difference(BOX, 0.5, neighbours=relation)
    return release.release(objective.linear(X, y, BOX), law, seed, neighbours=relation)


def mean_first(X, y, relation, seed):
    law = mean.mean_first(CONSTANT, 0.5, len(X) if relation == "replace" else None, neighbours=relation)
    return release.release(objective.linear(X, y, CONSTANT), law, seed, neighbours=relation)


def dpme(X, y, relation, seed):
    return histogram.dpme(histogram.count(X, y, partition(BOX, 3)), 0.5, seed, neighbours=relation)


def sampled(X, y, relation, seed):
    cells = histogram.count(X, y, partition(BOX, 3))
    return filter_priority.filter_priority(cells, 0.5, 10, seed, neighbours=relation)


def privr(X, y, relation, seed):
    return budget_split.privr(objective.linear(X, y, BOX), 1.0, random_state=seed, neighbours=relation)


def perturbed(X, y, relation, seed):
    return objective_perturbation(X, half(y), LABELLED, 0.5, random_state=seed, neighbours=relation)


def perturbed_in_k(X, y, relation, seed):
    return objective_perturbation(X, half(y), LABELLED, 0.5, norm="K", random_state=seed, neighbours=relation)


def reweighted(X, y, relation, seed):
    return irls.irls(X, y, irls.pure(BALL, 0.5, iterations=2, neighbours=relation), seed)


def linear(X, y, relation, seed, mechanism="wishart", box=BOX, **more):
    options = {"mechanism": mechanism, "neighbours": relation, "random_state": seed, **more}
    return dpreg.PrivateLinearRegression(box, 0.5, **options).fit(X, y)


def logistic(X, y, relation, seed, mechanism="objective"):
    settings = {"mechanism": mechanism, "neighbours": relation, "random_state": seed}
    return dpreg.PrivateLogisticRegression(LABELLED, 0.5, **settings).fit(X, half(y))


def half(y):
    return (np.asarray(y) > 0).astype(float)


MECHANISMS = {
    "release": laplace,
    "retry": repeated,
    "wishart": wishart,
    "mean first": mean_first,
    "dpme": dpme,
    "filter_priority": sampled,
    "privr": privr,
    "objective_perturbation": perturbed,
    "objective_perturbation, K": perturbed_in_k,
    "irls": reweighted,
    "linear": linear,
    "linear, laplace": functools.partial(linear, mechanism="laplace"),
    "linear, mean first": functools.partial(linear, mechanism="mean first", box=CONSTANT),
    "linear, gaussian": functools.partial(linear, mechanism="gaussian", box=CONSTANT, delta=1e-6),
    "logistic": logistic,
    "logistic, wishart": functools.partial(logistic, mechanism="wishart"),
}
# Which of them show what each function that takes a budget does.
SHOWN_BY = {
    "release.release": ("release", "wishart", "mean first"),
    "repair.retry": ("retry",),
    "histogram.dpme": ("dpme",),
    "filter_priority.filter_priority": ("filter_priority",),
    "objective_perturbation.objective_perturbation": ("objective_perturbation", "objective_perturbation, K"),
    "budget_split.privr": ("privr",),
    "irls.irls": ("irls",),
    "private.PrivateLinearRegression.fit": ("linear", "linear, laplace", "linear, mean first", "linear, gaussian"),
    "private.PrivateLogisticRegression.fit": ("logistic", "logistic, wishart"),
}
# Data that no bound foresaw. What is not a number at all is refused, and is no data.
HOSTILE = {
    "far outside": ([1e9, -1e9], 1e9),
    "as large as floats": ([1.7e308, -1.7e308], -1.7e308),
    "as small as floats": ([5e-324, -5e-324], 5e-324),
    "minus zero": ([-0.0, -0.0], -0.0),
    "on the edge": ([1.0, -1.0], 1.0),
    "beside the edge": ([np.nextafter(1, 2), np.nextafter(-1, -2)], np.nextafter(1, 2)),
    "a twin": (X[1].tolist(), Y[1]),
    "a cell's edge": ([1 / 3, -1 / 3], 1 / 3),
}


def skeleton(thing, path=""):
    """All that a released object holds, as paths, types and shapes; ledgers and public sets by value."""
    if isinstance(thing, Ledger | Domain):
        yield path, thing
    elif isinstance(thing, np.ndarray):
        yield path, (thing.dtype, thing.shape)
    elif isinstance(thing, str | bool | int | None | types.FunctionType | pd.DataFrame):
        yield path, thing
    elif isinstance(thing, float | np.floating):
        yield path, type(thing)
    elif isinstance(thing, tuple | list):
        for k, part in enumerate(thing):
            yield from skeleton(part, f"{path}[{k}]")
    else:
        yield path, type(thing)
        for name, part in sorted(vars(thing).items()):
            if name == "slabs":
                continue
            yield from skeleton(part, f"{path}.{name}")


def run(name, X, y, relation, seed=1):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = MECHANISMS[name](X, y, relation, seed)
    return out, [str(one.message) for one in caught]


DRAWN = {"filter_priority": ("codes", "weights")}  # how many cells pass is released


def test_the_table_is_complete():
    """A mechanism takes both relations, and any number of records, none included."""
    assert set(SHOWN_BY) == set(takers()), "add it to MECHANISMS, RELEASED and SHOWN_BY here"
    assert set().union(*SHOWN_BY.values()) == set(MECHANISMS) == set(RELEASED)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_hostile_record_changes_nothing_but_numbers(name, relation):
    plain, silent = run(name, X, Y, relation)
    expected = dict(skeleton(plain))
    for what, (row, target) in HOSTILE.items():
        other = np.vstack([X[:-1], row]), np.append(Y[:-1], target)
        released, said = run(name, *other, relation)
        found = dict(skeleton(released))
        for part in DRAWN.get(name, ()):
            assert found.pop(f".{part}")[0] == expected[f".{part}"][0]
        assert found == {k: v for k, v in expected.items() if k in found}, what
        assert said == silent, what


@pytest.mark.parametrize("name", MECHANISMS)
def test_how_many_records_there_are_is_a_secret_where_one_may_be_added(name):
    """From none on: an error at one record and none at two would tell them apart."""
    for n in (0, 1, 2):
        out, said = run(name, X[:n], Y[:n], "add_remove")
        assert not said
        assert dict(skeleton(out)).keys() == dict(skeleton(run(name, X, Y, "add_remove")[0])).keys()


def test_under_add_or_remove_no_method_takes_a_number_of_records_from_the_data():
    for make, name in ((row_methods.dpme, "n"), (row_methods.filter_priority, "size")):
        with pytest.raises(dpreg.checks.InputError, match=f"{name} is None, and under add_remove the number"):
            make(neighbours="add_remove")
        make(**{name: 100}, neighbours="add_remove")


def test_with_a_public_number_the_grid_is_the_same_for_one_record_more():
    n = next(n for n in range(50, 99) if bandwidth(n, 3) != bandwidth(n + 1, 3))  # here one more record would show
    used = set()
    for size in (n, n + 1):
        X, y = rng.uniform(-1, 1, (2 * size, 2)), rng.uniform(-1, 1, 2 * size)
        split = draw(X, y, BOX.centred.table(X, y), BOX.centred, Holdout(1, 0.5), noise.generator(2))
        method = row_methods.dpme(n=n, values=(None, None), neighbours="add_remove")
        method.fit(split, np.array([0.5]), noise.generator(1))
        used |= {key.cells for key in split.memo if isinstance(key, Grid)}
    assert used == {(bandwidth(n, 3),) * 3}


# What may be published: released numbers, public ones, and ledgers. A path that is not here may hold a secret.
PUBLIC = (
    r"domain|domain_|loss|penalty|penalise_intercept|classes|epsilon|mechanism|neighbours|random_state|n_features_in_|classes_"
    r"|grid|law|scales|sampler|bits|delta"
)
LEDGER = r"ledger|ledger_"
RELEASED = {
    "release": r"objective\.(M|v|c)",
    "retry": r"objective\.(M|v|c)",
    "wishart": r"objective\.(M|v|c)",
    "mean first": r"objective\.(M|v|c)",
    "dpme": r"slabs",  # the exact counts: it refuses to be copied or pickled
    "filter_priority": r"codes|weights",
    "privr": r"relevance",
    "objective_perturbation": r"\[0\]",
    "objective_perturbation, K": r"\[0\]",
    "irls": r"path",
    "linear": r"coef_|intercept_|release_(\.objective\.(M|v|c))?",
    "linear, laplace": r"coef_|intercept_|release_(\.objective\.(M|v|c))?",
    "linear, mean first": r"coef_|intercept_|release_(\.objective\.(M|v|c))?",
    "linear, gaussian": r"coef_|intercept_|release_(\.objective\.(M|v|c))?",
    "logistic": r"coef_|intercept_",
    "logistic, wishart": r"coef_|intercept_|release_(\.objective\.(M|v|c))?",
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_published_object_holds_nothing_but_what_may_be_published(name):
    allowed = re.compile(
        rf"\.?(release_\.)?(objective|objective\.(domain|loss)(\..*)?|({PUBLIC})(\..*)?|({LEDGER})|\[1\]|{RELEASED[name]})?"
    )
    held = [(path.lstrip("."), part) for path, part in skeleton(run(name, X, Y, "replace")[0])]
    # No exact moments: the field is there, because objectives have it, and empty.
    paths = {path for path, part in held if not (path.endswith("objective.exact") and part is None)}
    assert not [path for path in paths if not allowed.fullmatch(path)]


@pytest.mark.parametrize("copying", [copy.copy, copy.deepcopy, pickle.dumps, cloudpickle.dumps])
def test_a_noisy_grid_and_its_draws_go_nowhere(copying):
    grid = run("dpme", X, Y, "replace")[0]
    for part in (grid, grid.slabs):
        with pytest.raises(dpreg.checks.InputError, match=r"exact counts: keep its moments\(\)"):
            copying(part)
    if copying is not copy.copy:
        assert copying(grid.moments()) is not None


@pytest.mark.parametrize(("n", "epsilon"), [(3, 1e-6), (3, 1e6), (40, 0.5), (20_000, 1e-3), (20_000, 100.0)])
@pytest.mark.parametrize("kind", ["mean first", "wishart", "laplace"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_an_estimator_is_the_chain_bit_for_bit(n, epsilon, kind, relation):
    """However much the noise is: no second draw, no other repair, no way back to the exact fit."""
    more = np.random.default_rng(n)
    X, y = more.uniform(-1, 1, (n, 2)), more.uniform(-1, 1, n)
    first = functools.partial(mean.mean_first, n=n if relation == "replace" else None)
    law = {"mean first": first, "wishart": dpreg.difference, "laplace": laws.functional}[kind]
    settings = {"mechanism": kind, "neighbours": relation, "random_state": 7}
    box = Box([-1, -1], [1, 1], (-1, 3), intercept=True)
    noisy = law(box, epsilon, neighbours=relation)
    f = release.release(objective.linear(X, y, box), noisy, 7, neighbours=relation).objective
    model = box.unscale(solve.minimise(repair.lift(f, noisy)))
    fitted = dpreg.PrivateLinearRegression(box, epsilon, **settings).fit(X, y)
    assert (fitted.intercept_, *fitted.coef_) == (model.intercept, *model.slopes)
    noisy = law(LABELLED, epsilon, neighbours=relation, loss=chebyshev(4.0))
    f = objective.logistic(X, half(y), LABELLED, chebyshev(4.0))
    theta = solve.minimise(repair.lift(release.release(f, noisy, 7, neighbours=relation).objective, noisy))
    fitted = dpreg.PrivateLogisticRegression(LABELLED, epsilon, **settings).fit(X, half(y))
    assert [*fitted.intercept_, *fitted.coef_[0]] == pytest.approx(theta, rel=1e-12)
