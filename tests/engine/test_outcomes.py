"""Whatever a release gives away becomes a number or a word."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import LinearRegression

from dpreg.audit.outcomes import Outcome, keys, numbers_of, observe, of_array, table
from dpreg.checks import InputError

X, Y = np.arange(6.0).reshape(3, 2), np.array([0.0, 1.0, 3.0])


def seen(make, **options):
    return observe(make, X, Y, 7, **options)


@pytest.mark.parametrize(
    ("released", "names", "numbers"),
    [
        (1.5, ["the number"], [1.5]),
        (True, ["the number"], [1.0]),
        (np.array([[1, 2], [3, 4]]), ["[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]"], [1, 2, 3, 4]),
        ([1.0, 2.0], ["[0]", "[1]"], [1, 2]),
        ((np.array([1.0, 2.0]), 3.0), ["[0][0]", "[0][1]", "[1]"], [1, 2, 3]),
        ({"a": 1, "b": {"c": [2, 3]}}, ["a", "b[c][0]", "b[c][1]"], [1, 2, 3]),
        (scipy.sparse.csr_array([[0.0, 2.0]]), ["[0, 0]", "[0, 1]"], [0, 2]),
        (1 + 2j, [".real", ".imag"], [1, 2]),
        ([[1.0, 2.0], [3]], ["[0][0]", "[0][1]", "[1][0]"], [1, 2, 3]),
        (np.array([np.ones(2), 3.0], dtype=object), ["[0][0]", "[0][1]", "[1]"], [1, 1, 3]),
        (2**53 + 1, ["the number", "the rest"], [2.0**53, 1]),
        ([2**90 + 3, 1], ["[0]", "[1]", "the rest[0]", "the rest[1]"], [2.0**90, 1, 3, 0]),
        (np.uint64(2**64 - 1), ["the number", "the rest"], [2.0**64, -1]),
        (np.datetime64(5, "ns"), ["the number"], [5]),
        ({3, 2}, ["[0]", "[1]"], [2, 3]),
    ],
)
def test_numbers(released, names, numbers):
    found, values, _ = numbers_of(released)
    assert [name.strip() for name in found] == names
    assert values.tolist() == numbers


def test_a_model_shows_all_its_public_results():
    names, numbers, form = numbers_of(LinearRegression().fit(X[:, :1], Y))
    assert {"coef_[0]", "intercept_", "rank_", "n_features_in_"} <= set(names)
    assert numbers[names.index("coef_[0]")] == pytest.approx(0.75)
    assert "LinearRegression" in form
    kept = SimpleNamespace(groups_=[[1.0], [2.0, 3.0]], inner_=SimpleNamespace(sum_=4, _not_=9), found_={"a": 5})
    names, numbers, _ = numbers_of(kept)
    assert names == ("groups_[0][0]", "groups_[1][0]", "groups_[1][1]", "inner_[sum_]", "found_[a]")
    assert numbers.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    odd = SimpleNamespace(coef_=np.ones(2), secret=5.0, _hidden_=6.0, classes_=np.array(["a", "b"]), ledger_=object())
    names, numbers, form = numbers_of(odd)
    assert numbers.tolist() == [1.0, 1.0]
    assert "['a', 'b']" in form


def test_types_and_shapes_are_words():
    forms = [seen(lambda *_, r=r: r).words[2] for r in (1, 1.0, np.float32(1), [1.0], np.ones((1, 1)), None, "a", "b")]
    assert len(set(forms)) == len(forms)


def test_errors_and_warnings_are_words():
    def refuse(X, y, seed):
        raise KeyError(f"record {y[0]}")

    def warn(X, y, seed):
        warnings.warn("2 rows clipped", RuntimeWarning, stacklevel=1)
        return 1.0

    assert seen(refuse).words == ("KeyError", "'record 0.0'", "")
    assert seen(warn).words[:2] == ("released, RuntimeWarning", "; 2 rows clipped")
    with pytest.raises(KeyboardInterrupt):
        seen(lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))


def test_a_call_gets_copies_and_its_seed_and_what_is_read_is_chosen():
    def spoil(X, y, seed):
        X[:] = y[:] = 9.0
        return {"seed": seed}

    assert seen(spoil).numbers.tolist() == [7.0]
    assert (X.max(), Y.max()) == (5.0, 3.0)
    assert seen(spoil, read=lambda released: released["seed"] + 1).numbers.tolist() == [8.0]


def test_tables_have_one_column_per_name_and_gaps():
    rows = [
        Outcome(("a", "b"), np.array([1.0, 2.0]), ("x", "", "")),
        Outcome((), np.zeros(0), ("y", "", "")),
        Outcome(("b", "c"), np.array([3.0, 4.0]), ("x", "", "")),
    ]
    found = table(rows)
    assert found.names == ("a", "b", "c")
    np.testing.assert_array_equal(found.numbers, [[1, 2, np.nan], [np.nan] * 3, [np.nan, 3, 4]])
    assert found.words[:, 0].tolist() == ["x", "y", "x"]
    np.testing.assert_array_equal(table(rows, ("b",)).numbers, [[2], [np.nan], [3]])
    assert len(found[:2]) == 2
    assert of_array(np.ones((4, 2, 3))).numbers.shape == (4, 6)


def test_keys_are_equal_where_values_are():
    assert len(set(keys(np.array([0.0, -0.0, np.nan, 1.0])).tolist())) == 4  # the sign of zero shows too
    words = keys(np.array(["a", "b", "a"], dtype=object))
    assert words[0] == words[2] != words[1]
    rows = keys(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]))
    assert rows[0] == rows[2] != rows[1]


def test_leaving_the_program_is_an_outcome():
    """Else one record could end the audit, and its exit code would say that nothing was refuted."""

    def leave(X, y, seed):
        raise SystemExit(0)

    assert "SystemExit" in observe(leave, np.zeros((1, 1)), np.zeros(1), 1).words[0]


def test_what_cannot_be_read_says_so():
    loop = SimpleNamespace()
    loop.itself_ = loop
    for released, said in ((loop, "lies too deep"), (10**400, "has over 300 digits")):
        with pytest.raises(InputError, match=f"{said}.*: give read="):
            numbers_of(released)
    with pytest.raises(InputError, match="integers beyond 2"):
        of_array([2**60, 1])


@pytest.mark.parametrize("returned", [1j * np.ones(3), None, 1.0, ["a", "b"], np.ones((3, 0))])
def test_what_is_no_table_of_numbers_is_refused(returned):
    with pytest.raises(InputError, match="what make returned"):
        of_array(returned)
