"""Ledgers add up in every field, and a budget cannot be spent twice: not by a copy, a process, a thread or a seed."""

import copy
import math
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import traceback
from dataclasses import replace

import cloudpickle
import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dpreg import noise
from dpreg.accounting import rho_for, zcdp_from_pure, zcdp_to_dp
from dpreg.checks import BudgetError, InputError
from dpreg.estimators.private import PrivateLinearRegression
from dpreg.pipeline.budget import LIVE, OWNER, Budget, pay
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import functional
from dpreg.pipeline.ledger import Ledger, Spend
from dpreg.pipeline.objective import linear
from dpreg.pipeline.release import release

rng = np.random.default_rng(0)
X, Y = rng.uniform(-1, 1, (80, 2)), rng.uniform(-1, 1, 80)
BOX = Box([-1, -1], [1, 1], (-1, 1), intercept=True)
F = linear(X, Y, BOX)


def spend_of(epsilon, neighbours="replace", **more):
    return Spend("a number", "Laplace", neighbours, "L1", 1.0, 1.0, epsilon, **more)


def spend(epsilon=0.25, random_state=None, budget=None):
    """Pay for a number, and return it."""
    return pay(spend_of(epsilon), draw, random_state, budget)[0]


def draw(random_state):
    return float(noise.laplace(1.0, (), random_state))


def publish(budget=None, random_state=None):
    return release(F, functional(BOX, 0.25), random_state, budget=budget).ledger


def test_a_ledger_says_where_the_noise_came_from():
    assert [one.noise for one in publish()] == [noise.SYSTEM]
    (seeded,) = publish(random_state=5)
    assert seeded.noise.startswith("numpy, seed ")
    assert spend_of(1.0).noise == ""


# Spellings of one seed, and others.
SAME = {
    "int": lambda: 5,
    "numpy": lambda: np.int64(5),
    "sequence": lambda: np.random.SeedSequence(5),
    "list": lambda: np.random.SeedSequence([5]),
    "padded": lambda: np.random.SeedSequence([5, 0]),
    "spawned from": lambda: spawned(np.random.SeedSequence(5)),
}


def spawned(sequence):
    sequence.spawn(3)
    return sequence


@pytest.mark.parametrize("spelling", SAME)
def test_a_seed_is_recognised_in_every_spelling(spelling):
    """Twice the same draws at two scales give away the data: so no budget and no sum of ledgers takes both."""
    budget = Budget(1.0)
    first = publish(budget, 5)
    with pytest.raises(InputError, match="drew their noise from one seed"):
        publish(budget, SAME[spelling]())
    assert budget.ledger == first
    with pytest.raises(InputError, match="drew their noise from one seed"):
        first + publish(random_state=SAME[spelling]())
    with pytest.raises(InputError, match="drew their noise from one seed"):
        first + publish(random_state=np.random.default_rng(SAME[spelling]()))
    publish(budget, 6), publish(budget, np.random.SeedSequence(5, spawn_key=(1,)))


def test_the_key_of_a_spawned_seed_is_part_of_its_spelling():
    budget = Budget(1.0)
    publish(budget, np.random.SeedSequence(5, spawn_key=(3,)))
    with pytest.raises(InputError, match="one seed"):
        publish(budget, np.random.SeedSequence([5, 0, 0, 0, 3]))


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_a_copied_generator_is_recognised_and_no_budget_takes_one(kind):
    one = np.random.Generator(kind(3))
    one.random(7)
    other = copy.deepcopy(one)
    with pytest.raises(InputError, match="one seed"):
        publish(random_state=one) + publish(random_state=other)
    publish(random_state=one) + publish(random_state=one)  # it moved on
    budget = Budget(1.0)
    with pytest.raises(InputError, match="random_state is a Generator, and a budget cannot tell"):
        publish(budget, one)
    with budget, pytest.raises(InputError, match="random_state is a Generator"):
        publish(random_state=one)
    assert budget.ledger == Ledger()


def test_fresh_noise_is_fresh_and_may_be_taken_as_often_as_one_likes():
    budget = Budget(100.0)
    assert len({spend(budget=budget) for _ in range(100)}) == 100
    assert budget.ledger.epsilon == 25


