"""The parameters of the generator, each with its source."""

import pytest

from lib.data.generated_parameters import AGES, document, parameters, provenance


def entries():
    for stage, group in document()["parameters"].items():
        for name, entry in group.items():
            yield f"{stage}.{name}", entry


@pytest.mark.parametrize(("name", "entry"), entries(), ids=[name for name, _ in entries()])
def test_every_parameter_has_a_meaning_a_source_and_values(name, entry):
    assert entry["what"].strip()
    sources = entry["source"].values() if isinstance(entry["source"], dict) else [entry["source"]]
    assert set(sources) <= set(document()["sources"])
    assert ("both" in entry) != ({"US", "BR"} <= set(entry))
    assert set(entry) <= {"what", "source", "US", "BR", "both"}


def test_every_source_is_used():
    used = {one["source"] for one in document()["targets"]} | set(provenance()["source"])
    assert used == set(document()["sources"])


def test_curves_are_linear_between_their_points():
    curve = parameters("US").ownership.odds
    assert curve.shape == AGES.shape
    assert curve[18] == -1.9
    assert curve[21] == pytest.approx(-1.9 + 3 / 7 * 0.9)


def test_provenance_counts_every_number_once():
    def numbers(raw):
        if isinstance(raw, dict):
            return numbers(raw["values"]) if "values" in raw else len(raw)
        return sum(numbers(part) for part in raw) if isinstance(raw, list) else 1

    total = sum(2 * numbers(e["both"]) if "both" in e else numbers(e["US"]) + numbers(e["BR"]) for _, e in entries())
    frame = provenance()
    assert frame["numbers"].sum() == total
    assert frame["share"].sum() == pytest.approx(1.0)
