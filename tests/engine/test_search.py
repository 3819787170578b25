"""The attack stays inside the domain, and finds what the certificate says is there."""

import itertools
import math

import numpy as np
import pytest

from dpreg.audit.search import Pair, log_ratio, worst_pair
from dpreg.checks import InputError
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import Scales, certify, functional, unit_scales
from dpreg.pipeline.objective import Quadratic, from_gram
from dpreg.pipeline.release import perturb

CONVENTIONS = ("monomial", "ordered", "copied", "triangle")
QUICK = {"restarts": 60, "steps": 150}


def domains(d):
    for intercept in (False, True):
        yield Box(-np.ones(d), np.ones(d), (-1, 1), intercept=intercept)
        yield Box(-np.ones(d), np.ones(d), (-1, 1), intercept=intercept, corner=True)
        yield Ball(np.zeros(d), 1.0, (-1, 1), intercept=intercept)


def in_domain(record, domain):
    t, constant, x = record[0], record[1 : 1 + domain.intercept], record[1 + domain.intercept :]
    inside = np.linalg.norm(x) <= 1 + 1e-12
    if isinstance(domain, Box):
        inside = ((x >= domain.floor) & (x <= domain.reach)).all()
    return abs(t) <= 1 and (constant == 1).all() and inside


def loss_of(pair, scales, domain, neighbours):
    """The largest loss between two data sets that differ in the pair, from the released numbers themselves."""
    p = domain.p
    numbers = []
    for z in (pair.record, pair.other):
        t, x = z[0], z[1:]
        kept = [(j, k) for j in range(p) for k in range(p) if (scales.ordered or j <= k) and scales.M[j, k] > 0]
        entries = [x[j] * x[k] / scales.M[j, k] for j, k in kept]
        numbers.append([*entries, *(-2 * t * x / scales.v), t * t / scales.c])
    return float(np.abs(np.subtract(*numbers)).sum())


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_pair_is_in_the_domain_its_loss_is_real_and_no_more_than_certified(convention, neighbours):
    for d, constant in ((1, False), (3, True)):
        for domain in domains(d):
            scales = functional(domain, 0.7, convention=convention, neighbours=neighbours, constant=constant)
            pair = worst_pair(scales, domain, neighbours, **QUICK)
            assert in_domain(pair.record, domain)
            if neighbours == "replace":
                assert in_domain(pair.other, domain)
            else:
                assert (pair.other == 0).all()
            assert pair.loss == pytest.approx(loss_of(pair, scales, domain, neighbours), rel=1e-12)
            assert pair.loss <= 0.7 * (1 + 1e-12)


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("intercept", [False, True])
def test_the_search_reaches_the_certificate_on_the_box(convention, neighbours, intercept):
    for d in (1, 2, 5):
        domain = Box(-np.ones(d), np.ones(d), (-1, 1), intercept=intercept)
        scales = functional(domain, 1.0, convention=convention, neighbours=neighbours)
        assert worst_pair(scales, domain, neighbours, **QUICK).loss > 0.999


def test_the_search_beats_a_mechanism_that_lies():
    """A tenth less noise than promised shows."""
    domain = Box(-np.ones(3), np.ones(3), (-1, 1))
    assert worst_pair(functional(domain, 1.0).times(0.9), domain).loss > 1.1


def test_the_log_ratio_of_outputs_is_bounded_by_the_pairs_loss_and_attains_it():
    domain = Box([-1, -1], [1, 1], (-1, 1))
    for convention, constant in itertools.product(CONVENTIONS, (False, True)):
        scales = functional(domain, 1.3, convention=convention, constant=constant)
        pair = worst_pair(scales, domain, **QUICK)
        one, other = (from_gram(np.outer(z, z), domain) for z in (pair.record, pair.other))
        outputs = perturb(one, scales, 0, draws=(2000,))
        losses = log_ratio(outputs, one, other, scales)
        assert losses.shape == (2000,)
        assert np.abs(losses).max() <= pair.loss * (1 + 1e-9)
        far = Quadratic(1e6 * np.sign(one.M - other.M), 1e6 * np.sign(one.v - other.v), 1e6 * np.sign(one.c - other.c))
        assert float(log_ratio(far, one, other, scales)) == pytest.approx(pair.loss, rel=1e-6)
        # E[exp(-loss)] = 1 under the law of `one`: the ratio of two densities integrates to one.
        weights = np.exp(-losses)
        assert abs(weights.mean() - 1) < 5 * weights.std() / math.sqrt(2000)


def test_a_search_repeats_with_its_seed():
    domain = Ball([0, 0], 1, (-1, 1))
    scales = functional(domain, 1.0)
    one, again, other = (worst_pair(scales, domain, random_state=seed, **QUICK) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.record, again.record)
    assert one.loss == again.loss
    assert not np.array_equal(one.record, other.record)
    assert isinstance(one, Pair)


def test_nothing_to_find_and_everything_to_find():
    domain = Box([-1, -1], [1, 1], (-1, 1), intercept=True)
    silent = Scales(np.full((3, 3), math.inf), np.full(3, math.inf))
    assert certify(silent, domain) == worst_pair(silent, domain, **QUICK).loss == 0
    public = unit_scales("copied", 3, public_count=True)
    assert worst_pair(public, domain, **QUICK).loss == pytest.approx(certify(public, domain), rel=1e-3)
    with pytest.raises(InputError, match="scale zero"):
        worst_pair(public, domain, "add_remove", **QUICK)
    f = from_gram(np.eye(4), domain)
    with pytest.raises(InputError, match="scale zero"):
        log_ratio(f, f, from_gram(2 * np.eye(4), domain), public)
