"""What is stated of further releases is of those mechanisms, and other units change no released number."""

import numpy as np
import pytest

from dpreg.audit.declared import MECHANISMS
from dpreg.audit.further_releases import ALL


@pytest.mark.parametrize("declared", ALL, ids=[declared.name for declared in ALL])
def test_each_releases_what_its_ledger_says(declared):
    setting = next(declared.settings((2,)))
    out, ledger = declared.release(*declared.records(2, 12, np.random.default_rng(1)), setting, 1)
    assert np.isfinite(out).all()
    cost = ledger.rho if declared.spends == "rho" else ledger.epsilon
    assert cost == pytest.approx(setting.epsilon)


@pytest.mark.parametrize("name", ["functional", "Wishart difference"])
def test_other_units_release_the_same_numbers(name):
    """The layers know records between -1 and 1 only: they are moved into the bounds, and the engine moves them back."""
    there, here = MECHANISMS[f"{name}, other units"], MECHANISMS[name]
    records = here.records(3, 12, np.random.default_rng(1))
    settings = zip(there.settings((3,)), here.settings((3,)), strict=True)
    for one, other in settings:
        assert one.domain.response != other.domain.response
        np.testing.assert_allclose(there.release(*records, one, 5)[0], here.release(*records, other, 5)[0], atol=1e-6)
