"""The plan of the command line is that of the library, in the target's units."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from dpreg.estimators import command
from dpreg.estimators.plan import compare, epsilon_for, expected_error, stand_in
from dpreg.pipeline.domain import Box
from dpreg.pipeline.objective import moments as linear_moments

BOUNDS = {"hours": [0, 80], "age": [18, 90], "income": [0, 200_000]}


@pytest.fixture
def ahead(tmp_path, capsys):
    """Write a file of bounds, run the plan, and return its exit code and what it printed."""

    def run(*options, bounds=BOUNDS, target="income", n="5000"):
        (tmp_path / "bounds.json").write_text(json.dumps(bounds))
        arguments = ["--bounds", str(tmp_path / "bounds.json"), "--target", target, "--n", n]
        try:
            code = command.main(["plan", *arguments, *options])
        except SystemExit as error:
            code = error.code
        return code, capsys.readouterr()

    return run


PUBLIC = Box([0.0, 18.0], [80.0, 90.0], (0.0, 200_000.0), intercept=True)


def test_plan_prints_the_forecast(ahead):
    code, said = ahead("--epsilon", "0.02", "1")
    assert code == 0
    lines = said.out.splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [["epsilon", "0.02"], ["epsilon", "1"]]
    found = expected_error(PUBLIC, 5000, 1.0)
    numbers = [float(word) for word in lines[2].split()[2:]]
    wanted = [found.private, found.excess, found.standard_error, found.first_order, found.shift * 100_000]
    assert numbers == pytest.approx(wanted, rel=0.2)  # printed with one digit or more
    assert lines[1].split()[5].endswith("*")  # the first order has no say there
    assert lines[3] == "without privacy the error is 0.500"


def test_plan_takes_guesses_and_neighbours(ahead):
    _, said = ahead(
        *["--epsilon", "1", "--explained", "0.8", "--mean", "50000", "--filled", "0.5", "--neighbours", "add_remove"]
    )
    found = expected_error(PUBLIC, 5000, 1.0, stand_in(PUBLIC, 0.8, -0.5, 0.5), neighbours="add_remove")
    assert float(said.out.splitlines()[1].split()[3]) == pytest.approx(found.excess, rel=0.01)
    assert "the error is 0.200" in said.out


def test_plan_with_a_delta(ahead):
    _, said = ahead("--epsilon", "0.5", "--delta", "1e-6", "--compare")
    found = expected_error(PUBLIC, 5000, 0.5, mechanism="gaussian", delta=1e-6)
    row = next(line for line in said.out.splitlines() if line.startswith("as planned"))
    assert float(row.split()[3]) == pytest.approx(found.excess, rel=0.01)
    assert "mean first" in said.out


def test_plan_takes_public_records(ahead, tmp_path):
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.uniform(18, 90, 300), "hours": rng.uniform(0, 80, 300), "note": "x"})
    people["income"] = 500 * people["age"] + 900 * people["hours"]
    people.to_csv(tmp_path / "public.csv", index=False)
    _, said = ahead("--epsilon", "1", "--public", str(tmp_path / "public.csv"))
    rows, target = people[["hours", "age"]].to_numpy(), people["income"].to_numpy()
    known = linear_moments(rows, target, PUBLIC.centred) / len(people)
    found = expected_error(PUBLIC, 5000, 1.0, known)
    assert float(said.out.splitlines()[1].split()[3]) == pytest.approx(found.excess, rel=0.01)
    assert "the error is 0.000" in said.out  # income is a sum of the two


def test_plan_finds_epsilon_and_compares(ahead):
    code, said = ahead("--for-error", "0.05")
    assert code == 0
    assert float(said.out.split()[-2]) == pytest.approx(epsilon_for(0.05, PUBLIC, 5000), rel=0.01)
    code, said = ahead("--epsilon", "1", "--compare")
    assert code == 0
    for name in compare(PUBLIC, 5000, 1.0, repeats=2):
        assert name in said.out


@pytest.mark.parametrize(
    ("options", "settings", "message"),
    [
        ((), {}, "there is no --epsilon"),
        (("--compare", "--for-error", "1"), {}, "there is no --epsilon"),
        (("--epsilon", "0"), {}, "epsilon is 0"),
        (("--epsilon", "1"), {"n": "1"}, "n is 1: give"),
        (("--epsilon", "1"), {"n": "many"}, "invalid int value"),
        (("--epsilon", "1"), {"target": "other"}, "must have bounds of other"),
        (("--epsilon", "1"), {"bounds": {"income": [0, 1]}}, "and of a predictor"),
        (("--epsilon", "1", "--mean", "-5"), {}, "mean is -1.00005: give"),
        (("--epsilon", "1", "--explained", "1"), {}, "explained is 1"),
        (("--for-error", "1e-40"), {}, "no epsilon up to"),
        (("--epsilon", "1", "--delta", "1"), {}, "delta is 1"),
        (("--epsilon", "1", "--public", "nowhere.csv"), {}, "nowhere.csv cannot be read"),
        (("--epsilon", "1", "--public", "a.csv", "--mean", "1", "--filled", "1"), {}, "--mean and --filled would"),
    ],
)
def test_bad_plans_exit_with_two_and_say_why(ahead, options, settings, message):
    code, said = ahead(*options, **settings)
    assert code == 2
    assert re.search(message, said.err), said.err
    assert "Traceback" not in said.err


def test_help_of_a_plan(capsys):
    with pytest.raises(SystemExit) as caught:
        command.main(["plan", "--help"])
    assert caught.value.code == 0
    assert "exit code: 0" in capsys.readouterr().out
