"""Annotations kept at the entry: what is converted, what is refused, and what is left alone."""

import decimal
import fractions
import math
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike

from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline.laws import functional


@checked
def echo(
    number: float = math.inf,
    count: int = 0,
    yes: bool = False,
    *many: int,
    word: Literal["a", "b"] | float = "a",
    names: Sequence[str] = (),
    pair: tuple[float, ...] = (),
    made: Mapping[str, int] | None = None,
    array: FloatArray | None = None,
    table: ArrayLike | None = None,
    call: Callable[[], int] | None = None,
    anything: Any = None,
    mixed: float | bool = 0.0,
    p: int = 1,
    shape: tuple[int, ...] = (),
    jobs: int = 1,
) -> dict[str, Any]:
    """Return the arguments."""
    return locals()


@checked
@dataclass(frozen=True)
class Point:
    """A point."""

    x: float
    y: float = math.inf


@checked
@cache
def doubled(number: float) -> float:
    """Return twice a number."""
    return 2 * number


GOOD = [
    ("number", np.float64(0.5), 0.5, float),
    ("number", decimal.Decimal("0.5"), 0.5, float),
    ("number", fractions.Fraction(1, 2), 0.5, float),
    ("number", np.array(0.5), 0.5, float),
    ("number", 2, 2, int),
    ("number", math.inf, math.inf, float),
    ("count", np.int8(3), 3, int),
    ("yes", np.True_, True, bool),
    ("yes", 1, True, bool),
    ("word", "b", "b", str),
    ("word", 1.5, 1.5, float),
    ("names", ("u", "v"), ["u", "v"], list),
    ("names", np.array(["u"]), ["u"], list),
    ("pair", np.array([1.0, 2.0]), (1.0, 2.0), tuple),
    ("made", {"a": np.int64(1)}, {"a": 1}, dict),
    ("made", None, None, type(None)),
    ("anything", "no", "no", str),
    ("mixed", True, True, bool),
    ("mixed", np.float64(1.0), 1.0, float),
    ("shape", [2, 3], (2, 3), tuple),
    ("jobs", -1, -1, int),
]
BAD = [
    ("number", "1", "number is '1': give one finite number"),
    ("number", math.nan, "number is nan: give"),
    ("number", 10**400, r"number is 10+\.\.\.: give"),
    ("number", np.array([1.0]), "number is of type ndarray: give"),
    ("number", np.timedelta64(1, "s"), "number is .*: give"),
    ("number", 1j, r"number is 1j: give"),
    ("count", True, "count is True: give a whole number"),
    ("count", 1.0, "count is 1.0: give a whole number"),
    ("count", np.timedelta64(1, "s"), "count is .*: give a whole number"),
    ("count", 2**63, "count is 9223372036854775808: give"),
    ("yes", "no", "yes is 'no': give True or False"),
    ("yes", 2, "yes is 2: give True or False"),
    ("word", "c", "word is 'c': choose one of 'a', 'b'"),
    ("word", None, "word is None: choose one of 'a', 'b'"),
    ("names", "uv", "names is of type str: give list or tuple"),
    ("names", {"u"}, "names is of type set: give list or tuple"),
    ("names", ["u", 1], "an entry of names is of type int: give str"),
    ("pair", [1.0, "2"], "an entry of pair is '2': give one finite number"),
    ("made", [1], "made is of type list: give a dict"),
    ("made", {"a": 0.5}, "an entry of made is 0.5: give a whole number"),
    ("array", "a", "array has entries of type <U1: encode"),
    ("call", 3, "call is of type int: give a function"),
    ("p", 0, "p is 0: give a whole number of at least 1"),
    ("p", 10**8, "p is 100000000: give at most 10000"),
    ("shape", (-1,), r"shape is \(-1,\): give a tuple"),
    ("shape", (10**5, 10**5), r"shape is \(100000, 100000\): give at most"),
    ("jobs", 0, "jobs is 0: give a number from 1 to"),
]


@pytest.mark.parametrize(("name", "value", "expected", "kind"), GOOD)
def test_values_are_taken_as_the_annotation_says(name, value, expected, kind):
    found = echo(**{name: value})[name]
    assert found == expected
    assert type(found) is kind


@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_values_of_another_kind_are_refused_by_name(name, value, message):
    with pytest.raises(InputError, match=message):
        echo(**{name: value})


def test_positions_are_checked_too():
    assert echo(1.0, np.int8(2), 1, np.int8(3), 4)["many"] == (3, 4)
    with pytest.raises(InputError, match=r"many is 0\.5: give"):
        echo(1.0, 2, True, 3, 0.5)
    with pytest.raises(InputError, match="count is 'a': give"):
        echo(1.0, "a")


def test_arrays_are_not_copied_and_frames_keep_their_names():
    array, frame = np.ones(3), pd.DataFrame({"a": [1.0]})
    assert echo(array=array)["array"] is array
    assert echo(table=frame)["table"] is frame
    assert type(echo(array=frame)["array"]) is np.ndarray
    assert type(echo(array=np.asmatrix(np.eye(2)))["array"]) is np.ndarray


def test_a_wrong_number_or_name_of_arguments_is_a_type_error():
    for call in (lambda: echo(other=1), lambda: Point(), lambda: doubled(1.0, 2.0), lambda: doubled(1.0, number=1.0)):
        with pytest.raises(TypeError):
            call()


def test_classes_are_checked_when_they_are_made():
    assert type(Point(np.float32(0.5)).x) is float
    with pytest.raises(InputError, match="x is 'a': give"):
        Point("a")
    with pytest.raises(InputError, match="y is 'a': give"):
        replace(Point(1.0), y="a")


def test_what_is_checked_is_still_itself():
    assert echo.__name__ == "echo"
    assert doubled.cache_info().hits == 0
    assert doubled(2.0) == doubled(np.float64(2.0)) == 4.0
    assert doubled.cache_info().hits == 1
    assert pickle.loads(pickle.dumps(functional)) is functional