# budgets


@pytest.mark.parametrize(
    "copying",
    [copy.copy, copy.deepcopy, pickle.dumps, cloudpickle.dumps, lambda one: clone(one, safe=False), replace],
    ids=["copy", "deepcopy", "pickle", "cloudpickle", "clone", "replace"],
)
def test_a_budget_cannot_be_copied(copying):
    with pytest.raises((BudgetError, TypeError), match=r"cannot be copied, pickled|dataclass instances"):
        copying(Budget(1.0))


def test_a_budget_goes_on_from_a_ledger_with_its_seeds():
    first = Budget(1.0)
    publish(first, 5)
    second = Budget(1.0, ledger=pickle.loads(pickle.dumps(first.ledger)))
    assert second.remaining == 0.75
    with pytest.raises(InputError, match="one seed"):
        publish(second, 5)


def test_a_spend_is_recorded_before_anything_is_drawn_and_survives_what_goes_wrong():
    budget = Budget(1.0)

    def interrupted(random_state):
        assert budget.remaining == 0.75
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pay(spend_of(0.25), interrupted, None, budget)
    assert budget.remaining == 0.75


def test_inside_a_budget_every_release_is_charged():
    outer, inner = Budget(1.0), Budget(0.5)
    with outer:
        publish()
        with inner:
            publish(), publish(outer)  # given and live is one charge
            with pytest.raises(BudgetError):
                publish()
        assert (outer.ledger.epsilon, inner.ledger.epsilon) == (0.75, 0.5)
        PrivateLinearRegression(BOX, 0.25).fit(X, Y)
        with pytest.raises(BudgetError):
            publish()
    assert outer.remaining == 0
    assert not LIVE
    assert OWNER not in os.environ
    publish()


def test_one_refusal_charges_none():
    outer, inner = Budget(1.0), Budget(0.1)
    with outer, inner, pytest.raises(BudgetError, match=r"0\.25 and 0\.1 of 0\.1"):
        publish()
    assert outer.ledger == inner.ledger == Ledger()
    with outer, pytest.raises(BudgetError, match="counts already"), outer:
        pass


def test_threads_share_a_budget_and_spend_no_more_than_it_has():
    old, hits = sys.getswitchinterval(), []
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            budget, start = Budget(1.0), threading.Barrier(8)
            with budget:

                def greedy(start=start):
                    start.wait()
                    for _ in range(3):
                        try:
                            spend(0.125)
                            hits.append(1)
                        except BudgetError:
                            pass

                threads = [threading.Thread(target=greedy) for _ in range(8)]
                [thread.start() for thread in threads]
                [thread.join() for thread in threads]
            assert len(tuple(budget.ledger)) == 8
    finally:
        sys.setswitchinterval(old)
    assert len(hits) == 160


def refused(run, *given):
    """In another process: the words of the refusal."""
    try:
        return run(*given)
    except BudgetError as error:
        return str(error)


def tell(queue, budget):
    queue.put(refused(publish, budget))


@pytest.mark.parametrize("given", [True, False])
def test_a_forked_process_cannot_spend(given):
    context = multiprocessing.get_context("fork")
    queue, budget = context.Queue(), Budget(1.0)
    with budget:
        process = context.Process(target=tell, args=(queue, budget if given else None))
        process.start()
        assert "of another process" in queue.get(timeout=600)
        process.join()
    assert budget.ledger == Ledger()


@pytest.mark.slow
def test_workers_of_joblib_cannot_spend_a_live_budget():
    """Also those that were there before; afterwards they release again, uncounted."""
    work = joblib.delayed(refused)
    with joblib.parallel_config("loky", n_jobs=2):
        assert all(isinstance(ledger, Ledger) for ledger in joblib.Parallel()(work(publish) for _ in range(2)))
        with Budget(10.0) as budget:
            words = joblib.Parallel()(work(publish) for _ in range(4))
        assert all("started inside `with budget:`" in word for word in words)
        assert budget.ledger == Ledger()
        assert all(isinstance(ledger, Ledger) for ledger in joblib.Parallel()(work(publish) for _ in range(2)))
    with joblib.parallel_config("threading", n_jobs=2), Budget(10.0) as budget:
        joblib.Parallel()(work(publish) for _ in range(4))
    assert budget.ledger.epsilon == 1.0


