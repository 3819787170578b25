"""The scikit-learn estimators: the library's path from end to end, and scikit-learn's own rules."""

import pickle
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import has_fit_parameter

from dpreg.checks import BudgetError, InputError
from dpreg.estimators.private import PrivateLinearRegression, PrivateLogisticRegression
from dpreg.estimators.records import public_set
from dpreg.mechanisms.objective_perturbation import RIDGE, objective_perturbation, share_for
from dpreg.pipeline import objective, repair, solve, surrogates
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.objective import TAYLOR
from dpreg.pipeline.solve import Penalty

RNG = np.random.default_rng(0)
X = RNG.uniform([0, -5, 100], [10, 5, 300], (400, 3))
Y = 3 + X @ [0.5, -1.0, 0.02] + RNG.normal(size=400)
LABEL = (np.median(Y) < Y).astype(float)
LOW, HIGH, RESPONSE = [0, -5, 100], [10, 5, 300], (-5.0, 20.0)
BOX = Box(LOW, HIGH, RESPONSE, intercept=True)
TWO = Box(LOW, HIGH, (0, 1), intercept=True)
MECHANISMS = ["wishart", "laplace"]
QUADRATIC = partial(PrivateLogisticRegression, mechanism="wishart")
BOTH = [(PrivateLinearRegression, BOX, Y), (PrivateLogisticRegression, TWO, LABEL)]

both = pytest.mark.parametrize(("make", "domain", "y"), BOTH)
mechanisms = pytest.mark.parametrize("mechanism", MECHANISMS)


@mechanisms
def test_without_noise_it_is_least_squares(mechanism):
    model = PrivateLinearRegression(BOX, 1e13, mechanism=mechanism, random_state=0).fit(X, Y)
    plain = LinearRegression().fit(X, np.clip(Y, *RESPONSE))
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-6)
    assert model.intercept_ == pytest.approx(plain.intercept_, rel=1e-6)
    np.testing.assert_allclose(model.predict(X), plain.predict(X), rtol=1e-6)
    assert model.score(X, Y) == pytest.approx(plain.score(X, Y), abs=1e-6)


@mechanisms
@settings(max_examples=40, deadline=None)
@given(power=st.floats(-323, 308))
def test_a_budget_beyond_reason_is_blamed_and_not_the_records(mechanism, power):
    """Whatever its size: there is a model of finite coefficients, or epsilon is named, and nothing is charged."""
    for make, domain, y in BOTH:
        budget, epsilon = Budget(1.7e308), 10.0**power
        model = make(domain, epsilon, mechanism=mechanism, random_state=0)
        if 1e-50 <= epsilon <= 1e50:
            assert np.isfinite(model.fit(X, y, budget=budget).coef_).all()
        else:
            said = f"epsilon is {epsilon:g}, and floating-point numbers cannot hold its noise"
            with pytest.raises(InputError, match=re.escape(said)):
                model.fit(X, y, budget=budget)
            assert budget.ledger.epsilon == 0


def test_without_noise_ridge_is_ridge():
    where = Ball([5, 0, 200], 150.0, RESPONSE)
    model = PrivateLinearRegression(where, 1e13, penalty=Penalty(3.0), random_state=0).fit(X, Y)
    Z, t = where.scale(X, Y)
    np.testing.assert_allclose(
        model.coef_, where.unscale(Ridge(3.0, fit_intercept=False).fit(Z, t).coef_).slopes, rtol=1e-6
    )


@mechanisms
def test_without_noise_it_minimises_the_quadratic(mechanism):
    model = PrivateLogisticRegression(TWO, 1e13, mechanism=mechanism, random_state=0).fit(X, LABEL)
    f = objective.logistic(X, LABEL, TWO, surrogates.chebyshev(4.0))
    z = TWO.table(X, LABEL)[:, 1:] @ solve.minimise(f)
    np.testing.assert_allclose(model.decision_function(X), z, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-z)), atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert (model.predict(X) == (z > 0)).all()
    assert model.score(X, LABEL) > 0.8
    assert model.coef_.shape == (1, 3)
    assert model.classes_.tolist() == [0.0, 1.0]


def test_the_quadratic_moves_no_label():
    """Every quadratic here has the linear term -y z of the loss, so all solutions have one direction."""
    models = [
        QUADRATIC(TWO, 0.5, random_state=3, loss=loss).fit(X, LABEL)
        for loss in (None, TAYLOR, surrogates.least_squares(6.0))
    ]
    for model in models[1:]:
        ratio = model.decision_function(X) / models[0].decision_function(X)
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
        assert ratio[0] > 0
        assert (model.predict(X) == models[0].predict(X)).all()


