"""What scikit-learn's users pass: refused with its reason, or made what the library takes."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from dpreg.checks import InputError
from dpreg.estimators import records
from dpreg.pipeline.domain import Box
from dpreg.pipeline.objective import TAYLOR
from dpreg.pipeline.solve import Penalty

BOX = Box([0.0], [1.0], response=(2, 5))


@pytest.mark.parametrize("y", [[2, 5, 2], np.array([2.0, 5.0, 2.0]), pd.Series([2, 5, 2], dtype="Int64")])
def test_labels_without_classes_are_the_ends_of_the_response(y):
    target, two = records.labels(y, None, BOX)
    assert target.tolist() == [2.0, 5.0, 2.0]
    assert two.tolist() == [2, 5]


def test_labels_stand_for_the_ends_in_sorted_order():
    target, two = records.labels(np.array(["b", "a"], dtype=object), ["b", "a"], BOX)
    assert target.tolist() == [5.0, 2.0]
    assert two.tolist() == ["a", "b"]


def test_a_type_that_cannot_hold_the_ends_is_not_taken():
    """True is one, and neither two nor five."""
    _, two = records.labels(np.array([2, 5], dtype=np.int8), None, BOX)
    assert two.dtype == np.int8
    with pytest.raises(InputError, match="y holds True: give one of the two labels"):
        records.labels(np.array([True, True]), None, BOX)


@pytest.mark.parametrize(
    ("y", "classes", "message"),
    [
        ([2, 5, 7], None, "y holds 7: .* Only binary classification is supported"),
        (["a", "b", "c"], ("a", "b"), "y holds 'c': .* share epsilon"),
        ([0.5, 0.25, 0.1], None, "y holds 0.5: .* Unknown label type: continuous"),
        (["no", "yes"], None, "y holds 'no': .* Name your labels: give classes="),
        ([1, 2], ("no", "yes"), "y holds 1: .* Name your labels"),
        (np.array(["a", None], dtype=object), ("a", "b"), "y has a missing value .first at row 1"),
        (pd.Series(["a", pd.NA], dtype="string"), ("a", "b"), "y has a missing value .first at row 1"),
        ([2, np.nan], None, "y holds nan"),
        ([1j, 2], None, "Complex data not supported"),
        ([2, 5], (2, 2), "classes is .2, 2.. Only binary"),
        ([2, 5], (1, 2, 3), "give the two labels"),
        ([2, 5], "ab", "give the two labels"),
        ([2, 5], (0.0, np.inf), "give the two labels"),
        ([2, 5], ([1], [2]), "give the two labels"),
    ],
)
def test_other_labels_are_refused(y, classes, message):
    with pytest.raises(InputError, match=message):
        records.labels(y, classes, BOX)


def test_a_column_is_a_response_with_scikit_learns_warning():
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        assert records.response(np.ones((3, 1))).shape == (3,)
    with pytest.raises(InputError, match=r"y has shape \(3, 2\): give one response, and fit a model with its own"):
        records.response(np.ones((3, 2)))


def test_rows_to_predict_for():
    thin = sparse.coo_array(np.eye(2))
    assert sparse.issparse(records.table(thin))
    with pytest.raises(InputError, match="X holds nan"):
        records.table(sparse.csr_array(np.diag([1.0, np.nan])))
    with pytest.raises(InputError, match="Reshape your data"):
        records.table([1.0])


def test_unknown_arguments():
    records.refuse({"sample_weight": None})
    with pytest.raises(TypeError, match="unexpected keyword argument 'a'"):
        records.refuse({"b": 1, "a": 2})


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("penalty", (Penalty(1.0), None, "numpy")),
        ("loss", (None, TAYLOR, "numpy")),
        ("sampler", (None, None, "opendp")),
    ],
)
def test_what_is_for_a_quadratic_is_refused_where_none_is_released(name, given):
    with pytest.raises(InputError, match=f"{name} is given"):
        records.no_quadratic(*given)
    records.no_quadratic(Penalty(0.0), None, "numpy")


def test_bounds_are_a_box_with_an_intercept():
    assert records.public_set((0, [1.0, 2.0], (0.0, 1.0)), 2) == Box([0, 0], [1, 2], (0, 1), intercept=True)
    box = Box([0.0], [1.0], (0, 1))
    assert records.public_set(box) is box
    with pytest.raises(InputError, match="domain is of type tuple"):
        records.public_set((0.0, 1.0))


def test_a_generator_is_refused():
    records.no_generator(3)
    with pytest.raises(InputError, match="random_state is a Generator"):
        records.no_generator(np.random.default_rng(1))


def test_rows_whose_products_no_float_holds_are_refused():
    for rows in ([[1e308, -1e308]], sparse.csr_array([[1e308, -1e308]])):
        with pytest.raises(InputError, match="X holds 1e"):
            records.table(rows)
