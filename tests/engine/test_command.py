"""The command line fits what the estimators fit, says what it cost, and shows no record."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import yaml

from dpreg.estimators import command
from dpreg.estimators.plan import compare, epsilon_for, expected_error, stand_in
from dpreg.estimators.private import PrivateLinearRegression
from dpreg.pipeline.domain import Box

RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame({"age": RNG.uniform(18, 90, 300), "hours": RNG.uniform(0, 80, 300), "note": "x"})
PEOPLE["income"] = 500 * PEOPLE["age"] + 900 * PEOPLE["hours"]
PEOPLE["rich"] = np.where(PEOPLE["income"] > 60_000, "yes", "no")
PEOPLE["bit"] = (PEOPLE["rich"] == "yes").astype(int)
BOUNDS = {"hours": [0, 80], "age": [18, 90], "income": [0, 200_000]}
TWO = {"hours": [0, 80], "age": [18, 90]}


@pytest.fixture
def fit(tmp_path, capsys):
    """Write the files, run the command, and return its exit code and what it printed."""

    def run(*options, people=PEOPLE, bounds=BOUNDS, kind="json", target="income", epsilon=1.0):
        people.to_csv(tmp_path / "people.csv", index=False)
        write = {
            "json": json.dumps,
            "yml": yaml.safe_dump,
            "toml": lambda b: "\n".join(f"{k} = {v}" for k, v in b.items()),
        }
        (tmp_path / f"bounds.{kind}").write_text(write[kind](bounds))
        arguments = ["--target", target, "--bounds", str(tmp_path / f"bounds.{kind}"), "--epsilon", str(epsilon)]
        try:
            code = command.main(["fit", str(tmp_path / "people.csv"), *arguments, *options])
        except SystemExit as error:
            code = error.code
        return code, capsys.readouterr()

    return run


@pytest.mark.parametrize("kind", ["json", "yml", "toml"])
def test_it_fits_prints_and_writes(fit, tmp_path, kind):
    code, said = fit("--json", str(tmp_path / "model.json"), kind=kind, epsilon=1e12)
    assert code == 0
    assert "Privacy statement" in said.out
    assert "age: 18 to 90" in said.out
    kept = json.loads((tmp_path / "model.json").read_text())
    assert kept["coefficients"]["age"] == pytest.approx(500, rel=1e-3)
    assert kept["coefficients"]["hours"] == pytest.approx(900, rel=1e-3)
    assert sum(spend["epsilon"] for spend in kept["spends"]) == pytest.approx(1e12)
    assert {spend["noise"] for spend in kept["spends"]} == {"numpy, system randomness"}


@pytest.mark.parametrize(("target", "labels"), [("rich", "no,yes"), ("bit", "0,1"), ("rich", "yes, no")])
def test_labels(fit, tmp_path, target, labels):
    code, said = fit("--labels", labels, "--json", str(tmp_path / "m.json"), target=target, bounds=TWO, epsilon=1e9)
    assert code == 0
    kept = json.loads((tmp_path / "m.json").read_text())
    assert kept["labels"] == sorted(part.strip() for part in labels.split(","))
    assert kept["coefficients"]["hours"] > 0
    assert "log-odds of" in said.out


def test_noise_fit_for_publishing(fit):
    pytest.importorskip("opendp", reason="opendp is an optional extra: pip install -e '.[publish]'")
    code, said = fit("--publish", epsilon=10)
    assert code == 0
    assert "OpenDP" in said.out
    assert "last bits" not in said.out


def test_two_fits_have_two_noises(fit):
    assert fit()[1].out != fit()[1].out


def test_neighbours_and_penalty_reach_the_estimator(fit):
    _, said = fit("--neighbours", "add_remove", "--penalty", "1e15", epsilon=1e9)
    assert "added or removed" in said.out
    assert abs(float(said.out.splitlines()[1].split(": ")[1])) < 1e-3


def test_refused_records_show_nothing_but_on_request(fit):
    people = PEOPLE.assign(hours=PEOPLE["hours"].where(PEOPLE.index != 17))
    code, said = fit(people=people)
    assert code == command.REFUSED
    assert "nothing was released" in said.out
    assert "17" not in said.out + said.err
    code, said = fit("--explain", people=people)
    assert code == command.REFUSED
    assert "row 17" in said.out


@pytest.mark.parametrize(
    ("options", "settings", "message"),
    [
        ((), {"target": "other"}, "no bounds of other"),
        ((), {"epsilon": 0}, "epsilon is 0"),
        ((), {"epsilon": "much"}, "invalid float value"),
        ((), {"bounds": {"age": [90, 18], "income": [0, 1]}}, "lower < upper"),
        ((), {"bounds": {"age": 3, "income": [0, 1]}}, "one pair for each column"),
        ((), {"bounds": {"income": [0, 1]}}, "must have bounds of predictors"),
        ((), {"bounds": BOUNDS | {"height": [0, 2]}}, "has no columns .'height'."),
        (("--labels", "no"), {"target": "rich", "bounds": TWO}, "give two"),
        (("--labels", "no,yes"), {"target": "age"}, "of no target"),
        (("--json", "nowhere/model.json"), {}, "a folder that exists"),
        (("--penalty", "-1"), {}, "lam is -1"),
        (("--neighbours", "near"), {}, "invalid choice"),
    ],
)
def test_bad_use_exits_with_two_and_says_why(fit, options, settings, message):
    code, said = fit(*options, **settings)
    assert code == 2
    assert re.search(message, said.err), said.err
    assert "Traceback" not in said.err


def test_files_that_cannot_be_read(fit, tmp_path, capsys):
    assert fit()[0] == 0
    (tmp_path / "bad.yml").write_text("a: [1")
    for data, bounds in (("none.csv", "bounds.json"), ("people.csv", "bad.yml"), ("people.csv", "none.toml")):
        arguments = [str(tmp_path / data), "--target", "income", "--bounds", str(tmp_path / bounds), "--epsilon", "1"]
        with pytest.raises(SystemExit) as caught:
            command.main(["fit", *arguments])
        assert caught.value.code == 2
        assert "cannot be read" in capsys.readouterr().err


def test_help_tells_all(capsys):
    with pytest.raises(SystemExit) as caught:
        command.main(["fit", "--help"])
    assert caught.value.code == 0
    assert "exit code: 0" in capsys.readouterr().out


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


def test_what_is_written_is_the_model():
    model = PrivateLinearRegression(([0.0], [1.0], (0.0, 1.0)), 1.0, random_state=1).fit([[0.5], [1.0]], [0.0, 1.0])
    content = command.described(model)
    assert content["coefficients"] == {"intercept": model.intercept_, "column 0": model.coef_[0]}
    json.dumps(content)
