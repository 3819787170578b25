"""The chapter on a reader's own data: what it says of each trap, on other made-up records."""

import json
import math
import warnings
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dpreg.accounting import rho_for
from dpreg.checks import BudgetError, InputError
from dpreg.estimators.private import PrivateLinearRegression
from dpreg.mechanisms.wishart import difference
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import functional
from dpreg.pipeline.ledger import Ledger, Spend
from dpreg.pipeline.objective import Quadratic, linear
from dpreg.pipeline.release import perturb
from dpreg.pipeline.repair import lift
from dpreg.pipeline.solve import minimise

N = 5000
LOWER, UPPER = {"age": 18.0, "schooling": 0.0, "hours": 0.0}, {"age": 90.0, "schooling": 25.0, "hours": 80.0}
INCOME = (0.0, 100_000.0)
BOX = Box(LOWER, UPPER, INCOME, intercept=True)
RNG = np.random.default_rng(20)
X = pd.DataFrame(
    {
        "age": RNG.normal(45, 14, N).clip(18, 90),
        "schooling": RNG.normal(13, 3, N).clip(0, 25),
        "hours": RNG.normal(38, 9, N).clip(0, 80),
    }
)
Y = (X @ [400, 2500, 700] - 40_000 + RNG.normal(0, 5000, N)).clip(*INCOME)


def explained(rows, y, domain, law, draws=400):
    """The R2 of so many private models on the records; a median of 400 has a standard error of a few hundredths."""
    f = linear(rows, y, domain)
    thetas = minimise(lift(perturb(f, law, 5, draws=(draws,)), law))
    return [r2_score(y, domain.unscale(theta).predict(rows)) for theta in thetas]


def median(rows, domain, epsilon):
    return np.median(explained(rows, Y, domain, difference(domain, epsilon)))


def widened(factor):
    low, high = np.array(list(LOWER.values())), np.array(list(UPPER.values()))
    middle, half = (low + high) / 2, (high - low) / 2
    return Box(middle - factor * half, middle + factor * half, INCOME, intercept=True)


def test_a_fitted_pipeline_carries_exact_means():
    bounds = Box([-4.0] * 3, [4.0] * 3, INCOME, intercept=True)
    pipe = make_pipeline(StandardScaler(), PrivateLinearRegression(bounds, 0.5)).fit(X, Y)
    assert pipe[-1].ledger_.spends[0].caveat == ""
    assert N * pipe[0].mean_[0] - X["age"][1:].sum() == pytest.approx(X["age"][0], abs=1e-6)


def loss(before, after, domain):
    """What the linear coefficients alone lose, with Laplace noise that promises one half."""
    f, g = linear(before, Y, domain), linear(after, Y, domain)
    return (np.abs(f.v - g.v) / functional(domain, 0.5).v).sum()


@given(st.floats(-1e9, 1e9), st.integers(0, N - 1))
@settings(max_examples=25, deadline=None)
def test_one_record_loses_no_more_than_promised_on_public_bounds(age, who):
    changed = X.copy()
    changed.loc[who, "age"] = age
    assert loss(X, changed, BOX) <= 0.5


def test_one_record_loses_more_once_the_columns_are_standardised():
    changed = X.copy()
    changed.loc[0, "age"] = 1962.0
    before, after = (StandardScaler().fit_transform(rows) for rows in (X, changed))
    assert loss(before, after, Box([-4.0] * 3, [4.0] * 3, INCOME, intercept=True)) > 0.5


@pytest.mark.thorough
def test_mistakes_that_cost_accuracy():
    """Medians are more than ten standard errors from what they are compared with."""
    scaled = (X - X.mean()) / X.std()
    swapped = X[["schooling", "age", "hours"]]
    assert median(X, BOX, 0.5) > 0.7
    assert median(X, widened(10), 0.5) < 0.1
    assert median(scaled, BOX, 0.5) < 0.1
    assert median(swapped, Box(BOX.lower, BOX.upper, INCOME, intercept=True), 0.5) < 0.2
    with pytest.raises(InputError, match=r"pass X\[\['age', 'schooling', 'hours'\]\]"):
        median(swapped, BOX, 0.5)


@pytest.mark.thorough
def test_bounds_that_clip_help_a_small_budget_and_hurt_a_large_one():
    assert median(X, widened(0.5), 0.1) > median(X, BOX, 0.1) + 0.05
    assert median(X, widened(0.5), 10.0) < median(X, BOX, 10.0)
    assert median(X, widened(20), 10.0) < 0.2


def test_bounds_by_hand_look_public():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Box(X.min(), X.max(), (Y.min(), Y.max()), intercept=True).caveat == ""


def test_the_number_of_records_that_were_kept_goes_out_under_replace_only():
    kept = RNG.random(N) < 0.9
    exact, noisy = (
        PrivateLinearRegression(BOX, 0.5, neighbours=one).fit(X[kept], Y[kept]).release_.objective.M[0, 0]
        for one in ("replace", "add_remove")
    )
    assert exact == kept.sum() != noisy


@given(st.integers(1, 6), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 7.0]))
@settings(max_examples=50, deadline=None)
def test_a_person_with_so_many_records_pays_for_each(k, seed, epsilon):
    """Adding one moves the moments by a positive matrix, whose nuclear norm is its trace; corners cost the most."""
    rng = np.random.default_rng(seed)
    law = difference(BOX, epsilon / k, neighbours="add_remove")
    for share, worst in ((rng.uniform(-1, 1, (k, 4)), False), (rng.choice([-1.0, 1.0], (k, 4)), True)):
        records = np.insert(share, 1, 1.0, axis=1)
        loss = ((records * law.weights) ** 2).sum() / (2 * law.spread)
        assert loss <= epsilon * (1 + 1e-12)
        assert not worst or loss == pytest.approx(epsilon)


