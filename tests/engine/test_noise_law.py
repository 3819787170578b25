"""Tests of a noise law: how often they err on the right one, and that they reject a scale five per cent off.

Each test of a sound sample errs less often than once in a million. The rate is too small to be measured, so the
p-values are, at five per cent: more rejections than the binomial quantile of one in a million fail.
"""

import numpy as np
import pytest
from scipy import stats

from dpreg.audit.declared import MECHANISMS
from dpreg.audit.noise_law import ALPHA, audit_noise, p_values
from dpreg.audit.statement import Sample

LAWS = {
    "Laplace": (stats.laplace, 1.0),
    "normal": (stats.norm, np.sqrt(2 / np.pi)),
    "exponential": (stats.expon, 1.0),
    "geometric": (stats.geom(0.4), 2.5),
    "bernoulli": (stats.bernoulli(0.2), 0.2),
}
FAST = ["functional", "functional, ordered", "Wishart difference", "DPME", "Filter-Priority", "IRLS, Gaussian"]


def sample(name, values):
    return Sample(name, values, *LAWS[name])


def least(name, values):
    return min(chance for _, chance in p_values(sample(name, values)))


def rejections(name, size, seeds):
    law = LAWS[name][0]
    chances = {}
    for seed in range(seeds):
        values = law.rvs(size=(size // 4, 4), random_state=np.random.default_rng(seed))
        for event, chance in p_values(sample(name, np.asarray(values, dtype=float))):
            chances.setdefault(event, []).append(chance)
    return {event: sum(chance < 0.05 for chance in found) for event, found in chances.items()}


@pytest.mark.thorough
@pytest.mark.parametrize("name", [pytest.param(k, marks=[pytest.mark.audit] * (k != "Laplace")) for k in LAWS])
def test_sound_noise_is_rejected_as_often_as_said(name):
    most = stats.binom.isf(1e-6, 200, 0.05)
    for event, count in rejections(name, 2000, 200).items():
        assert count <= most, event


@pytest.mark.parametrize("name", ["Laplace", "normal", "exponential"])
@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_a_scale_five_per_cent_off_is_rejected(name, factor):
    values = LAWS[name][0].rvs(size=(10_000, 4), random_state=np.random.default_rng(1))
    assert least(name, values) > ALPHA > least(name, factor * values)


def test_what_is_shared_is_found():
    values = np.random.default_rng(1).laplace(size=(10_000, 3))
    turned = values.copy()
    turned[:, 1] = -turned[:, 0] * (1 + 1e-9)  # no two numbers are equal
    again = np.repeat(values[::2], 2, axis=0)
    sizes = np.abs(values) * np.sign(values[:, [1, 2, 0]])
    sizes[:, 1] = np.abs(sizes[:, 0]) * np.sign(values[:, 1])
    for shared in (turned, again, sizes):
        assert least("Laplace", shared) < ALPHA


def test_a_constant_is_no_noise():
    assert least("Laplace", np.zeros((100, 2))) == 0


@pytest.mark.thorough
@pytest.mark.parametrize("name", [pytest.param(k, marks=[pytest.mark.audit] * (k not in FAST)) for k in MECHANISMS])
def test_the_noise_is_what_it_is_said_to_be(name):
    found = audit_noise(MECHANISMS[name], np.random.default_rng(0))
    assert found
    assert not [finding for finding in found if finding.refuted]


@pytest.mark.audit
@pytest.mark.parametrize("name", [name for name, one in MECHANISMS.items() if not one.scarce])
def test_sound_mechanisms_are_rejected_as_often_as_said(name):
    """Forty seeds: what all tests of all samples say, each at five per cent."""
    declared, chances = MECHANISMS[name], {}
    setting = next(declared.settings((2,)))
    for seed in range(40):
        for part in declared.samples(setting, 4000, np.random.default_rng(seed)):
            for event, chance in p_values(part):
                chances.setdefault((part.name, event), []).append(chance)
    for key, found in chances.items():
        assert sum(chance < 0.05 for chance in found) <= stats.binom.isf(1e-6, 40, 0.05), key
