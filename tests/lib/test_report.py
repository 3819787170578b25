"""Numbers as text: no digit lost, none invented."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpreg.audit.findings import Finding, Report
from dpreg.checks import InputError
from lib.pages import report
from lib.pages.report import audit, number, pivot, table, turned

PROPERTY = settings(deadline=None, derandomize=True, max_examples=500)

finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.thorough
@PROPERTY
@given(finite, st.integers(1, 15))
@example(999999.5, 6)
@example(999999.4999, 6)
@example(9.99996e-5, 4)
@example(1000.0, 4)
@example(0.001, 1)
@example(5e-324, 3)
@example(1.7976931348623157e308, 3)
@example(-4e-5, 1)
@example(95.0, 1)
def test_text_is_the_number_rounded(x, digits):
    text = number(x, digits)
    rounded = float(f"{x:.{digits}g}")
    assert float(text) == rounded
    assert not text.startswith("-0") or rounded != 0
    if rounded == 0 or 1e-4 <= abs(rounded) < 1e6:
        assert "e" not in text
        assert "." not in text or text[-1] not in "0."  # no zeros that mean nothing
    else:
        assert text.count("e") == 1
        assert len(text.split("e")[0].replace("-", "").replace(".", "")) == digits
    assert number(-x, digits) == (text if rounded == 0 else "-" + text if x > 0 else text[1:])


@pytest.mark.thorough
@PROPERTY
@given(finite)
def test_rounding_moves_at_most_half_a_unit_of_the_last_digit(x):
    text = number(x, 4)
    if x:
        error = abs(Decimal(x) - Decimal(text))
        assert error <= abs(Decimal(x)) * Decimal("0.0005")


@pytest.mark.thorough
@PROPERTY
@given(st.floats(1e-3, 1e5), st.floats(-1e-9, 1e-9))
def test_rounding_hides_the_last_bits_of_a_platform(x, relative):
    """Two platforms print the same unless the number sits on a rounding boundary."""
    other = x * (1 + relative)
    scaled = x / 10 ** (math.floor(math.log10(x)) - 3)
    if abs(scaled % 1 - 0.5) > 1e-4:
        assert number(x) == number(other)


def test_words():
    assert [number(x) for x in (True, False, np.True_, np.bool_(False))] == ["yes", "no", "yes", "no"]
    assert [number(x) for x in (math.inf, -math.inf, math.nan)] == ["inf", "-inf", "nan"]
    assert number("as it is") == "as it is"
    assert [number(x) for x in (0, -7, 10**20, np.int64(1234567))] == ["0", "-7", str(10**20), "1234567"]
    assert [number(x) for x in (0.0, -0.0, np.float64(-0.0))] == ["0"] * 3
    assert number(np.array(0.25)) == number(np.float32(0.25)) == number(Decimal("0.25")) == "0.25"
    assert number(123456.0) == "123500"
    assert number(1e6) == "1.000e+06"
    assert number(1e-4) == "0.0001"
    assert number(0.00009999) == "9.999e-05"


@pytest.mark.parametrize("value", [None, [1.0, 2.0], {}, 1j, np.ones(2)])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(InputError, match="give a number"):
        number(value)


def test_table_prints_every_cell():
    frame = pd.DataFrame({"name": ["a", "b"], "x": [1 / 3, -0.0], "n": [4, 5], "ok": [True, False]})
    text = table(frame)
    assert text.index.tolist() == ["a", "b"]
    assert text.to_dict("list") == {"x": ["0.3333", "0"], "n": ["4", "5"], "ok": ["yes", "no"]}
    assert table(frame, 2)["x"].tolist() == ["0.33", "0"]
    assert frame["x"].tolist() == [1 / 3, 0.0]  # the frame itself is left alone


def test_turned_has_a_row_for_each_column():
    frame = pd.DataFrame({"rate": [0.1, 1.0], "b": [1 / 3, 2.0], "a": [4.0, 5 / 3]})
    found = turned(frame, "US", 2)
    assert found.index.tolist() == ["b", "a"]
    assert found.columns.tolist() == [0.1, 1.0]
    assert found.to_numpy().tolist() == [["0.33", "2"], ["4", "1.7"]]
    assert (found.index.name, found.columns.name) == (None, "US")


def summary():
    return pd.DataFrame(
        {
            "method": ["b", "b", "a", "a", "none"],
            "epsilon": [2.0, 1.0, 1.0, 2.0, math.inf],
            "median": [0.2, 0.1, 0.3, 0.4, 0.05],
            "mean": [2.0, 1.0, 3.0, 4.0, 5.0],
        }
    )


def test_pivot_has_budgets_down_and_methods_across():
    found = pivot(summary())
    assert found.columns.tolist() == ["b", "a", "none"]  # in the order of the frame
    assert found.index.tolist() == ["1", "2"]
    assert found["b"].tolist() == ["0.1", "0.2"]
    assert found["a"].tolist() == ["0.3", "0.4"]
    assert found["none"].tolist() == ["0.05", "0.05"]  # the same at every budget
    assert pivot(summary(), "mean")["a"].tolist() == ["3", "4"]
    assert pivot(summary()[:4]).columns.tolist() == ["b", "a"]
    assert pivot(summary()[4:]).to_dict("list") == {"none": ["0.05"]}


def test_cases_name_each_task_once():
    frame = pd.DataFrame({"task": ["b", "a", "b", "b"], "epsilon": [0.1, 1.0, 1.0, 10.0], "more": 0})
    assert report.cases(frame) == "b at 0.1, 1 and 10, a at 1"
    assert report.cases(frame[:0]) == "none"


def test_pivot_refuses_to_choose_among_metrics():
    with pytest.raises(InputError, match="choose one metric"):
        pivot(pd.concat([summary(), summary()]))


def test_an_audit_tells_its_worst_finding():
    one = Finding("black box", "fit", "a pair", "the number is above -0.51234", 1.0, 1.014, 0.95, 40, 39, 0)
    less = Finding("black box", "fit", "another", "an event", 1.0, 0.4, 0.95, 40, 9, 3)
    said = audit(Report((less, one), 1, 0.0)).splitlines()
    assert said[0] == "REFUTED at epsilon 1"
    assert said[1:] == [
        "at least 1.01 is spent: a pair",
        "the event: the number is above -0.51",
        "seen in 39 and 0 of 40 releases",
    ]
    assert audit(Report((less,), 1, 0.0)).startswith("not refuted at epsilon 1")


def test_medians_leave_the_bands_out():
    panel = {"x": [0.1, 0.8], "FM": [0.5, 0.4], "FM low": [0.3, 0.2], "FM high": [0.7, 0.6], "DPME": [0.9, 0.8]}
    found = report.medians({"US": pd.DataFrame(panel), "Brazil": pd.DataFrame(panel)})
    assert found["panel"].tolist() == ["US", "US", "Brazil", "Brazil"]
    assert found["line"].tolist() == ["FM", "DPME"] * 2
    assert found[[0.1, 0.8]].to_numpy().tolist() == [[0.5, 0.4], [0.9, 0.8]] * 2
