"""The auditor audited: how often it accuses the innocent, and how often it finds the guilty.

Tests of a rate state the chance that they fail although the rate holds. The audits have fixed seeds.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge

import dpreg.audit
from dpreg import accounting
from dpreg.audit import black_box
from dpreg.audit import clopper_pearson as cp
from dpreg.audit.black_box import estimator
from dpreg.audit.pairs import Pair, standard
from dpreg.checks import InputError

PAIR = Pair("one response turned round", [[1.0], [1.0]], [0.0, 1.0], [[1.0], [1.0]], [0.0, 0.0])
DELTA = 0.05
SIGMA = accounting.gaussian_deviation(1.0, 1.0, DELTA)


def response(epsilon):
    """Randomised response to the last record."""

    def make(X, y, rng, draws):
        truth = rng.random(draws) < 1 / (1 + math.exp(-epsilon))
        return np.where(truth, y[-1], 1 - y[-1])

    return make


def laplace(epsilon):
    return lambda X, y, rng, draws: y.sum() + rng.laplace(scale=1 / epsilon, size=draws)


def geometric(X, y, rng, draws):
    p = 1 - math.exp(-1.0)
    return y.sum() + rng.geometric(p, draws) - rng.geometric(p, draws)


def gaussian(sigma):
    return lambda X, y, rng, draws: y.sum() + rng.normal(scale=sigma, size=draws)


# What spends exactly what it claims, and what does not look at its data and claims next to nothing.
SOUND = {
    "Laplace": (laplace(1.0), 1.0, 0.0),
    "randomised response": (response(1.0), 1.0, 0.0),
    "geometric": (geometric, 1.0, 0.0),
    "Gauss": (gaussian(SIGMA), 1.0, DELTA),
    "two columns": (lambda X, y, rng, n: laplace(0.5)(X, y, rng, (n, 2)), 1.0, 0.0),
    "Laplace alone": (lambda X, y, rng, n: rng.laplace(size=n), 1e-9, 0.0),
    "Gauss alone": (lambda X, y, rng, n: rng.normal(size=(n, 2)), 1e-9, 0.0),
    "four columns alone": (lambda X, y, rng, n: rng.normal(size=(n, 4)), 1e-9, 0.0),
    "discrete alone": (lambda X, y, rng, n: rng.poisson(1.0, size=n), 1e-9, 0.0),
    "heavy tails alone": (lambda X, y, rng, n: rng.standard_cauchy(size=n), 1e-9, 0.0),
    "constant": (lambda X, y, rng, n: np.zeros(n), 1e-9, 0.0),
}


def false_alarms(name, audits, confidence, draws=200, **options):
    make, epsilon, delta = SOUND[name]
    given = {"delta": delta, "draws": draws, "confidence": confidence, "many": True, "classifier": False} | options
    return sum(bool(estimator(make, [PAIR], epsilon, random_state=seed, **given).refuted) for seed in range(audits))


def allowed(audits, rate, error=1e-6):
    """The largest number of alarms that a rate explains, but for a chance of `error`."""
    return int(stats.binom.isf(error, audits, rate))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["Laplace", "Gauss alone"])
def test_false_alarms_stay_below_their_rate(name):
    """It fails by chance once in a million."""
    assert false_alarms(name, 60, 0.8) <= allowed(60, 0.2)


@pytest.mark.audit
def test_who_counts_what_was_chosen_by_is_found_out(monkeypatch):
    """That the tests of the rate can fail: the same releases choose and are counted."""
    tables = black_box._Audit._tables

    def again(self, pair, n, keys, names, bar):
        return tables(self, pair, n, (*keys[:-1], 0), names, bar)

    monkeypatch.setattr(black_box._Audit, "_tables", again)
    assert false_alarms("four columns alone", 300, 0.8, 400) > allowed(300, 0.2)


@pytest.mark.audit
@pytest.mark.parametrize("name", SOUND)
def test_false_alarms_in_a_thousand_audits(name):
    """At 80 %, where there would be 200; it fails by chance once in a million."""
    assert false_alarms(name, 1000, 0.8) <= allowed(1000, 0.2)


@pytest.mark.audit
@pytest.mark.parametrize("options", [{"classifier": True}, {"stop_early": True, "draws": 1000}])
def test_false_alarms_with_everything_on(options):
    assert false_alarms("two columns", 200, 0.8, **options) <= allowed(200, 0.2)


def test_a_gaussian_audit_of_gaussian_noise_keeps_its_rate():
    """It fails by chance once in a million."""
    assert false_alarms("Gauss", 60, 0.5, assume="gaussian") <= allowed(60, 0.5)


@pytest.mark.audit
@pytest.mark.parametrize("factor", [1.5, 2.0, 4.0])
def test_power_is_close_to_that_of_the_best_event(factor):
    """A Laplace count, with draws that find the best event in nine of ten audits: choosing costs a part of it.

    Which event is best is not known to the auditor, so in one direction it finds no more than that, and at least two
    thirds of it; four standard errors are allowed, which by chance are not enough once in ten thousand.
    """
    audits, tests = 200, 2
    best = cp.power_table(1.0, [factor], tests=tests).iloc[0]
    draws, given = max(2 * int(best.draws), 80), {"many": True, "classifier": False}
    reports = [estimator(laplace(factor), [PAIR], 1.0, draws=draws, random_state=k, **given) for k in range(audits)]
    ideal = cp.power(best.p, best.q, 1.0, draws // 2, tests=tests)
    error = math.sqrt(ideal * (1 - ideal) / audits)
    for way in (0, 1):
        found = sum(report.findings[way].refuted for report in reports) / audits
        assert 2 / 3 * ideal <= found <= ideal + 4 * error


def test_the_gaussian_assumption_finds_more():
    """Noise of half the deviation: with so few draws only the assumption is enough."""
    make, given = gaussian(SIGMA / 2), {"delta": DELTA, "many": True, "random_state": 1, "classifier": False}
    plain, assumed = (
        estimator(make, [PAIR], 1.0, draws=400, assume=assume, **given) for assume in ("nothing", "gaussian")
    )
    assert assumed.refuted
    assert max(one.found for one in assumed.findings) > max(one.found for one in plain.findings)


def one_by_one(X, y, seed):
    return y.sum() + np.random.default_rng(seed).laplace()


def test_seeds_that_choose_are_never_counted():
    seen = []

    def make(X, y, seed):
        seen.append((X.tobytes() + y.tobytes(), seed))
        return one_by_one(X, y, seed)

    report = estimator(make, [PAIR], 1.0, draws=400, random_state=3)
    counts = [one.draws for one in report.findings]
    assert counts == [200, 200]
    assert len(seen) == 2 + 4 * 200
    choose, count = seen[2:402], seen[402:]
    assert not {seed % 2 for _, seed in choose} & {seed % 2 for _, seed in count}
    for part in (choose, count):
        sides = {side for side, _ in part}
        assert [len({seed for side, seed in part if side == one}) for one in sides] == [200, 200]
        assert {side for side, _ in part[:20]} == sides  # mixed, so that no drift looks like a difference
    assert all(0 <= seed < 2**32 for _, seed in seen)


def test_what_drifts_while_the_audit_runs_is_no_leak():
    """Whatever the records: a release that tells the time, as an attribute such as `fit_time_` does."""
    clock = itertools.count()
    report = estimator(lambda X, y, seed: next(clock), [PAIR], 0.1, draws=400, random_state=4)
    assert not report.refuted


def test_an_audit_repeats_with_its_seed():
    one, again, other = (estimator(one_by_one, [PAIR], 1.0, draws=200, random_state=seed) for seed in (1, 1, 2))
    assert one.findings == again.findings != other.findings
    assert (one.seed, other.seed) == (1, 2)
    assert one.seconds > 0
    assert estimator(one_by_one, [PAIR], 1.0, draws=80, random_state=np.random.default_rng(1)).seed is None


@pytest.mark.audit
def test_workers_change_nothing():
    one, two = (estimator(one_by_one, [PAIR], 1.0, draws=2000, random_state=1, n_jobs=n) for n in (1, 2))
    assert one.findings == two.findings


def test_a_finding_says_what_was_counted():
    report = estimator(laplace(4.0), [PAIR], 1.0, draws=2000, random_state=1, many=True)
    first, second = report.findings
    assert (first.pair, second.pair) == (PAIR.name, PAIR.name + ", exchanged")
    for one in report.findings:
        assert one.refuted
        assert one.hits > one.hits_other
        # The risk is shared by two findings.
        assert one.found == pytest.approx(float(cp.lower_bound(one.hits, one.hits_other, 1000, 1 - 0.05 / 2)))
        assert (one.claimed, one.confidence, one.draws) == (1.0, 0.95, 1000)


def test_stopping_early_shares_the_risk_and_stops():
    gross = estimator(laplace(50.0), [PAIR] * 5, 1.0, draws=16 * 80, random_state=1, many=True, stop_early=True)
    assert [one.draws for one in gross.findings] == [40, 40]
    one = gross.findings[0]
    assert one.found == pytest.approx(float(cp.lower_bound(one.hits, one.hits_other, 40, 1 - 0.05 / (2 * 5 * 3))))
    sound = estimator(laplace(0.5), [PAIR], 1.0, draws=16 * 80, random_state=1, many=True, stop_early=True)
    assert [one.draws for one in sound.findings] == [8 * 80] * 2


def test_the_most_promising_pairs_go_on():
    """Of five pairs two go on to the second round and one to the third: the one that is told apart best."""
    pairs = [Pair(f"by {k}", [[0.0]], [0.0], [[0.0]], [k / 4]) for k in (1, 0.5, 12, 0.25, 2)]
    given = {"draws": 16 * 80, "random_state": 1, "many": True, "stop_early": True, "classifier": False}
    report = estimator(laplace(1.0), pairs, 4.0, **given)
    assert sorted(one.draws for one in report.findings) == [40] * 6 + [160] * 2 + [640] * 2
    last = [one for one in report.findings if one.draws == 640]
    assert {one.pair for one in last} == {"by 12", "by 12, exchanged"}
    one = last[0]  # the last round has a third of the risk, and one pair
    assert one.found == pytest.approx(float(cp.lower_bound(one.hits, one.hits_other, 640, 1 - 0.05 / (2 * 3))))
    assert estimator(laplace(1.0), pairs, 1.0, **given | {"stop_early": False, "draws": 80}).findings[-1].draws == 40


def test_which_pairs_go_on_is_not_decided_by_what_is_counted(monkeypatch):
    """A pair that goes on has its promise from other releases than its counts."""
    seen = []
    tables = black_box._Audit._tables

    def note(self, pair, n, keys, names, bar):
        seen.append((keys[0], keys[-1], pair.name))
        return tables(self, pair, n, keys, names, bar)

    monkeypatch.setattr(black_box._Audit, "_tables", note)
    counts = iter(range(1000))
    monkeypatch.setattr(black_box, "lower_bound", lambda *_, **__: next(counts) / 1e6)  # whatever was counted
    pairs = [Pair(f"by {k}", [[0.0]], [0.0], [[0.0]], [k / 4]) for k in (12, 0.5, 1, 0.25)]
    given = {"draws": 16 * 80, "random_state": 1, "many": True, "stop_early": True, "classifier": False}
    estimator(laplace(1.0), pairs, 1.0, **given)
    assert {name for r, _, name in seen if r == 2} == {"by 12"}


@pytest.mark.thorough
def test_a_model_without_privacy_is_refuted():
    pairs = standard((0, 1), (0, 1), d=2)[:2]
    report = dpreg.audit.estimator(lambda X, y, seed: Ridge(1.0).fit(X, y), pairs, 1.0, draws=100, random_state=1)
    assert report.refuted


def test_pairs_in_which_every_call_fails_say_so():
    def make(X, y, seed):
        if y[-1] > 1:
            raise OverflowError("too large")
        return one_by_one(X, y, seed)

    far = Pair("far out", [[1.0]], [9.0], [[1.0]], [5.0])
    report = estimator(make, [PAIR, far], 1.0, draws=80, random_state=1)
    assert [one.event for one in report.findings[2:]] == ["every call raised OverflowError"] * 2
    assert not any(one.found for one in report.findings[2:])
    assert "4 attempts, 2 of them empty, since every call raised an error" in str(report)


def test_what_cannot_be_audited_is_refused():
    with pytest.raises(InputError, match=r"make raised TypeError with every pair .*give make\(X, y, seed\)"):
        estimator(lambda X: X, [PAIR], 1.0)
    with pytest.raises(InputError, match="no number was found"):
        estimator(lambda X, y, seed: "secret", [PAIR], 1.0)
    with pytest.raises(InputError, match="1 releases when asked for 50"):
        estimator(lambda X, y, rng, draws: [1.0], [PAIR], 1.0, many=True, draws=100)
    with pytest.raises(InputError, match=r"draws is 100, and proves no more than epsilon = 2.*: give at least 6400"):
        estimator(one_by_one, [PAIR], 6.0, draws=100)
    with pytest.raises(InputError, match="2 and 1 numbers"):
        estimator(lambda X, y, rng, draws: np.ones((draws, 1 + int(y[-1]))), [PAIR], 1.0, many=True, draws=100)


@pytest.mark.audit
def test_our_own_estimator_is_not_refuted():
    """At 99.9 %: by chance once in a thousand seeds."""

    def make(X, y, seed):
        domain = dpreg.Box([0.0], [1.0], response=(0.0, 1.0), intercept=True)
        return dpreg.PrivateLinearRegression(domain, epsilon=1.0, random_state=seed).fit(X, y)

    report = estimator(make, standard((0, 1), (0, 1), d=1), 1.0, draws=200, confidence=0.999, random_state=1)
    assert not report.refuted, report
