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
from dpreg.mechanisms import mean_first as mean
from dpreg.mechanisms.grid import Grid, bandwidth
from dpreg.mechanisms.wishart import difference
from dpreg.pipeline import laws, objective, release, repair, solve
from dpreg.pipeline.domain import Box, Domain
from dpreg.pipeline.ledger import Ledger
from dpreg.pipeline.surrogates import chebyshev
from dpreg.sweeps import row_methods
from dpreg.sweeps.splits import Holdout, draw
from tests.engine.payers import WAYS, box, half, labelled

RELATIONS = ("replace", "add_remove")
BOX, LABELLED = box(), labelled()
rng = np.random.default_rng(0)
X, Y = rng.uniform(-1, 1, (30, 2)), rng.uniform(-1, 1, 30)


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
        out = WAYS[name].run(X, y, neighbours=relation, random_state=seed)
    return out, [str(one.message) for one in caught]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", WAYS)
def test_a_hostile_record_changes_nothing_but_numbers(name, relation):
    plain, silent = run(name, X, Y, relation)
    expected = dict(skeleton(plain))
    for what, (row, target) in HOSTILE.items():
        other = np.vstack([X[:-1], row]), np.append(Y[:-1], target)
        released, said = run(name, *other, relation)
        found = dict(skeleton(released))
        for part in WAYS[name].drawn:
            assert found.pop(f".{part}")[0] == expected[f".{part}"][0]
        assert found == {k: v for k, v in expected.items() if k in found}, what
        assert said == silent, what


@pytest.mark.parametrize("name", WAYS)
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


@pytest.mark.parametrize("name", WAYS)
def test_a_published_object_holds_nothing_but_what_may_be_published(name):
    allowed = re.compile(
        rf"\.?(release_\.)?(objective|objective\.(domain|loss)(\..*)?|({PUBLIC})(\..*)?|({LEDGER})|\[1\]|{WAYS[name].released})?"
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
    law = {"mean first": first, "wishart": difference, "laplace": laws.functional}[kind]
    settings = {"mechanism": kind, "neighbours": relation, "random_state": 7}
    wide = Box([-1, -1], [1, 1], (-1, 3), intercept=True)
    noisy = law(wide, epsilon, neighbours=relation)
    f = release.release(objective.linear(X, y, wide), noisy, 7, neighbours=relation).objective
    model = wide.unscale(solve.minimise(repair.lift(f, noisy)))
    fitted = dpreg.PrivateLinearRegression(wide, epsilon, **settings).fit(X, y)
    assert (fitted.intercept_, *fitted.coef_) == (model.intercept, *model.slopes)
    noisy = law(LABELLED, epsilon, neighbours=relation, loss=chebyshev(4.0))
    f = objective.logistic(X, half(y), LABELLED, chebyshev(4.0))
    theta = solve.minimise(repair.lift(release.release(f, noisy, 7, neighbours=relation).objective, noisy))
    fitted = dpreg.PrivateLogisticRegression(LABELLED, epsilon, **settings).fit(X, half(y))
    assert [*fitted.intercept_, *fitted.coef_[0]] == pytest.approx(theta, rel=1e-12)