def test_other_labels():
    where = Box(LOW, HIGH, (2, 5), intercept=True)
    one = PrivateLogisticRegression(where, 2.0, random_state=1).fit(X, 2 + 3 * LABEL)
    two = PrivateLogisticRegression(TWO, 2.0, random_state=1).fit(X, LABEL)
    np.testing.assert_allclose(one.coef_, two.coef_)
    np.testing.assert_allclose(one.intercept_, two.intercept_)
    assert set(one.predict(X)) <= {2.0, 5.0}
    assert not get_tags(one).classifier_tags.multi_class
    with pytest.raises(InputError, match="one of the two labels"):
        PrivateLogisticRegression(where).fit(X, np.arange(len(X)) % 3)


def test_without_noise_it_is_logistic_regression():
    model = PrivateLogisticRegression(TWO, 1e13, random_state=0).fit(X, LABEL)
    Z, _ = TWO.scale(X, LABEL)
    found = np.r_[model.intercept_ + model.coef_[0] @ TWO.shift, model.coef_[0] * TWO.unit]
    slope = Z.T @ (expit(Z @ found) - LABEL) + RIDGE * found  # of the loss and the least ridge
    assert np.abs(slope).max() < 1e-6
    assert model.score(X, LABEL) > 0.9


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
@pytest.mark.parametrize("domain", [TWO, Ball([5, 0, 200], 110.0, (0, 1))], ids=["box", "ball"])
def test_it_is_objective_perturbation_bit_for_bit(domain, neighbours):
    settings = {"neighbours": neighbours, "random_state": 7}
    budget = Budget(0.5)
    model = PrivateLogisticRegression(domain, 0.5, **settings).fit(X, LABEL, budget=budget)
    theta, ledger = objective_perturbation(X, LABEL, domain, 0.5, share=share_for(domain.p), norm="K", **settings)
    assert (model.coef_[0] == domain.unscale(theta).slopes / domain.half_width).all()
    z = domain.scale(X, LABEL)[0] @ theta
    np.testing.assert_allclose(model.decision_function(X), z, rtol=1e-9, atol=1e-12)
    assert model.ledger_ == ledger == budget.ledger
    assert not hasattr(model, "release_")


def test_a_second_fit_forgets_the_quadratic_of_the_first():
    model = QUADRATIC(TWO, random_state=1).fit(X, LABEL)
    assert hasattr(model, "release_")
    assert not hasattr(model.set_params(mechanism="objective").fit(X, LABEL), "release_")


@pytest.mark.parametrize(
    ("name", "value"), [("penalty", Penalty(1.0)), ("loss", TAYLOR), ("sampler", "opendp")], ids=str
)
def test_what_belongs_to_a_quadratic_is_refused_without_one(name, value):
    budget = Budget(1.0)
    with pytest.raises(InputError, match=f"{name} is given, and is for a quadratic: add mechanism='laplace'"):
        PrivateLogisticRegression(TWO, 1.0, **{name: value}).fit(X, LABEL, budget=budget)
    assert budget.remaining == 1.0
    PrivateLogisticRegression(TWO, 1.0, penalty=Penalty(0.0)).fit(X, LABEL)


@both
@mechanisms
def test_ledger(make, domain, y, mechanism):
    for neighbours in ("replace", "add_remove"):
        budget = Budget(0.3)
        model = make(domain, 0.3, mechanism=mechanism, neighbours=neighbours, random_state=1).fit(X, y, budget=budget)
        assert abs(model.ledger_.epsilon - 0.3) < 1e-12
        assert model.ledger_ is model.release_.ledger
        assert model.ledger_.spends[0].neighbours == neighbours
        with pytest.raises(BudgetError):
            make(domain, 0.3, neighbours=neighbours, random_state=2).fit(X, y, budget=budget)


@both
def test_what_is_published_follows_from_the_release(make, domain, y):
    model = make(domain, 0.5, mechanism="wishart", random_state=1).fit(X, y)
    again = solve.minimise(repair.lift(model.release_.objective, model.release_.law))
    slopes = np.ravel(model.coef_) * (domain.unit / (1 if make is PrivateLogisticRegression else domain.half_width))
    np.testing.assert_allclose(slopes, again[1:])


@both
def test_scikit_learn_manners(make, domain, y):
    model = make(domain, 0.5, random_state=5)
    before = dict(model.get_params())
    fitted = model.fit(X, y)
    assert fitted is model
    assert model.get_params() == before
    twin = clone(model)
    assert not hasattr(twin, "coef_")
    assert (twin.fit(X, y).coef_ == model.coef_).all()
    kept = pickle.loads(pickle.dumps(model))
    assert (kept.predict(X) == model.predict(X)).all()
    assert kept.ledger_.epsilon == model.ledger_.epsilon
    assert model.set_params(epsilon=2.0).epsilon == 2.0
    assert (model.fit(X, y).coef_ != kept.coef_).any()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert model.fit(frame, y).feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "z"}))


