"""The panels of 001: their scalings, their methods and their units."""

import math

import numpy as np
import pandas as pd
import pytest

from dpreg.mechanisms.fm_recipes import PAPER
from dpreg.pipeline.objective import TAYLOR, linear
from dpreg.sweeps.experiment import CrossValidation, no_privacy, sweep
from dpreg.sweeps.methods import Method
from lib.data.census import above, census
from lib.papers import zhang
from tests.lib.papers import box_and


def test_panels_take_their_columns_by_name():
    people = census("US", 3000)
    some, protocol = [census("US", 3000, attributes=k) for k in (5, 11, 14)], CrossValidation(2)
    some = [*some, above(people, 50_000)]
    whole = []
    for number, data in enumerate(some):
        label = data.response_name == "above"
        metric = "misclassified" if label else "mse"
        lines = [(data.box(), [no_privacy("plain", loss=TAYLOR) if label else no_privacy("plain")])]
        whole.append(zhang.Panel(data, lines, [1.0], metric, {"panel": number}))
    found = zhang.run(whole, protocol, random_state=2)
    for number, panel in enumerate(whole):
        alone = zhang.run([panel], protocol, random_state=2)["value"]
        together = found[found["panel"] == number]["value"]
        np.testing.assert_allclose(together, alone, rtol=1e-9)


def test_unit_of_the_errors():
    data = census("US", 2000, attributes=5)
    box = data.box(corner=True)
    lines = [(box, [no_privacy("plain")])]
    found = zhang.run([zhang.Panel(data, lines, [1.0])], CrossValidation(1), random_state=2)["value"]
    dollars = sweep(data.X, data.y, box, lines[0][1], [1.0], CrossValidation(1), random_state=2, metrics=["mse"])[
        "value"
    ]
    np.testing.assert_allclose(found, dollars / 50_000**2, rtol=1e-12)


def test_no_noise_is_the_ridge_alone():
    data = census("US", 3000, attributes=5)
    box, method = box_and(data, "FM, no noise")
    t, Z = box.table(data.X, data.y)[:, 0], box.table(data.X, data.y)[:, 1:]
    theta = method.fit(linear(data.X, data.y, box)[None, None], np.array([0.5, 2.0]), np.random.default_rng(0))
    for row, epsilon in zip(theta[0], (0.5, 2.0), strict=True):
        lift = 4 * math.sqrt(2) * 2 * (4 + 1) ** 2 / epsilon
        np.testing.assert_allclose(row, np.linalg.solve(Z.T @ Z + lift * np.eye(4), Z.T @ t), rtol=1e-9)


@pytest.mark.parametrize("centred", [False, True])
def test_scaling_of_the_lines(centred):
    data = census("US", 100)
    lines = zhang.published(data, centred=centred)
    assert {(box.corner, box.intercept) for box, _ in lines} == {(not centred, centred)}  # one footing for a panel
    assert centred == (zhang.BEST in [method.name for _, methods in lines for method in methods])


def test_readings_have_their_own_boxes():
    boxes = [box for box, _ in zhang.variants(census("US", 100))]
    assert [(box.corner, box.intercept) for box in boxes[:4]] == list(zhang.READINGS.values())


def test_always_no_errs_on_those_above():
    data = above(census("US", 2000, attributes=5), 50_000)
    box, method = box_and(data, "always no", TAYLOR)
    frame = zhang.run([zhang.Panel(data, [(box, [method])], [1.0], "misclassified")], CrossValidation(1))
    assert frame["value"].mean() == pytest.approx(data.y.mean(), rel=1e-12)


def test_same_partitions_on_both_boxes():
    data = census("US", 1000, attributes=5)
    lines = [(data.box(intercept=i), [Method(f"zero {i}", zhang._zero, private=False)]) for i in (False, True)]
    frame = zhang.run([zhang.Panel(data, lines, [1.0])], CrossValidation(2), random_state=3)
    one, other = (part["value"].to_numpy() for _, part in frame.groupby("method"))
    np.testing.assert_allclose(one, other, rtol=1e-10)


def test_panels_of_one_tag_are_run_together_and_start_alike():
    data, protocol = {code: census(code, 2000, attributes=5) for code in ("US", "BR")}, CrossValidation(2)
    panels = [
        zhang.Panel(
            data[code], [(data[code].box(corner=True), [Method("FM", PAPER.fit)])], [e], tags={"country": code, "e": e}
        )
        for e in (0.5, 2.0)
        for code in data
    ]
    found = zhang.run_by("country", panels, protocol, random_state=3)
    assert found["country"].drop_duplicates().tolist() == ["US", "BR"]
    for code in data:
        alone = zhang.run([panel for panel in panels if panel.tags["country"] == code], protocol, random_state=3)
        assert found[found["country"] == code]["value"].tolist() == alone["value"].tolist()


@pytest.mark.parametrize(("margin", "linear", "printed", "centred"), [(0.0, 4, 2, 1), (0.1, 3, 1, 0)])
def test_points_won(margin, linear, printed, centred):
    """At 1 and 2 the method is below DPME by 0.05 and by 0.5; FP is never the lower one; infinity is no point."""
    table = pd.DataFrame({1: [0.45, 0.5, 0.6], 2: [0.5, 1.0, 2.0], np.inf: [0.0, 1.0, 1.0]}, index=["FM", "DPME", "FP"])
    other = table.drop(columns=2)
    tables = {("linear", "US", False, 5): table, ("linear", "US", True, 8): table}
    tables |= {("logistic", "US", False, 8): table, ("logistic", "BR", True, 8): other}
    margins = {"linear": 0.05001 if margin else 0.0, "logistic": margin}
    expected = {"linear": linear - (margin > 0), "printed_8": printed, "centred_8": centred}
    assert zhang.wins(tables, "FM", margins) == expected
    assert zhang.wins({("linear", "US", False, 5): table}, "FP", {"linear": 0.0}) == {"linear": 0}
