"""What is particular to noisy counts."""

import numpy as np
import pytest

from dpreg.audit.declared import MECHANISMS


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_counts_without_noise_are_those_of_a_huge_epsilon(relation):
    declared = MECHANISMS["DPME"]
    (setting,) = (s for s in declared.settings((1,), 1e9) if s.neighbours == relation and not s.domain.intercept)
    records = declared.records(1, 30, np.random.default_rng(1))
    out, _ = declared.release(*records, setting, 1)
    assert declared.exact(*records, setting).sum() == 30
    assert out == pytest.approx(declared.exact(*records, setting), abs=1e-6)


def test_samples_hold_as_many_numbers_as_asked_for():
    samples = MECHANISMS["Filter-Priority"].samples(
        next(MECHANISMS["Filter-Priority"].settings((1,))), 1000, np.random.default_rng(1)
    )
    assert [sample.values.size for sample in samples if "pass" in sample.name] == [1000, 1000]
