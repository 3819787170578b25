"""The reader of a user's own extract, on generated people in the format of IPUMS; and the setting that turns it on."""

import gzip
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpreg.checks import DataError
from lib.data import census, ipums
from lib.data.ipums_labels import BOTH, OWN
from tests.lib.extracts import ALL, COUNTRIES, N, category, edit, extract, meant

pytest.importorskip("ipumspy", reason="ipumspy is an optional extra: pip install -e '.[ipums]'")


@pytest.fixture(scope="module", params=COUNTRIES)
def written(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return request.param, folder, extract(folder, request.param, random_state=5)


# --- reading


def test_what_was_written_is_read(written):
    country, folder, frame = written
    found, source = ipums.heads(folder, country, ALL)
    wanted = meant(frame, country, ALL)
    pd.testing.assert_frame_equal(found, wanted.reset_index(drop=True))
    heads = (frame["head"] == 1).sum()
    name = {"US": "United States", "BR": "Brazil"}[country]
    assert source == (f"user's IPUMS extract (ipumsi: {name} 2000), {len(wanted)} of {heads} heads with every answer")
    assert 0 < len(wanted) < heads < N  # some did not answer, and some head no household


def test_only_what_is_asked_for_must_be_answered(written):
    country, folder, frame = written
    columns = ["female", "family_size", "annual_income"]
    found, _ = ipums.heads(folder, country, columns)
    pd.testing.assert_frame_equal(found, meant(frame, country, columns).reset_index(drop=True))


def test_chunks_make_no_difference(written, monkeypatch):
    country, folder, _ = written
    whole, _ = ipums.heads(folder, country, ALL)
    monkeypatch.setattr(ipums, "CHUNK", 777)
    pd.testing.assert_frame_equal(ipums.heads(folder, country, ALL)[0], whole)


def test_house_type_of_the_us(tmp_path):
    frame = extract(tmp_path, "US", random_state=2)
    found, _ = ipums.heads(tmp_path, "US", ["house_type"])
    assert found["house_type"].tolist() == meant(frame, "US", ["house_type"])["house_type"].tolist()
    assert set(found["house_type"]) == set(range(1, 8))


# --- labels decide


def test_an_unknown_label_is_refused(tmp_path):
    extract(tmp_path, "US", 300)
    edit(tmp_path / "US.xml", "<labl>Widowed</labl>", "<labl>Cohabiting</labl>")
    edit(tmp_path / "US.xml", "<labl>Married/in union</labl>", "<labl>In union</labl>")
    with pytest.raises(DataError, match=r"MARST has code 2, labelled 'in union', .* under codes"):
        ipums.heads(tmp_path, "US", ["is_married"])
    assert len(ipums.heads(tmp_path, "US", ["female"])[0])  # and an unknown label nobody has does not matter
    (tmp_path / "US.yml").write_text("codes: {MARST: {2: 2, 9: null}}")
    found, _ = ipums.heads(tmp_path, "US", ["is_married"])
    assert found["is_married"].mean() > 0.3


def test_a_code_without_a_label_is_refused(tmp_path):
    extract(tmp_path, "US", 300)
    edit(tmp_path / "US.xml", category(1, "Male"), "")
    with pytest.raises(DataError, match="SEX has code 1, without a label"):
        ipums.heads(tmp_path, "US", ["female"])


def test_a_number_that_cannot_be_is_refused(tmp_path):
    """999 without its label is no age: it is the code of a missing one."""
    extract(tmp_path, "US", 300, unanswered=0.5)
    edit(tmp_path / "US.xml", category(999, "Not reported/missing"), "")
    with pytest.raises(DataError, match="AGE has code 999, without a label"):
        ipums.heads(tmp_path, "US", ["age"])


# --- income


def rewritten(folder, country, incomes):
    """Put these values of INCTOT, the last field, in place of the first ones written."""
    book = (folder / f"{country}.xml").read_text(encoding="utf-8")
    start, end = map(int, re.search(r'name="INCTOT".*?StartPos="(\d+)" EndPos="(\d+)"', book).groups())
    file = folder / f"{country}.dat.gz"
    with gzip.open(file, "rt") as lines:
        rows = lines.readlines()
    for k, income in enumerate(incomes):
        rows[k] = rows[k][: start - 1] + f"{income:0{end - start + 1}d}" + rows[k][end:]
    with gzip.open(file, "wt") as lines:
        lines.writelines(rows)


def test_special_incomes_are_no_incomes(tmp_path):
    extract(tmp_path, "US", 100, unanswered=0, others=0)
    rewritten(tmp_path, "US", [9_999_999, 9_999_998, 9_999_997, 999_998, -20_000])
    found, source = ipums.heads(tmp_path, "US", ["annual_income"])
    assert found["annual_income"].tolist()[:3] == [9_999_997, 999_998, -20_000]
    assert "98 of 100" in source


def test_income_of_another_width_is_refused(tmp_path):
    extract(tmp_path, "US", 100)
    text = (tmp_path / "US.xml").read_text()
    start = int(re.search(r'name="INCTOT".*?StartPos="(\d+)"', text)[1])
    edit(
        tmp_path / "US.xml", f'StartPos="{start}" EndPos="{start + 6}"', f'StartPos="{start - 1}" EndPos="{start + 6}"'
    )
    with pytest.raises(DataError, match=r"INCTOT has 8 digits, not 7: say in US\.yml"):
        ipums.heads(tmp_path, "US", ["annual_income"])
    assert len(ipums.heads(tmp_path, "US", ["age"])[0])  # other attributes can be read all the same


@pytest.mark.parametrize("factor", [1, 12])
def test_brazilian_income_waits_for_the_factor(factor, tmp_path):
    frame = extract(tmp_path, "BR", 300)
    (tmp_path / "BR.yml").unlink()
    with pytest.raises(DataError, match=r"BR\.yml is missing or has no income_factor: give 12 if INCTOT is a month's"):
        ipums.heads(tmp_path, "BR", ["annual_income"])
    (tmp_path / "BR.yml").write_text(f"income_factor: {factor}")
    found, _ = ipums.heads(tmp_path, "BR", ["annual_income"])
    assert found["annual_income"].sum() == meant(frame, "BR", ["annual_income"])["annual_income"].sum() * factor / 12


# --- what cannot be used


@pytest.mark.parametrize("attribute", [*census.FOURTEEN, "annual_income"])
def test_a_missing_variable_is_named(attribute, written, tmp_path):
    country, folder, _ = written
    attribute = "marital" if attribute.startswith("is_") else attribute
    names = list((BOTH | OWN[country])[attribute])
    book = (folder / f"{country}.xml").read_text(encoding="utf-8")
    for name in names:
        book = book.replace(f'name="{name}"', f'name="X{name}"')
    (tmp_path / f"{country}.xml").write_text(book, encoding="utf-8")
    (tmp_path / f"{country}.yml").write_text("income_factor: 12")
    message = f"{country}.xml has no {' or '.join(names)} for {attribute}: add it to your extract"
    with pytest.raises(DataError, match=re.escape(message)):
        ipums.heads(tmp_path, country, [*census.FOURTEEN, "annual_income"])


def test_a_brazilian_extract_has_no_house_type(tmp_path):
    extract(tmp_path, "BR", 100)
    with pytest.raises(DataError, match="no UNITSSTR for house_type"):
        ipums.heads(tmp_path, "BR", census.NINE)


def test_another_variable_may_be_named(tmp_path):
    extract(tmp_path, "US", 300)
    found, _ = ipums.heads(tmp_path, "US", ["disability"])
    edit(tmp_path / "US.xml", 'ID="DISWORK" name="DISWORK"', 'ID="DISINDEP" name="DISINDEP"')
    (tmp_path / "US.yml").write_text("variables: {disability: DISINDEP}\ncodes: {DISINDEP: {1: 1, 2: 0, 9: null}}")
    pd.testing.assert_frame_equal(ipums.heads(tmp_path, "US", ["disability"])[0], found)


BROKEN = {  # what is done to the codebook, and what the reader says
    "no head": (("<labl>Head</labl>", "<labl>Chief</labl>"), "no RELATE with a label for the head"),
    "no RELATE": (('name="RELATE"', 'name="OTHER"'), "no RELATE"),
    "hierarchical": (('type="rectangular"', 'type="hierarchical"'), "US.xml is of a hierarchical extract"),
    "no codebook": (("<dataDscr>", "<dataDscr"), "US.xml is no codebook of IPUMS"),
    "nothing in it": (("<stdyDscr>", "<other>"), "US.xml is no codebook of IPUMS"),
    "another country": (("<labl>United States</labl>", "<labl>Canada</labl>"), "US.xml holds Canada: give an extract"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_unusable_codebooks_are_refused(case, tmp_path):
    extract(tmp_path, "US", 100)
    (old, new), message = BROKEN[case]
    edit(tmp_path / "US.xml", old, new)
    if case == "nothing in it":
        edit(tmp_path / "US.xml", "</stdyDscr>", "</other>")
    with pytest.raises(DataError, match=message):
        ipums.heads(tmp_path, "US", ["age"])


def test_several_samples_are_refused(tmp_path):
    extract(tmp_path, "US", 100)
    with gzip.open(tmp_path / "US.dat.gz", "rt") as file:
        rows = file.readlines()
    assert rows[0][3:7] == "2000"
    with gzip.open(tmp_path / "US.dat.gz", "wt") as file:
        file.writelines(row[:3] + ("1990" if k % 2 else "2000") + row[7:] for k, row in enumerate(rows))
    with pytest.raises(DataError, match="holds United States 1990, United States 2000: give an extract of one"):
        ipums.heads(tmp_path, "US", ["age"])


def with_field(folder, name, codes, labels=(), country="US"):
    """Add a variable to the records, one digit wide, with these codes in turn."""
    book, file = folder / f"{country}.xml", folder / f"{country}.dat.gz"
    width = max(map(int, re.findall(r'EndPos="(\d+)"', book.read_text(encoding="utf-8"))))
    place = f'<location StartPos="{width + 1}" EndPos="{width + 1}" width="1" />'
    rest = "<concept>none</concept><varFormat schema='other' type='numeric' />"
    categories = "".join(category(*pair) for pair in labels)
    head = f'<var ID="{name}" name="{name}" intrvl="discrete" dcml="0">{place}<labl>{name}</labl><txt>{name}</txt>'
    edit(book, "</dataDscr>", f"{head}{categories}{rest}</var></dataDscr>")
    with gzip.open(file, "rt") as lines:
        rows = lines.read().splitlines()
    with gzip.open(file, "wt") as lines:
        lines.writelines(f"{row}{codes[k % len(codes)]}\n" for k, row in enumerate(rows))


@pytest.mark.parametrize("name", ["SAMPLE", "DATANUM"])
@pytest.mark.parametrize("labels", [[], [(1, "2000 1%"), (4, "2000 5%")], [(1, "2000"), (4, "2000")]])
def test_samples_of_one_year_are_told_apart(name, labels, tmp_path):
    """Their people overlap, and their codes differ."""
    extract(tmp_path, "US", 100)
    wanted = ipums.heads(tmp_path, "US", ALL)
    with_field(tmp_path, name, [4], labels)
    one = ipums.heads(tmp_path, "US", ALL)
    pd.testing.assert_frame_equal(one[0], wanted[0])
    assert one[1] == wanted[1]
    extract(tmp_path, "US", 100)
    with_field(tmp_path, name, [4, 1], labels)
    said = dict(labels)
    names = [re.escape(f"United States 2000 ({name} {code}: {said.get(code, code)})") for code in (1, 4)]
    with pytest.raises(DataError, match=rf"US\.xml holds {names[0]}, {names[1]}: give an extract of one sample"):
        ipums.heads(tmp_path, "US", ["age"])


def test_a_second_sample_is_named_before_its_codes_are_read(tmp_path, monkeypatch):
    extract(tmp_path, "US", 100)
    with_field(tmp_path, "SAMPLE", [1] * 60 + [2] * 40)
    with gzip.open(tmp_path / "US.dat.gz", "rt") as file:
        rows = file.readlines()
    sex = int(re.search(r'name="SEX".*?StartPos="(\d+)"', (tmp_path / "US.xml").read_text())[1])
    with gzip.open(tmp_path / "US.dat.gz", "wt") as file:
        file.writelines(row if k < 60 else f"{row[: sex - 1]}7{row[sex:]}" for k, row in enumerate(rows))
    monkeypatch.setattr(ipums, "CHUNK", 50)
    with pytest.raises(DataError, match=r"SAMPLE 1: 1.*SAMPLE 2: 2.*one sample"):
        ipums.heads(tmp_path, "US", ["female"])


def test_samples_that_only_the_codebook_lists_are_refused(tmp_path):
    """Without SAMPLE no record tells to which of them it belongs."""
    extract(tmp_path, "US", 100)
    edit(tmp_path / "US.xml", "<notes>", "<notes>generated: United States 2000 5%</notes><notes>")
    message = r"US\.xml is of the samples United States 2000, United States 2000 5%, and has no SAMPLE .*: give"
    with pytest.raises(DataError, match=message):
        ipums.heads(tmp_path, "US", ["age"])
    with_field(tmp_path, "SAMPLE", [4])
    assert len(ipums.heads(tmp_path, "US", ["age"])[0])  # all records are of one of the two


# --- several codes with one label


def test_codes_with_one_label_have_one_meaning(tmp_path):
    frame = extract(tmp_path, "US", 400, random_state=8)
    book = tmp_path / "US.xml"
    edit(book, "<labl>Child</labl>", "<labl>Head</labl>")  # a second code for the head
    edit(book, "<labl>Separated/divorced/spouse absent</labl>", "<labl> Widowed </labl>")
    edit(book, category(998, "Unknown"), category(40, "Unknown") + category(998, "Unknown"))  # 40 is no number of hours
    found, _ = ipums.heads(tmp_path, "US", ["is_single", "is_married", "hours_per_week"])
    said = frame.assign(head=1)[frame["hours_per_week"] != 40]
    wanted = meant(said, "US", ["is_single", "is_married", "hours_per_week"])
    pd.testing.assert_frame_equal(found, wanted.reset_index(drop=True))
    assert (frame["hours_per_week"] == 40).any()


def test_a_code_with_decimals_has_no_label_of_another():
    with pytest.raises(DataError, match=r"SEX has code 1\.5, without a label"):
        ipums._decode(pd.Series([1.5], name="SEX"), {1: "Male"}, BOTH["female"]["SEX"], {})


# --- settings


def test_income_may_be_another_variable(tmp_path):
    extract(tmp_path, "US", 100)
    edit(tmp_path / "US.xml", 'ID="INCTOT" name="INCTOT"', 'ID="INCEARN" name="INCEARN"')
    (tmp_path / "US.yml").write_text("variables: {annual_income: INCEARN}")
    with pytest.raises(DataError, match=r"INCEARN has code \d+, without a label, .* under codes"):
        ipums.heads(tmp_path, "US", ["annual_income"])


def test_empty_settings_say_nothing(tmp_path):
    extract(tmp_path, "US", 100)
    (tmp_path / "US.yml").write_text("# nothing yet\n")
    assert len(ipums.heads(tmp_path, "US", ["age"])[0])


@pytest.mark.parametrize(
    "said",
    [
        "income: 12",
        "income_factor: -1",
        "variables: {race: [1]}",
        "codes: [1]",
        "codes: {SEX: 1}",
        "codes: {SEX: {1: x}}",
        "a: [",
        "- 1",
    ],
)
def test_unusable_settings_are_refused(said, tmp_path):
    extract(tmp_path, "US", 100)
    (tmp_path / "US.yml").write_text(said)
    with pytest.raises(DataError, match=r"US\.yml is unusable .*: give income_factor, variables, codes"):
        ipums.heads(tmp_path, "US", ["female"])


def test_missing_files_and_package_are_named(tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"US\.xml is missing from"):
        ipums.heads(tmp_path, "US", ["age"])
    monkeypatch.setitem(sys.modules, "ipumspy.readers", None)
    with pytest.raises(DataError, match="pip install ipumspy"):
        ipums.heads(tmp_path, "US", ["age"])


# --- the setting


@pytest.fixture(scope="module")
def extracts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("extracts")
    return folder, {country: extract(folder, country, random_state=7) for country in COUNTRIES}


@pytest.fixture
def own(extracts, tmp_path, monkeypatch):
    written, frames = extracts
    monkeypatch.setenv("CENSUS_EXTRACTS", str(shutil.copytree(written, tmp_path / "extracts")))
    return frames


@pytest.mark.parametrize("country", COUNTRIES)
@pytest.mark.parametrize("attributes", [5, 6, 8, 11, 14])
def test_one_setting_gives_the_users_people(country, attributes, own, monkeypatch):
    data = census.census(country, 2_000, attributes=attributes, cap=60_000, random_state=1)
    assert data.source.startswith("user's IPUMS extract (ipumsi: ")
    monkeypatch.delenv("CENSUS_EXTRACTS")
    drawn = census.census(country, 2_000, attributes=attributes, cap=60_000)
    assert drawn.source == "generated"
    assert (data.names, data.bounds, data.X.shape) == (drawn.names, drawn.bounds, drawn.X.shape)
    low, high = np.array([data.bounds[name] for name in data.names]).T
    assert (low <= data.X).all()
    assert (high >= data.X).all()
    assert data.y.min() >= 0
    assert data.y.max() <= 60_000
    columns = [*data.names, "annual_income"]
    written = meant(own[country], country, columns)
    written["annual_income"] = written["annual_income"].clip(0, 60_000)
    rows = set(map(tuple, written.to_numpy()))
    assert set(map(tuple, np.column_stack([data.X, data.y]))) <= rows


def test_nine_attributes_of_the_us(own):
    data = census.census("US", 1_000, attributes=9, one_hot=True)
    assert data.X.shape == (1_000, 21)
    assert "user's" in data.source


@pytest.mark.thorough
def test_nobody_is_drawn_twice_and_the_seed_is_all(own):
    complete = len(meant(own["US"], "US", [*census.FOURTEEN, "annual_income"]))
    everybody = census.census("US", complete, cap=720_000, random_state=3)
    again = census.census("US", complete, cap=720_000, random_state=4)
    assert (everybody.y != again.y).any()  # another order of the same people
    assert sorted(everybody.y) == sorted(again.y)
    some = [census.census("US", 500, random_state=seed) for seed in (8, 8, 9)]
    np.testing.assert_array_equal(some[0].X, some[1].X)
    assert (some[0].y != some[2].y).any()
    with pytest.raises(DataError, match=f"n is {complete + 1}, but the source is .*{complete} of .*: make a larger"):
        census.census("US", complete + 1)


@pytest.mark.thorough
def test_the_same_people_in_every_subset_of_attributes(own):
    wide = census.census("US", 700, random_state=2)
    for attributes in (5, 8, 11):
        narrow = census.census("US", 700, attributes=attributes, random_state=2)
        np.testing.assert_array_equal(narrow.y, wide.y)
        np.testing.assert_array_equal(narrow.X, wide.X[:, [wide.names.index(name) for name in narrow.names]])


def test_people_outside_the_bounds_are_clipped(tmp_path, monkeypatch):
    extract(tmp_path, "US", 300)
    (tmp_path / "US.yml").write_text("codes: {FAMSIZE: {1: 40, 2: 0}, AGE: {30: 110, 31: 3}}")
    monkeypatch.setenv("CENSUS_EXTRACTS", str(tmp_path))
    data = census.census("US", 200)
    assert data.X[:, data.names.index("family_size")].max() == 16
    assert data.X[:, data.names.index("family_size")].min() == 1
    assert data.X[:, 0].max() <= 90
    assert data.X[:, 0].min() >= 18


def test_nothing_is_written(own, tmp_path):
    def look():
        return {file: (file.stat().st_mtime_ns, file.stat().st_size) for file in Path(tmp_path).rglob("*")}

    before = look()
    census.census("US", 100)
    census.census("BR", 100)
    assert look() == before


def test_the_folder_may_be_relative_to_the_repository(tmp_path, monkeypatch):
    extract(tmp_path / ".", "US", 300)
    root = census.datasets.DATA.parent
    monkeypatch.setenv("CENSUS_EXTRACTS", str(Path(*[".."] * (len(root.parts) - 1), *tmp_path.parts[1:])))
    monkeypatch.chdir(tmp_path)
    assert census.census("US", 100).n == 100