@pytest.mark.thorough
def test_a_process_of_its_own_has_a_budget_of_its_own():
    code = "from dpreg import Budget; b = Budget(1.0); print(b.remaining)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1.0\n"


# scikit-learn


def messages(error):
    """All of an error's words, and those of its causes."""
    return "".join(traceback.format_exception(error))


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("how", ["given", "live"])
def test_cross_validation_pays_for_every_fold_or_is_refused(jobs, how):
    model, budget = PrivateLinearRegression(BOX, 0.25), Budget(1.0)

    def run(**more):
        return cross_validate(model, X, Y, cv=4, n_jobs=jobs, error_score="raise", **more)

    def go():
        if how == "given":
            return run(params={"budget": budget})
        with budget:
            return run()

    if jobs == 1:
        assert len(go()["test_score"]) == 4
        assert budget.remaining == pytest.approx(0, abs=1e-15)  # two entries a fit
        with pytest.raises(BudgetError):
            go()
    else:
        with pytest.raises(Exception, match=r"pickle|another one") as caught:
            go()
        assert "n_jobs=1" in messages(caught.value)
        assert budget.ledger == Ledger()


def test_a_grid_search_pays_for_every_fit():
    search = GridSearchCV(PrivateLinearRegression(BOX), {"epsilon": [0.25, 0.5]}, cv=2, error_score="raise")
    budget = Budget(3.0)
    search.fit(X, Y, budget=budget)
    assert budget.ledger.epsilon == pytest.approx(2 * (0.25 + 0.5) + search.best_params_["epsilon"])
    with pytest.raises(BudgetError):
        search.fit(X, Y, budget=budget)
    with pytest.raises(Exception, match="pickle") as caught:
        search.set_params(n_jobs=2).fit(X, Y, budget=Budget(3.0))
    assert "cannot be copied, pickled" in messages(caught.value)


def test_a_pipeline_passes_the_budget_on():
    pipe = make_pipeline(FunctionTransformer(), PrivateLinearRegression(BOX, 0.25))
    budget = Budget(0.25)
    pipe.fit(X, Y, privatelinearregression__budget=budget)
    assert budget.remaining == pytest.approx(0, abs=1e-15)  # two entries a fit
    with budget, pytest.raises(BudgetError):
        pipe.fit(X, Y)


