"""The writer of generated extracts: the files say what the people said."""

import gzip
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from lib.data import ipums_labels, ipums_synthetic
from tests.lib.extracts import COUNTRIES

DDI = {"ddi": "ddi:codebook:2_5"}


def columns(folder, country):
    """Codes and labels of each variable, cut out of the lines by hand."""
    with gzip.open(folder / f"{country}.dat.gz", "rt", encoding="ascii") as file:
        lines = file.read().splitlines()
    out, end = {}, 0
    for variable in ElementTree.parse(folder / f"{country}.xml").iterfind(".//ddi:var", DDI):
        place = variable.find("ddi:location", DDI).attrib
        start, stop, width = int(place["StartPos"]), int(place["EndPos"]), int(place["width"])
        assert (start, stop - start + 1) == (end + 1, width), variable.get("name")
        end = stop
        labels = {
            one.find("ddi:catValu", DDI).text: one.find("ddi:labl", DDI).text
            for one in variable.iterfind("ddi:catgry", DDI)
        }
        assert {len(code) for code in labels} <= {width}
        out[variable.get("name")] = [line[start - 1 : stop] for line in lines], labels
    assert {len(line) for line in lines} == {end}
    return out


@pytest.mark.parametrize("country", COUNTRIES)
def test_the_lines_are_the_people_in_the_places_of_the_codebook(country, tmp_path):
    frame = ipums_synthetic.write(tmp_path, country, 500, unanswered=0.5, random_state=1)
    found = columns(tmp_path, country)
    assert all(len(codes) == 500 for codes, _ in found.values())
    for name, attribute, worth in (
        ("SEX", "female", {"Male": 0, "Female": 1}),
        ("MARST", "marital", {"Single/never married": 1, "Married/in union": 2, "Separated/divorced/spouse absent": 3}),
        ("OWNERSHIP", "owns_dwelling", {"Owned": 1, "Not owned": 0}),
    ):
        codes, labels = found[name]
        silent = frame["unanswered"] == attribute
        assert 0 < silent.sum() < 500
        said = pd.Series([labels[code] for code in codes])
        assert said[silent].nunique() == 1
        assert said[silent].iloc[0] not in worth
        assert said[~silent].map(worth).tolist() == frame[attribute][~silent].tolist()
    heads = [found["RELATE"][1][code] == "Head" for code in found["RELATE"][0]]
    assert heads == (frame["head"] == 1).tolist()
    spoke = frame["unanswered"] != "annual_income"
    income = frame["annual_income"] // (1 if country == "US" else 12)
    assert [int(code) for code in np.array(found["INCTOT"][0])[spoke]] == income[spoke].tolist()


def test_the_seed_is_all(tmp_path):
    frames, files = [], []
    for k, seed in enumerate((3, 3, 4)):
        folder = tmp_path / str(k)
        folder.mkdir()
        frames.append(ipums_synthetic.write(folder, "BR", 50, random_state=seed))
        files.append(gzip.decompress((folder / "BR.dat.gz").read_bytes()))
    pd.testing.assert_frame_equal(frames[0], frames[1])
    assert files[0] == files[1] != files[2]


def test_shares_of_the_silent_and_of_the_others(tmp_path):
    frame = ipums_synthetic.write(tmp_path, "US", 20_000, unanswered=0.1, others=0.3, random_state=9)
    assert abs((frame["unanswered"] != "").mean() - 0.1) < 4 * np.sqrt(0.1 * 0.9 / 20_000)
    assert abs((frame["head"] == 0).mean() - 0.3) < 4 * np.sqrt(0.3 * 0.7 / 20_000)
    assert set(ipums_labels.NAMES) == set(COUNTRIES)