@both
def test_clipped_twins_and_units(make, domain, y):
    wild = X * 1.3
    one = make(domain, 0.5, random_state=5).fit(wild, y)
    two = make(domain, 0.5, random_state=5).fit(np.clip(wild, LOW, HIGH), y)
    assert (one.coef_ == two.coef_).all()
    unit = np.array([1000.0, 0.5, 2.0])  # other units for the same records and bounds
    other = Box(np.array(LOW) * unit, np.array(HIGH) * unit, domain.response, intercept=True)
    three = make(other, 0.5, random_state=5).fit(wild * unit, y)
    np.testing.assert_allclose(np.ravel(three.coef_) * unit, np.ravel(one.coef_), rtol=1e-9)


@both
def test_permuted_columns_without_noise(make, domain, y):
    order = [2, 0, 1]
    moved = Box(np.array(LOW)[order], np.array(HIGH)[order], domain.response, intercept=True)
    one, two = make(domain, 1e13, random_state=5).fit(X, y), make(moved, 1e13, random_state=5).fit(X[:, order], y)
    np.testing.assert_allclose(np.ravel(one.coef_)[order], np.ravel(two.coef_), rtol=1e-6)


def test_bounds_as_a_tuple():
    one = PrivateLinearRegression((LOW, HIGH, RESPONSE), 0.5, random_state=5).fit(X, Y)
    two = PrivateLinearRegression(BOX, 0.5, random_state=5).fit(X, Y)
    assert (one.coef_ == two.coef_).all()
    three = PrivateLinearRegression([LOW, HIGH, RESPONSE], 0.5, random_state=5).fit(X, Y)
    assert (three.coef_ == two.coef_).all()
    assert public_set(BOX) is BOX


@both
def test_a_budget_refuses_a_seed_twice(make, domain, y):
    """A second fit with the same seed has the same noise: at another epsilon the two give the data away."""
    budget = Budget(10.0)
    model = make(domain, 0.5, random_state=5).fit(X, y, budget=budget)
    for again in (model, clone(model), model.set_params(epsilon=1.0)):
        with pytest.raises(InputError, match="seed"):
            again.fit(X, y, budget=budget)
    assert budget.ledger.epsilon == pytest.approx(0.5)
    model.set_params(random_state=None).fit(X, y, budget=budget).fit(X, y, budget=budget)
    assert budget.ledger.epsilon == pytest.approx(2.5)


def numbers(thing, seen):
    """All numbers within an object, however deep."""
    if id(thing) in seen:
        return []
    seen[id(thing)] = thing  # kept, so that no id comes back
    if isinstance(thing, np.ndarray | float | np.number):
        base = getattr(thing, "base", None)
        return [*np.ravel(thing).tolist(), *numbers(base, seen)] if thing is not None else []
    inside = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, tuple | list | set) else []
    inside = [*inside, *getattr(thing, "__dict__", {}).values()]
    return [number for part in inside for number in numbers(part, seen)]


@pytest.mark.parametrize(
    ("make", "domain", "y", "mechanism"),
    [*((*one, word) for one in BOTH for word in ("mean first", *MECHANISMS)), (*BOTH[1], "objective")],
)
def test_a_fitted_model_holds_no_exact_number(make, domain, y, mechanism):
    """Neither records nor moments of them: only n, which is public, is in the release as it is."""
    model = make(domain, 0.5, mechanism=mechanism).fit(X, y)
    f = objective.logistic(X, y, TWO, surrogates.chebyshev(4.0)) if domain is TWO else objective.linear(X, y, BOX)
    for one in (model, pickle.loads(pickle.dumps(model))):
        held = np.array([number for number in numbers(one, {}) if isinstance(number, float)])
        secret = np.r_[f.M[f.M[0, 0] != f.M], f.v, f.c, domain.table(X, y)[:, 2:].ravel(), X.ravel(), Y]
        assert f.M[0, 0] in held or mechanism == "objective"
        secret = secret[~np.isin(secret, [*LOW, *HIGH, *RESPONSE, 0.0, 1.0])]
        assert not np.isin(secret, held).any()


@both
def test_few_records(make, domain, y):
    """Two records and noise: still finite."""
    for seed in range(20):
        model = make(domain, 0.01, random_state=seed).fit(X[:2], y[:2])
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.predict(X)).all()


