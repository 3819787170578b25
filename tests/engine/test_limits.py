"""How large numbers and arrays may be."""

import numpy as np
import pandas as pd
import pytest

from dpreg import limits
from dpreg.checks import InputError


def test_what_is_within_the_limits_comes_back():
    assert limits.reals([[1, 2]], "x").tolist() == [[1.0, 2.0]]
    assert limits.reals([], "x").size == 0
    assert np.isfinite(limits.sized(limits.LARGE, "x") ** 2)
    assert limits.shape([2, np.int64(3)], "x") == (2, 3)
    assert limits.shape((limits.HELD,), "x") == (limits.HELD,)
    assert (limits.jobs(-1, "x"), limits.jobs(2, "x")) == (-1, 2)
    limits.fits(np.ones(()), (2, 3), "x")
    limits.fits(np.ones((1, 3)), (2, 3), "x")
    limits.has(pd.DataFrame({"a": [1]}), ["a"], "x")


@pytest.mark.parametrize(
    "call",
    [
        lambda: limits.reals([1.0, np.nan], "x"),
        lambda: limits.reals([1.01 * limits.LARGE], "x"),
        lambda: limits.sized(-1.01 * limits.LARGE, "x"),
        lambda: limits.shape((limits.HELD, 2), "x"),
        lambda: limits.shape((True,), "x"),
        lambda: limits.shape((-1,), "x"),
        lambda: limits.jobs(0, "x"),
        lambda: limits.jobs(limits.WORKERS + 1, "x"),
        lambda: limits.fits(np.ones((4, 3)), (3,), "x"),  # it would make a larger stack
        lambda: limits.fits(np.ones(2), (3,), "x"),
        lambda: limits.has(pd.DataFrame([[1, 2]], columns=["a", "a"]), ["a"], "x"),
        lambda: limits.has(pd.DataFrame(), ["a"], "x"),
    ],
)
def test_what_is_beyond_is_refused(call):
    with pytest.raises(InputError, match=r"^x .*: give"):
        call()
