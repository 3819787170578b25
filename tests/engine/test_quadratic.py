"""What is stated of a law of noise by its kind, and what a reader states of a law of one's own."""

import numpy as np
import pytest
from scipy import stats

from dpreg.audit.declared import QUICK
from dpreg.audit.quadratic import Noise, quadratic
from dpreg.audit.residuals import laplace_loss, numbers
from dpreg.audit.statement import Sample, Step
from dpreg.checks import InputError
from dpreg.pipeline import objective, release
from tests.engine.readers_law import Mine, own


def steps(s, law, loss, prices):
    def exact(X, y):
        return numbers(objective.linear(X, y, s.domain), law)

    return (Step("coefficients", exact, lambda change: laplace_loss(change, law.size), prices[0]),)


def samples(s, law, f, size, rng):
    moved = numbers(release.perturb(f, law, rng, draws=(size // 5,)), law) - numbers(f, law)
    return [Sample("mine", moved / law.size, stats.laplace, 1.0)]


MINE = Noise(steps, samples, ("my L1",))


class Quiet(Mine):
    """It draws less noise than it says."""

    def perturb(self, f, draws, rng):
        return Mine(0.9 * self.size, self.p).perturb(f, draws, rng)


class Cheap(Mine):
    """It charges less than it costs."""

    def certify(self, *given):
        return 0.9 * super().certify(*given)


def refuted(law, layer):
    """Whether a layer refutes what is stated of a mechanism with this law, at the size that costs epsilon."""

    def make(s):
        return law(own(s.domain, s.epsilon, s.neighbours).size, s.domain.p)

    found = QUICK[layer](quadratic("mine", make, noise=MINE), np.random.default_rng(1))
    return any(finding.refuted for finding in found)


@pytest.mark.thorough
@pytest.mark.parametrize("layer", QUICK)
def test_a_law_of_ones_own_is_audited_by_what_is_stated_of_it(layer):
    assert not refuted(Mine, layer)


@pytest.mark.thorough
@pytest.mark.parametrize(("law", "layer"), [(Quiet, "noise law"), (Cheap, "sensitivity"), (Cheap, "budget algebra")])
def test_what_a_law_of_ones_own_gets_wrong_is_found(law, layer):
    assert refuted(law, layer)


def test_a_law_that_nothing_is_known_of_is_refused():
    mine = quadratic("mine", lambda s: Mine(1.0, s.domain.p))
    setting = next(mine.settings((1,)))
    with pytest.raises(InputError, match="law is of type Mine: give Scales"):
        mine.samples(setting, 10, np.random.default_rng(1))