def test_in_a_pipeline_and_in_cross_validation():
    model = make_pipeline(FunctionTransformer(), PrivateLinearRegression(BOX, 5.0, random_state=0))
    assert model.fit(X, Y).predict(X).shape == (400,)
    assert cross_val_score(PrivateLogisticRegression(TWO, 5.0, random_state=0), X, LABEL, cv=3).mean() > 0.6


class TwoLabels(PrivateLogisticRegression):
    """scikit-learn's checks have labels of many kinds, which the estimator wants to be told."""

    def fit(self, X, y, **more):
        found = np.unique(np.asarray(y)) if y is not None else np.empty(0)
        if len(found) != 2 or found.dtype.kind == "c" or (found.dtype.kind == "f" and not np.isfinite(found).all()):
            return super().fit(X, y, **more)
        self.classes = found
        try:
            return super().fit(X, y, **more)
        finally:
            self.classes = None


EXPECTED = {
    "check_dtype_object": "a dict in a cell is an InputError, hence a ValueError, and the check wants TypeError"
}
CHECKED = {
    "linear": lambda: PrivateLinearRegression((-20.0, 20.0, (-200.0, 200.0)), 1e9, random_state=0),
    "lasso": lambda: PrivateLinearRegression(
        (-20.0, 20.0, (-200.0, 200.0)), 1e9, random_state=0, penalty=Penalty(0.01, 0.0)
    ),
    "logistic": lambda: TwoLabels((-20.0, 20.0, (0, 1)), 1e9, random_state=0),
}


@pytest.mark.parametrize("name", CHECKED)
def test_scikit_learns_own_checks(name):
    results = check_estimator(CHECKED[name](), on_fail=None, on_skip=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert len(results) > 50
    assert set(failed) == set(EXPECTED), failed
    assert all(isinstance(error, InputError) for error in failed.values())


@both
def test_bad_records_are_refused(make, domain, y):
    model = make(domain, 1.0, random_state=0).fit(X, y)
    broken = X.copy()
    broken[3, 1] = np.nan
    for call in (lambda: make(domain, 1.0).fit(broken, y), lambda: model.predict(broken)):
        with pytest.raises(InputError, match="nan"):
            call()
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="not fitted"):
        make(domain, 1.0).predict(X)


@both
def test_a_penalty_may_shrink_the_intercept_too(make, domain, y):
    """To the middle of the response's bounds, or even odds; by default it leaves the mean, as scikit-learn does."""
    for shrunk in (True, False):
        settings = {"mechanism": "wishart", "penalty": Penalty(1e12), "penalise_intercept": shrunk}
        model = make(domain, 1e9, random_state=0, **settings).fit(X, y)
        if make is PrivateLogisticRegression:
            middle = 0.5
            rise = minimise_constant(LABEL) if not shrunk else 0.0
            np.testing.assert_allclose(model.decision_function(X), rise, atol=1e-5)
        else:
            middle = sum(domain.response) / 2 if shrunk else y.mean()
            np.testing.assert_allclose(model.predict(X), middle, atol=1e-5)


def minimise_constant(labels):
    """The log-odds of the quadratic without predictors."""
    loss, t = surrogates.chebyshev(4.0), 2 * labels - 1
    return -loss.cross * t.mean() / (2 * loss.square)


@pytest.mark.parametrize(("penalty", "plain"), [(Penalty(3.0), Ridge(3.0)), (Penalty(40.0, 0.0), Lasso(20.0 / 400))])
def test_without_noise_a_penalty_spares_the_intercept_as_scikit_learn_does(penalty, plain):
    model = PrivateLinearRegression(BOX, 1e13, penalty=penalty, random_state=0).fit(X, Y)
    Z, t = BOX.scale(X, Y)
    plain = plain.fit(Z[:, 1:], t)
    theta = np.r_[plain.intercept_, plain.coef_]
    assert np.abs(theta).min() > 0 or isinstance(plain, Lasso)
    np.testing.assert_allclose(model.coef_, BOX.unscale(theta).slopes, rtol=1e-4, atol=1e-9)
    assert model.intercept_ == pytest.approx(BOX.unscale(theta).intercept, rel=1e-4)


