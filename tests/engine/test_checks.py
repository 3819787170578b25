"""The checks themselves: what passes, and what is said about what does not."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpreg import checks
from dpreg.checks import InputError


def test_numbers_of_every_kind_pass():
    for value in (1, 1.0, np.float32(1), np.int64(1), np.array(1.0), True):
        assert checks.positive(value, "x") == checks.finite(value, "x") == 1.0
        assert type(checks.positive(value, "x")) is float
    assert checks.finite(-2, "x") == -2
    for value in (3, np.int16(3), np.uint8(3)):
        assert checks.count(value, "n") == 3
        assert type(checks.count(value, "n")) is int
    assert checks.count(0, "n", 0) == 0
    assert checks.choice("a", ("a", "b"), "x") == "a"
    assert checks.neighbours("add_remove") == "add_remove"


@pytest.mark.parametrize("value", ["1", b"1", None, [1.0, 2.0], math.nan, math.inf, -math.inf, {}, 1j])
def test_what_is_no_finite_number_is_named(value):
    with pytest.raises(InputError, match=r"^x is .*: give one finite number"):
        checks.finite(value, "x")


@pytest.mark.parametrize("value", [0, 0.0, -0.0, -1e-300])
def test_positive_means_above_zero(value):
    with pytest.raises(InputError, match="above zero"):
        checks.positive(value, "x")


@pytest.mark.parametrize("value", [True, 1.0, "1", None, 0, -1, np.float64(2)])
def test_counts_are_whole(value):
    with pytest.raises(InputError, match=r"^n is .*: give a whole number of at least 1"):
        checks.count(value, "n")


def test_budgets_are_one_number_or_an_array():
    assert checks.epsilons(1).shape == ()
    assert checks.epsilons([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    for bad in (0, -1, math.inf, math.nan, "1", ["1"], None, [], [1, 0], [1, math.inf], "small", [[1], [1, 2]], 1j):
        with pytest.raises(InputError, match="epsilon"):
            checks.epsilons(bad)


@pytest.mark.parametrize("bad", ["c", None, 1, ["a"], np.array("a"), np.array(["a"])])
def test_choices_are_listed(bad):
    with pytest.raises(InputError, match="choose one of 'a', 'b'"):
        checks.choice(bad, ("a", "b"), "x")


def test_vectors():
    given = np.array([1.0, 2.0])
    found = checks.vector(given, "x")
    assert found.tolist() == [1, 2]
    found[0] = 9  # a copy
    assert given[0] == 1
    for bad, message in (
        (1.0, "shape"),
        ([[1.0]], "shape"),
        ([], "shape"),
        ([1, math.nan], "holds nan"),
        ([-math.inf], "holds -inf"),
        (["1"], "type"),
        (np.array(["1"], dtype=object), "type"),
        ([1j], "type"),
        ([[1], [1, 2]], "different lengths"),
    ):
        with pytest.raises(InputError, match=message):
            checks.vector(bad, "x")


def test_finiteness_is_seen_past_a_sum_that_overflows_or_cancels():
    checks.all_finite(np.full((3, 2), 1e308), "X")
    checks.all_finite(np.zeros((0, 2)), "X")
    for bad, value in (([[1.0, math.inf], [1.0, -math.inf]], "inf"), ([[1.0], [math.nan]], "nan")):
        with pytest.raises(InputError, match=f"X holds {value}.*row"):
            checks.all_finite(np.array(bad), "X")
    for first, said in ((0, "row 4"), (96, "row 100"), (None, "row 4 of its block")):
        with pytest.raises(InputError, match=rf"first at {said}\)"):
            checks.all_finite(np.array([0.0] * 4 + [math.nan]), "X", first)


NULLABLE = ["Int64", "Float64", "boolean", "int64[pyarrow]", "double[pyarrow]", "bool[pyarrow]", "object", "category"]


@pytest.mark.parametrize("kind", NULLABLE)
def test_missing_values_are_called_so_and_found(kind):
    """Whatever numpy makes of them: NaN, None, NA."""
    gap = pd.Series([1, 0, None, 1, None], dtype=kind, name="flag")
    whole = gap.drop([2, 4])
    frames = [gap.to_frame(), pd.DataFrame({"age": [1.5, 2.0, 3.0, 4.0, 5.0], "flag": gap})]
    for frame in frames:
        with pytest.raises(
            InputError, match=r"^X has a missing value \(first at row 2, column 'flag'\): drop or impute"
        ):
            checks.numeric(frame, "X")
        assert checks.numeric(frame.loc[whole.index], "X")[:, -1].tolist() == [1, 0, 1]
    for column in (gap, gap.array, pd.Index(gap), gap.to_numpy(dtype=object), gap.tolist()):
        if not (isinstance(column, list) and np.asarray(column).dtype.kind == "f"):  # where NaN is the mark
            with pytest.raises(InputError, match=r"^y has a missing value \(first at row 2\): drop or impute"):
                checks.numeric(column, "y")
    with pytest.raises(InputError, match=r"^y has a missing value \(first at row 102\)"):
        checks.numeric(gap, "y", 100)
    assert checks.numeric(whole, "y").tolist() == [1, 0, 1]


def test_missing_values_in_other_wrappings():
    masked = np.ma.masked_array(np.ones((3, 2)), mask=[[0, 0], [0, 1], [1, 0]])
    for value, place in (
        (masked, "row 1, column 1"),
        (masked[1], "row 1"),
        (np.array([[1, 2], [None, 3]], dtype=object), "row 1, column 0"),
        ([[1, 2], [3, math.nan], [None, 4]], "row 1, column 1"),
        ([Decimal(1), None], "row 1"),
        (np.full((2, 2, 2), None), "row 0"),
        (pd.DataFrame(pd.array([1, None], dtype="Int64"), columns=np.array([2019])), "row 1, column 2019"),
        (pd.DataFrame({("a", 1): pd.array([1, None], dtype="Int64")}), r"row 1, column \('a', 1\)"),
    ):
        with pytest.raises(InputError, match=rf"^x has a missing value \(first at {place}\): drop or impute"):
            checks.numeric(value, "x")
    assert checks.numeric(np.ma.masked_array([1.0, 2.0], mask=False), "x").tolist() == [1, 2]
    # NaN among floats is theirs who look at finiteness, and text comes first: it is not what is missing.
    assert np.isnan(checks.numeric(pd.Series([1.0, None]), "x")[1])
    with pytest.raises(InputError, match="type object: encode"):
        checks.numeric(pd.DataFrame({"a": ["x", None]}), "x")


@pytest.mark.thorough
@given(
    places=st.sets(st.tuples(st.integers(0, 8), st.integers(0, 2)), min_size=1),
    kind=st.sampled_from(NULLABLE),
    first=st.integers(0, 10**12),
)
def test_the_first_missing_value_is_named(places, kind, first):
    table = np.ones((9, 3), dtype=object)
    for place in places:
        table[place] = None
    frame = pd.DataFrame({name: pd.Series(column, dtype=kind) for name, column in zip("abc", table.T, strict=True)})
    row, column = min(places)
    with pytest.raises(InputError, match=rf"row {first + row}, column '{'abc'[column]}'\)"):
        checks.numeric(frame, "X", first)


def test_numeric_does_not_copy_what_is_numeric():
    X = np.ones((3, 2))
    assert checks.numeric(X, "X") is X
    assert checks.rows(X, np.ones(3))[0] is X


def test_errors_are_the_standard_ones_too():
    assert issubclass(InputError, ValueError)
    assert issubclass(checks.IndefiniteError, ArithmeticError)
    for kind in (checks.BudgetError, checks.SolverError, checks.DataError):
        assert issubclass(kind, RuntimeError)
    for kind in (checks.PrivacyLeakWarning, checks.BrokenGuaranteeWarning):
        assert issubclass(kind, UserWarning)


def test_the_ends_of_a_chance_count_where_they_are_allowed():
    assert checks.chance(0.5, "x") == 0.5
    assert checks.chance(0, "x", zero=True) == 0.0
    assert checks.chance(1, "x", one=True) == 1.0
