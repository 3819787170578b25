"""What mechanisms state that are a law of noise."""

import numpy as np
import pytest

from dpreg.audit.quadratic_releases import ALL, quadratic
from dpreg.checks import InputError
from dpreg.pipeline.laws import Law
from tests.engine.test_pay import Mine


def test_a_law_that_nothing_is_known_of_is_refused():
    mine = quadratic("mine", lambda s: Mine(1.0, s.domain.p))
    setting = next(mine.settings((1,)))
    with pytest.raises(InputError, match="law is of type Mine"):
        mine.samples(setting, 10, np.random.default_rng(1))
    assert isinstance(Mine(1.0, 1), Law)


def test_names_are_unique():
    assert len({declared.name for declared in ALL}) == len(ALL)
