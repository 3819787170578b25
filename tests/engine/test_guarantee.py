"""The privacy statement says what was spent, on which bounds, and what is not covered."""

import math

import numpy as np
import pytest

from dpreg.pipeline import guarantee
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import functional
from dpreg.pipeline.ledger import Ledger, Spend
from dpreg.pipeline.objective import linear
from dpreg.pipeline.release import release

BOX = Box({"age": 18, "hours": 0}, {"age": 90, "hours": 80}, response=(0, 1e6))
X, Y = [[20.0, 3.0], [30.0, 70.0]], [5.0, 7.0]


def spend(**more):
    return Spend("a count", "Laplace", "replace", "L1", 1.0, 2.0, **{"epsilon": 0.5} | more)


def test_totals_and_neighbours():
    two = [spend(), spend(epsilon=0.25, delta=1e-6)]
    line, step = guarantee.statement(two)["guarantee"]
    assert line.startswith("epsilon = 0.75, delta = 1e-06 (approximate")
    assert "one replaced record" in step
    line, step = guarantee.statement([Spend("a", "b", "add_remove", "L1", 1.0, 2.0, 0.5)])["guarantee"]
    assert line.startswith("epsilon = 0.5, delta = 0 (pure")
    assert "added or removed" in step
    line, _ = guarantee.statement([spend(epsilon=math.inf, zcdp=0.125)])["guarantee"]
    assert line.startswith("rho = 0.125 (zero-concentrated")


def test_what_is_not_covered():
    plain = guarantee.statement([spend(noise="OpenDP")])["not covered"]
    assert plain == list(guarantee.ALWAYS)
    leaky = guarantee.statement([spend(noise="numpy, seed 12", caveat="bounds were read off the data")])["not covered"]
    assert "bounds were read off the data" in leaky
    assert any("seed" in line for line in leaky)
    assert guarantee.LAST_BITS in leaky
    assert not any("seed" in line for line in guarantee.statement([spend(noise="numpy, system")])["not covered"])


@pytest.mark.parametrize(
    ("domain", "lines"),
    [
        (BOX, ["age: 18 to 90", "hours: 0 to 80", "response: 0 to 1000000"]),
        (Box([0, 0], [1, 1], (-1, 1)), ["all 2 columns: 0 to 1", "response: -1 to 1"]),
        (Box([0, 1], [1, 2], (0, 1)), ["column 0: 0 to 1", "column 1: 1 to 2", "response: 0 to 1"]),
        (Ball([0.0, 5.0], 2.5, (0, 1)), ["column 0, column 1: at most 2.5 from (0, 5)", "response: 0 to 1"]),
    ],
    ids=str,
)
def test_bounds(domain, lines):
    assert guarantee.bounds(domain) == lines


def test_a_ledger_prints_its_statement():
    with Budget(2.0) as budget:
        for seed in (1, None):
            release(linear(X, Y, BOX), functional(BOX, 0.5), random_state=seed)
    words = str(budget.ledger)
    assert "epsilon = 1, delta = 0" in words
    assert words.count("quadratic objective, Laplace noise") == 2
    assert guarantee.page(guarantee.statement(budget.ledger.spends)) == budget.ledger._repr_html_()
    assert str(Ledger()).splitlines()[2].strip() == "nothing was released"


def test_html_is_escaped():
    evil = Box({"<script>": 0}, {"<script>": 1}, (0, 1))
    shown = guarantee.page(guarantee.statement([spend()], evil))
    assert "<script>" not in shown
    assert "&lt;script&gt;: 0 to 1" in shown


def test_it_says_nothing_of_the_records():
    first, second = (
        str(release(linear(np.array(X) * k, Y, BOX), functional(BOX, 0.5), random_state=1).ledger) for k in (1, 2)
    )
    assert first == second
