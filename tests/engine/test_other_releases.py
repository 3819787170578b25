"""What is particular to relevances and tilts."""

import numpy as np
import pytest

from dpreg.audit.declared import MECHANISMS


def test_the_share_of_the_first_step_is_on_the_ledger():
    declared = MECHANISMS["PrivR"]
    setting = next(declared.settings((2,)))
    _, ledger = declared.release(*declared.records(2, 30, np.random.default_rng(1)), setting, 1)
    steps = declared.steps(setting)
    assert [step.price for step in steps] == pytest.approx([spend.epsilon for spend in ledger])
