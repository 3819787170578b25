"""Fixtures of the tests of data."""

from typing import get_args

import pytest

from lib.data import census
from lib.data.generated_parameters import Country
from lib.data.generated_people import people


@pytest.fixture(autouse=True)
def no_extract(monkeypatch):
    """These tests are of the generated people, whatever the reader has."""
    monkeypatch.delenv(census.EXTRACTS, raising=False)


@pytest.fixture(scope="module")
def heads():
    """Other draws than the chapter's."""
    return {country: people(country, 200_000, random_state=77) for country in get_args(Country)}