@both
def test_sparse_rows_are_rows(make, domain, y):
    """Also where a record lies beyond the bounds, and zero is not the middle of them."""
    rows = np.where(np.random.default_rng(3).random(X.shape) < 0.5, 0.0, 1.2 * X)
    dense = make(domain, 0.5, random_state=5).fit(rows, y)
    for kind in (sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
        thin = make(domain, 0.5, random_state=5).fit(kind(rows), y)
        assert (thin.coef_ == dense.coef_).all()
        np.testing.assert_allclose(thin.predict(kind(rows)), dense.predict(rows), rtol=1e-12)


def test_one_number_bounds_every_column():
    one = PrivateLinearRegression((-5, 300.0, RESPONSE), 0.5, random_state=5).fit(X, Y)
    two = PrivateLinearRegression(([-5] * 3, [300] * 3, RESPONSE), 0.5, random_state=5).fit(X, Y)
    assert (one.coef_ == two.coef_).all()


@pytest.mark.parametrize(
    "kinds",
    [("no", "yes"), (-1, 1), (False, True), (np.str_("a"), np.str_("b")), (2.0, 5.0)],
    ids=str,
)
def test_labels_of_any_kind_come_back_as_they_are(kinds):
    numbers = PrivateLogisticRegression(TWO, 2.0, random_state=1).fit(X, LABEL)
    y = np.array(kinds)[LABEL.astype(int)]
    for shown, labels in ((y, kinds), (y.astype(object), list(kinds)), (pd.Series(y), kinds[::-1])):
        model = PrivateLogisticRegression(TWO, 2.0, random_state=1, classes=labels).fit(X, shown)
        assert (model.coef_ == numbers.coef_).all()
        assert model.classes_.tolist() == list(kinds)
        assert model.predict(X).dtype == np.array(kinds).dtype
        assert model.score(X, y) == numbers.score(X, LABEL)


@pytest.mark.parametrize("kind", [bool, int, np.uint8, np.float32])
def test_numbers_for_labels_keep_their_kind(kind):
    model = PrivateLogisticRegression(TWO, 2.0, random_state=1).fit(X, LABEL.astype(kind))
    assert model.classes_.dtype == kind
    assert model.predict(X).dtype == kind


@pytest.mark.thorough
def test_one_against_the_rest_shares_the_budget():
    """What a third label is refused with."""
    three = np.digitize(Y, np.quantile(Y, [0.33, 0.67]))
    with Budget(3.0) as budget:
        models = OneVsRestClassifier(PrivateLogisticRegression(TWO, 1.0)).fit(X, three)
    assert budget.remaining == pytest.approx(0.0, abs=1e-9)
    assert models.predict(X).shape == (400,)


@both
def test_weights_are_refused_with_their_reason(make, domain, y):
    model = make(domain, 1.0)
    assert not has_fit_parameter(model, "sample_weight")
    with pytest.raises(InputError, match="sample_weight is given, and epsilon is the price of records of weight one"):
        model.fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        model.fit(X, y, weights=1)
    assert model.fit(X, y, sample_weight=None).coef_.size == 3


class OtherFrame:
    """A data frame of another library, such as polars: names of columns, and an array."""

    def __init__(self, frame):
        self._frame, self.columns, self.shape = frame, list(frame.columns), frame.shape

    def __array__(self, dtype=None, copy=None):
        return self._frame.to_numpy(dtype=dtype)


@both
def test_frames_of_any_library_have_names(make, domain, y):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    bounds = make(Box(dict(zip("abc", LOW, strict=True)), HIGH, domain.response, intercept=True), 0.5, random_state=5)
    plain = make(domain, 0.5, random_state=5).fit(X, y)
    for rows in (frame, frame.convert_dtypes(), OtherFrame(frame)):
        model = bounds.fit(rows, pd.Series(y))
        assert (model.coef_ == plain.coef_).all()
        np.testing.assert_allclose(np.asarray(model.predict(rows), float), plain.predict(X), rtol=1e-12)
        with pytest.raises(InputError, match="bounds are those of"):
            bounds.fit(type(rows)(frame[["b", "a", "c"]]), y)
    steps = make_pipeline(FunctionTransformer(feature_names_out="one-to-one"), clone(bounds))
    steps.set_output(transform="pandas")
    assert steps.fit(frame, y)[-1].feature_names_in_.tolist() == ["a", "b", "c"]


@both
def test_a_fitted_model_prints_its_privacy_statement(make, domain, y):
    model = make(domain, 0.5, random_state=5)
    assert str(model) == repr(model)
    assert "Privacy" not in model._repr_mimebundle_()["text/html"]
    model.fit(X, y)
    words, bundle = str(model), model._repr_mimebundle_()
    for part in ("epsilon = 0.5, delta = 0", "one replaced record", "column 2: 100 to 300", "knows the seed"):
        assert part in words
    assert words == bundle["text/plain"]
    assert "<dd>column 2: 100 to 300</dd>" in bundle["text/html"]
    assert repr(clone(model)) == str(clone(model))