@pytest.mark.parametrize("copying", [clone, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_seeded_estimator_and_its_copy_do_not_fit_one_budget(copying):
    budget, model = Budget(2.0), PrivateLinearRegression(BOX, 0.25, random_state=5)
    model.fit(X, Y, budget=budget)
    with pytest.raises(InputError, match="one seed"):
        copying(model).set_params(epsilon=0.5).fit(X, Y, budget=budget)
    assert budget.ledger.epsilon == pytest.approx(0.25)


@pytest.mark.parametrize("copying", [clone, copy.deepcopy, lambda one: pickle.loads(cloudpickle.dumps(one))])
def test_copies_of_an_estimator_without_a_seed_draw_anew(copying):
    model = PrivateLinearRegression(BOX, 0.25).fit(X, Y)
    assert copying(model).fit(X, Y).intercept_ != model.intercept_


def test_an_estimator_keeps_no_generator():
    """It could be wound back: then the noise is known, and with it the records."""
    for random_state in (np.random.default_rng(1), np.random.RandomState(1)):
        model = PrivateLinearRegression(BOX, 0.25, random_state=random_state)
        with pytest.raises(InputError, match=r"random_state is .*: give"):
            model.fit(X, Y)
        assert not hasattr(model, "release_")


# currencies


def test_a_budget_in_zcdp_takes_gaussian_noise():
    gauss = Spend("moments", "Gauss", "replace", "L2", 1.0, 3.0, math.inf, zcdp=0.05)
    budget = Budget(rho=0.25)
    budget.charge(gauss), budget.charge(spend_of(0.5))
    assert budget.remaining == pytest.approx(0.2 - zcdp_from_pure(0.5))
    assert (budget.rho, budget.epsilon, budget.delta) == (0.25, math.inf, 0.0)
    with pytest.raises(BudgetError, match=r"costs a rho of 0\.2 and"):
        budget.charge(replace(gauss, zcdp=0.2))
    with pytest.raises(BudgetError):
        Budget(rho=10.0).charge(spend_of(0.5, delta=1e-6))
    with pytest.raises(BudgetError):
        Budget(100.0).charge(gauss)


def test_a_zcdp_budget_of_an_epsilon_and_a_delta_keeps_both():
    budget = Budget(rho=rho_for(1.0, 1e-5))
    while True:
        try:
            budget.charge(spend_of(0.1))
        except BudgetError:
            break
    assert len(tuple(budget.ledger)) > 5
    assert zcdp_to_dp(budget.ledger.rho, 1e-5) <= 1.0


def test_delta_adds_up():
    budget = Budget(10.0, delta=2.5e-6)
    for _ in range(2):
        budget.charge(spend_of(0.1, delta=1e-6))
    assert budget.remaining_delta == pytest.approx(0.5e-6)
    with pytest.raises(BudgetError, match="delta of 1e-06"):
        budget.charge(spend_of(0.1, delta=1e-6))
    assert repr(budget) == "Budget(epsilon=10, delta=2.5e-06, remaining=9.8)"


def test_a_refused_charge_does_not_use_up_its_seed():
    f, budget = linear(X[:, :1], Y, Box([-1.0], [1.0], (-1, 1))), Budget(1.0)
    with pytest.raises(BudgetError):
        release(f, functional(f.domain, 2.0), 7, budget=budget)
    release(f, functional(f.domain, 1.0), 7, budget=budget)


def test_budgets_add_up_spend_by_spend():
    budget = Budget(1.0)
    for k in range(10):
        release(F, functional(BOX, 0.1), k, budget=budget)
    assert len(tuple(budget.ledger)) == 10
    assert budget.ledger.epsilon == pytest.approx(1.0, rel=1e-12)
    with pytest.raises(BudgetError):
        release(F, functional(BOX, 1e-6), 10, budget=budget)
    assert len(tuple(budget.ledger)) == 10


def test_forgiveness_does_not_add_up():
    """One part in 10^12 of the whole, not of every spend."""
    budget = Budget(1.0)
    budget.charge(spend_of(1.0))
    budget.charge(spend_of(5e-13))
    with pytest.raises(BudgetError):
        budget.charge(spend_of(6e-13))
    with pytest.raises(BudgetError):
        Budget(1.0).charge(spend_of(1 + 2e-12))


def test_a_ledger_from_text_caps_nothing_and_a_budget_goes_on_from_it():
    budget = Budget(1.0)
    spend(0.75, budget=budget)
    kept = Ledger.from_json(budget.ledger.to_json())
    assert not isinstance(kept, Budget)
    assert not LIVE
    spend(0.75)  # nobody counts
    again = Budget(1.0, ledger=kept)
    assert again.remaining == budget.remaining == 0.25
    with pytest.raises(BudgetError):
        spend(0.5, budget=again)


def test_neighbours_do_not_mix():
    with pytest.raises(InputError, match="different neighbours"):
        Ledger((spend_of(0.1),)) + Ledger((spend_of(0.1, "add_remove"),))
    budget = Budget(1.0)
    budget.charge(spend_of(0.1))
    with pytest.raises(InputError, match="different neighbours"):
        budget.charge(spend_of(0.1, "add_remove"))
    assert budget.remaining == 0.9


def test_a_pure_budget_refuses_a_delta():
    loose = Spend("a mean", "Gaussian", "replace", "L2", 1.0, 3.0, 0.7, delta=1e-6)
    budget = Budget(1.0)
    with pytest.raises(BudgetError, match=r"delta of 1e-06"):
        budget.charge(loose)
    assert budget.ledger == Ledger()
    Budget(1.0, delta=1e-6).charge(loose)
    with pytest.raises(BudgetError):
        Budget(1.0, delta=1e-6).charge(Spend("moments", "Gaussian", "replace", "L2", 1.0, 3.0, math.inf, zcdp=0.1))
