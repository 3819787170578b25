"""Files of bounds and records: read as written, and refused without showing a record."""

import json

import pytest
import yaml

from dpreg.checks import InputError
from dpreg.estimators import files

ENDS = {"age": [18, 90], "hours": [0.5, 80]}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("b.json", json.dumps(ENDS)),
        ("b.yml", yaml.safe_dump(ENDS)),
        ("b.toml", "age = [18, 90]\nhours = [0.5, 80]"),
    ],
)
def test_bounds_are_read_from_three_kinds(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert files.read(tmp_path / name) == {"age": (18.0, 90.0), "hours": (0.5, 80.0)}


@pytest.mark.parametrize("text", ["[1, 2]", "age: 3", "age: [1, 2, 3]", "age: [1, many]", "", "age: [1, .inf]"])
def test_what_is_no_pair_for_each_column_is_refused(tmp_path, text):
    (tmp_path / "b.yml").write_text(text)
    with pytest.raises(InputError, match=r"one pair for each column|age"):
        files.read(tmp_path / "b.yml")


def test_records_keep_the_order_of_the_bounds_and_labels_their_text(tmp_path):
    (tmp_path / "p.csv").write_text("rich,age,hours\n01,30,2\n1,40,3\n")
    X, y = files.records(tmp_path / "p.csv", ["hours", "age"], "rich", text=True)
    assert X.to_numpy().tolist() == [[2, 30], [3, 40]]
    assert y.tolist() == ["01", "1"]
    assert files.records(tmp_path / "p.csv", ["age"], "rich")[1].tolist() == [1, 1]


def test_a_file_that_is_no_table_is_refused_without_its_words(tmp_path):
    (tmp_path / "p.csv").write_bytes(b"age,income\n30,\xfe\n")
    with pytest.raises(InputError, match="cannot be read") as caught:
        files.records(tmp_path / "p.csv", ["age"], "income")
    assert "0xfe" not in str(caught.value)


def test_the_box_has_names_and_an_intercept():
    box = files.box({"hours": (0.0, 80.0), "age": (18.0, 90.0)}, (0.0, 1.0))
    assert (box.names, box.intercept, box.upper) == (("hours", "age"), True, (80.0, 90.0))
