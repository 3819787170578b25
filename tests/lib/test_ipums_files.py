"""The files of an extract: how they are read, and that broken ones are refused."""

import contextlib
import gzip
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpreg.checks import DataError
from lib.data import ipums, ipums_files
from lib.data.ipums_labels import BOTH
from tests.lib.extracts import ALL, category, edit, extract

pytest.importorskip("ipumspy", reason="ipumspy is an optional extra: pip install -e '.[ipums]'")


def test_csv_is_read_like_fixed_width(tmp_path):
    extract(tmp_path, "US", 500, random_state=3)
    wanted, _ = ipums.heads(tmp_path, "US", ALL)
    book = (tmp_path / "US.xml").read_text()
    fields = re.findall(r'<location StartPos="(\d+)" EndPos="(\d+)" width="\d+" /><labl>(\w+)</labl>', book)
    with gzip.open(tmp_path / "US.dat.gz", "rt") as file:
        rows = [[line[int(start) - 1 : int(end)] for start, end, _ in fields] for line in file]
    (tmp_path / "US.dat.gz").unlink()
    pd.DataFrame(rows, columns=[name for _, _, name in fields]).to_csv(tmp_path / "US.csv", index=False)
    pd.testing.assert_frame_equal(ipums.heads(tmp_path, "US", ALL)[0], wanted)


def test_data_may_have_the_name_the_codebook_gives(tmp_path):
    extract(tmp_path, "US", 200)
    (tmp_path / "US.dat.gz").rename(tmp_path / "ipumsi_00007.dat.gz")
    with pytest.raises(DataError, match=r"the data of US\.xml are missing .* give one of US\.dat\.gz"):
        ipums.heads(tmp_path, "US", ["age"])
    edit(tmp_path / "US.xml", "<fileName>US.dat</fileName>", "<fileName>ipumsi_00007.dat</fileName>")
    assert len(ipums.heads(tmp_path, "US", ["age"])[0]) > 100


@pytest.mark.thorough
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    given=st.dictionaries(st.integers(0, 9), st.sampled_from(["Male", "Female", "Unknown"]), min_size=1),
    data=st.data(),
)
def test_every_code_with_one_label_is_known(given, data, tmp_path):
    """Whatever the order of the codes, and however many share a label."""
    order = data.draw(st.permutations(sorted(given)))
    file = tmp_path / "US.xml"
    extract(tmp_path, "US", 2)
    old = category(1, "Male") + category(2, "Female") + category(9, "Unknown")
    edit(file, old, "".join(category(code, given[code]) for code in order))
    _, _, labels = ipums_files.codebook(file)
    assert ipums_files.meanings(labels, "SEX", file.name) == given
    worth = {"Male": 0.0, "Female": 1.0, "Unknown": np.nan}
    codes = pd.Series(order, name="SEX")
    found = ipums._decode(codes, given, BOTH["female"]["SEX"], {})
    np.testing.assert_array_equal(found, [worth[given[code]] for code in order])


def test_a_code_with_two_labels_is_refused(tmp_path):
    extract(tmp_path, "US", 100)
    edit(tmp_path / "US.xml", category(2, "Female"), category(2, "Female") + category(2, "Male"))
    with pytest.raises(DataError, match=r"SEX of US\.xml labels code 2 both 'Female' and 'Male': give"):
        ipums.heads(tmp_path, "US", ["female"])
    assert len(ipums.heads(tmp_path, "US", ["age"])[0])


def packed(text):
    return gzip.compress(text if isinstance(text, bytes) else text.encode())


def with_data(name, content):
    """Put other records in place of those written; `content` makes them of the lines there."""

    def damage(folder):
        old = folder / "US.dat.gz"
        raw = old.read_bytes()
        old.unlink()
        (folder / name).write_bytes(content(raw))

    return damage


def lines(change):
    """Change the list of lines."""
    return lambda raw: packed(b"\n".join(change(gzip.decompress(raw).split(b"\n"))))