@pytest.mark.thorough
def test_a_cap_on_the_records_of_a_person():
    """At one price for a person, one or two records leave less noise than all; ten standard errors apart."""
    people = X.assign(income=Y, person=RNG.integers(0, 1500, N)).groupby("person")
    most = people.size().max()
    medians = []
    for cap in (1, 2, most):
        few, law = people.head(cap), difference(BOX, 0.5 / cap, neighbours="add_remove")
        medians.append(np.median(explained(few[list(LOWER)], few["income"], BOX, law)))
    assert most > 7
    assert min(medians[:2]) > medians[2] + 0.2


def test_a_search_with_too_small_a_budget_goes_on_with_what_it_can_afford():
    """The models of the larger epsilon are better with near certainty: their noise is a hundredth."""
    search, budget = GridSearchCV(PrivateLinearRegression(BOX), {"epsilon": [0.05, 5.0]}, cv=3), Budget(100.0)
    search.fit(X, Y, budget=budget)
    assert budget.ledger.epsilon == pytest.approx(3 * 5.05 + 5)
    assert search.best_estimator_.ledger_.epsilon == pytest.approx(5)
    budget = Budget(1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, Y, budget=budget)
    assert "3 fits failed" in str(caught[0].message)
    assert search.best_params_ == {"epsilon": 0.05}
    assert budget.ledger.epsilon == pytest.approx(0.2)
    with pytest.raises(BudgetError):
        search.set_params(error_score="raise").fit(X, Y, budget=Budget(1.0))


def test_a_seed_takes_the_noise_off():
    out = PrivateLinearRegression(BOX, 0.5, random_state=3).fit(X, Y).release_
    drawn = perturb(Quadratic(np.zeros((4, 4)), np.zeros(4), np.array(0.0)), out.law, 3)
    np.testing.assert_allclose(out.objective.v - drawn.v, linear(X, Y, BOX).v, rtol=1e-9)


@pytest.mark.parametrize("who", [0, 17, 4999])
def test_a_published_error_tells_the_last_response(who):
    model = PrivateLinearRegression(BOX, 0.5).fit(X, Y)
    squares = (Y - model.predict(X)) ** 2
    rest = squares.drop(who).sum()
    off = math.sqrt(max(N * float(np.sqrt(squares.mean())) ** 2 - rest, 0))
    found = model.predict(X.loc[[who]])[0] + np.array([-off, off])
    assert np.abs(found - Y[who]).min() < 1


def test_gaps_filled_with_a_mean_move_with_one_person():
    hours = X["hours"].copy()
    hours[1:500] = np.nan
    other = hours.copy()
    other[0] += 1.0
    for fill, moved in (((hours.mean(), other.mean()), 500), ((40.0, 40.0), 1)):
        assert (hours.fillna(fill[0]) != other.fillna(fill[1])).sum() == moved


def test_small_pure_releases_fit_better_into_rho():
    rho = rho_for(1.0, 1e-6)
    fit = {epsilon: math.floor(rho / (epsilon * math.tanh(epsilon / 2))) for epsilon in (0.5, 0.05, 0.02)}
    assert [fit[epsilon] > round(1 / epsilon) for epsilon in (0.5, 0.05, 0.02)] == [False, False, True]
    budget = Budget(rho=rho)
    for _ in range(fit[0.05]):
        budget.charge(Spend("a count", "Laplace", "replace", "L1", 1.0, 20.0, 0.05))
    with pytest.raises(BudgetError):
        budget.charge(Spend("a count", "Laplace", "replace", "L1", 1.0, 20.0, 0.05))


SPENDS = st.builds(
    Spend,
    released=st.text(max_size=9),
    mechanism=st.text(max_size=9),
    neighbours=st.just("replace"),
    norm=st.just("L1"),
    sensitivity=st.floats(0, 1e9),
    scale=st.floats(1e-9, 1e9),
    epsilon=st.floats(1e-9, 1e9),
    delta=st.floats(0, 0.5),
    zcdp=st.none() | st.floats(0, 1e9) | st.just(math.inf),
    caveat=st.text(max_size=9),
)


@pytest.mark.thorough
@given(st.lists(SPENDS, max_size=4))
def test_a_ledger_comes_back_from_plain_text(spends):
    gauss = Spend("moments", "Gaussian", "replace", "L2", 1.0, 2.0, math.inf, zcdp=0.1)
    ledger = Ledger((*spends, gauss))
    text = json.dumps([asdict(spend) for spend in ledger])
    assert Ledger(tuple(Spend(**entry) for entry in json.loads(text))) == ledger


@pytest.mark.thorough
def test_three_predictors_of_few_patients_beat_ten_where_noise_counts():
    """The two budgets are far from where the curves cross: medians differ by ten standard errors at least."""
    low = {"age": 18, "sex": 1, "bmi": 15, "bp": 50, "s1": 80, "s2": 20, "s3": 10, "s4": 1, "s5": 3, "s6": 40}
    high = {"age": 90, "sex": 2, "bmi": 50, "bp": 150, "s1": 400, "s2": 300, "s3": 120, "s4": 12, "s5": 7, "s6": 200}
    patients, found = load_diabetes(as_frame=True, scaled=False), {}
    for names in (list(low), ["bmi", "bp", "s5"]):
        box = Box([low[n] for n in names], [high[n] for n in names], (0, 400), intercept=True)
        for epsilon in (1.0, 100.0):
            scores = explained(patients.data[names], patients.target, box, difference(box, epsilon))
            found[len(names), epsilon] = np.median(scores)
    assert found[3, 1.0] > found[10, 1.0] + 0.1
    assert found[3, 100.0] < found[10, 100.0]