def table(change=lambda rows: rows):
    """Write the records as CSV, and change the rows."""

    def content(raw):
        fields = re.findall(r'<location StartPos="(\d+)" EndPos="(\d+)" width="\d+" /><labl>(\w+)</labl>', BOOK[0])
        rows = [[name for _, _, name in fields]]
        for line in gzip.decompress(raw).decode().splitlines():
            rows.append([line[int(start) - 1 : int(end)] for start, end, _ in fields])
        return "\n".join(",".join(row) for row in change(rows)).encode()

    return content


BOOK = []  # of the extract that is broken
DAT = {
    "cut off": (lambda raw: raw[: len(raw) // 2], "is broken .*: restore"),
    "cut off in its first bytes": (lambda raw: raw[:5], "is broken .*: restore"),
    "a byte changed": (lambda raw: raw[:40] + bytes([raw[40] ^ 255]) + raw[41:], "is broken .*: restore"),
    "wrong checksum": (lambda raw: raw[:-8] + b"12345678", "is broken .*: restore"),
    "not packed": (gzip.decompress, "is broken .*: restore"),
    "no bytes": (lambda raw: b"", "holds no record: restore"),
    "no lines": (lambda raw: packed(""), "holds no record: restore"),
    "blank lines": (lambda raw: packed("\n\n"), "holds no record: restore"),
    "a short last line": (lines(lambda rows: [*rows[:-2], rows[-2][:-1]]), "^line 100 of US.dat.gz is not as long"),
    "a short line": (lines(lambda rows: [*rows[:6], rows[6][:20], *rows[7:]]), "^line 7 of US.dat.gz is not as long"),
    "letters": (lines(lambda rows: [rows[0].replace(b"2", b"x"), *rows[1:]]), "does not hold the numbers"),
    "a line of letters": (lines(lambda rows: [*rows[:-1], b"x" * len(rows[0])]), "does not hold the numbers"),
}
CSV = {
    "a column gone": (table(lambda rows: [row[:3] + row[4:] for row in rows]), "has no column AGE: add"),
    "no header": (table(lambda rows: rows[1:]), "has no column AGE: add"),
    "a short row": (table(lambda rows: [*rows[:4], rows[4][:-1], *rows[5:]]), r"^line 5 of US\.csv is not as long"),
    "a long row": (table(lambda rows: [*rows[:4], [*rows[4], "1"], *rows[5:]]), r"^line 5 of US\.csv is not as long"),
    "rows longer than the header": (table(lambda rows: [rows[0], *(["1", *row] for row in rows[1:])]), "^line 2 of"),
    "letters": (table(lambda rows: [rows[0], ["x"] * len(rows[0])]), "does not hold the numbers"),
    "no bytes": (lambda raw: b"", "has no column AGE: add"),
    "no rows": (table(lambda rows: rows[:1]), "holds no record: restore"),
    "another charset": (lambda raw: table()(raw).decode().encode("utf-16"), "has no column AGE: add"),
}
DATA = {f"dat: {name}": (with_data("US.dat.gz", how), message) for name, (how, message) in DAT.items()}
DATA |= {f"csv: {name}": (with_data("US.csv", how), message) for name, (how, message) in CSV.items()}
DATA["csv, not packed"] = (with_data("US.csv.gz", table()), r"US\.csv\.gz is broken .*: restore")


@pytest.mark.parametrize("case", DATA)
def test_broken_data_are_refused(case, tmp_path):
    extract(tmp_path, "US", 100)
    BOOK[:] = [(tmp_path / "US.xml").read_text()]
    damage, message = DATA[case]
    damage(tmp_path)
    with pytest.raises(DataError, match=message) as caught:
        ipums.heads(tmp_path, "US", ["age"])
    assert "US." in str(caught.value)
    assert "x2" not in str(caught.value)  # nothing of a record


BOOKS = {
    "empty": lambda raw: b"",
    "cut off": lambda raw: raw[: len(raw) // 2],
    "no XML": lambda raw: b"YEAR,AGE\n2000,40\n",
    "other XML": lambda raw: b"<html><body/></html>",
    "bad UTF-8": lambda raw: raw.replace(b"Widowed", b"Wid\xff\xfewed"),
    "unknown charset of the XML": lambda raw: raw.replace(b"UTF-8", b"UTF-81"),
    "packed": gzip.compress,
    "a column without a place": lambda raw: re.sub(rb"<location[^>]*>", b"", raw, count=1),
    "a place that is no number": lambda raw: raw.replace(b'StartPos="1"', b'StartPos="one"'),
    "a code that is no number": lambda raw: raw.replace(b"<catValu>1</catValu>", b"<catValu>one</catValu>"),
    "a code that is not there": lambda raw: raw.replace(b"<catValu>1</catValu>", b"<catValu />"),
    "no name": lambda raw: raw.replace(b' name="AGE"', b""),
    "no file": lambda raw: raw.replace(b"<fileTxt>", b"<text>").replace(b"</fileTxt>", b"</text>"),
    "record types without names": lambda raw: raw.replace(
        b'<fileStrc type="rectangular" />', b'<fileStrc type="rectangular"><recGrp /></fileStrc>'
    ),
}


@pytest.mark.parametrize("case", BOOKS)
def test_broken_codebooks_are_refused(case, tmp_path):
    extract(tmp_path, "US", 100)
    book = tmp_path / "US.xml"
    raw = book.read_bytes()
    book.write_bytes(BOOKS[case](raw))
    assert book.read_bytes() != raw
    with pytest.raises(DataError, match=r"US\.xml is no codebook of IPUMS .*: give the DDI of your extract"):
        ipums.heads(tmp_path, "US", ["age"])


def test_what_only_the_records_need_is_refused_with_them(tmp_path):
    extract(tmp_path, "US", 100)
    book = tmp_path / "US.xml"
    raw = book.read_bytes()
    for old, new, message in (
        (b"ISO-8859-1", b"ISO-8859-99", r"US\.dat\.gz is broken \(unknown encoding"),
        (b"ISO-8859-1", b"UTF-16", r"US\.dat\.gz is broken"),
        (b'ID="SEX" name="SEX"', b'ID="AGE" name="AGE"', r"US\.dat\.gz does not hold the numbers"),
        (b"<labl>Head</labl>", b"<labl />", "no RELATE with a label for the head"),
    ):
        book.write_bytes(raw.replace(old, new))
        with pytest.raises(DataError, match=message):
            ipums.heads(tmp_path, "US", ["age"])


def test_letters_of_another_alphabet_are_refused(tmp_path):
    extract(tmp_path, "US", 100)
    edit(tmp_path / "US.xml", "ISO-8859-1", "UTF-8")
    rows = gzip.decompress((tmp_path / "US.dat.gz").read_bytes())
    (tmp_path / "US.dat.gz").write_bytes(packed(rows[:50] + b"\xff" + rows[51:]))
    with pytest.raises(DataError, match=r"US\.dat\.gz is broken .*utf-8.*: restore"):
        ipums.heads(tmp_path, "US", ["age"])


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    extract(folder, "US", 60, random_state=3)
    return {name: (folder / name).read_bytes() for name in ("US.xml", "US.dat.gz")}


@pytest.mark.thorough
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), name=st.sampled_from(["US.xml", "US.dat.gz", "US.dat"]), length=st.integers(0, 8))
def test_whatever_is_damaged_the_error_is_typed(data, name, length, sound, tmp_path):
    """Bytes replaced or taken out anywhere: it is read, or a DataError says why not."""
    files = dict(sound)
    if name == "US.dat":
        files[name] = gzip.decompress(files.pop("US.dat.gz"))
    raw = files[name]
    start = data.draw(st.integers(0, len(raw) - 1))
    files[name] = raw[:start] + data.draw(st.binary(max_size=length)) + raw[start + length :]
    for old in tmp_path.iterdir():
        old.unlink()
    for file, content in files.items():
        (tmp_path / file).write_bytes(content)
    with contextlib.suppress(DataError):
        ipums.heads(tmp_path, "US", ["age", "is_married", "annual_income"])
