"""The command line fits what the estimators fit, says what it cost, and shows no record."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import yaml

from dpreg.estimators import command
from dpreg.estimators.private import PrivateLinearRegression

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


def test_gaussian_noise_fit_for_publishing(fit, tmp_path):
    pytest.importorskip("opendp", reason="opendp is an optional extra: pip install -e '.[publish]'")
    code, said = fit("--publish", "--delta", "1e-6", "--json", str(tmp_path / "model.json"), epsilon=10)
    assert code == 0
    assert "last bits" not in said.out
    kept = json.loads((tmp_path / "model.json").read_text())["spends"]
    assert [spend["mechanism"] for spend in kept] == ["Laplace", "Gaussian"]
    assert all(spend["noise"].startswith("OpenDP") for spend in kept)


def test_a_delta_buys_gaussian_noise(fit, tmp_path):
    code, said = fit("--delta", "1e-6", "--json", str(tmp_path / "model.json"), epsilon=1e9)
    assert code == 0
    assert "1e-06" in said.out
    kept = json.loads((tmp_path / "model.json").read_text())
    assert sum(spend["delta"] for spend in kept["spends"]) == pytest.approx(1e-6)
    assert kept["coefficients"]["age"] == pytest.approx(500, rel=0.05)


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
        (("--delta", "2"), {}, "delta is 2"),
        (("--delta", "1e-6", "--labels", "no,yes"), {"target": "rich", "bounds": TWO}, "--delta is for linear"),
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


def test_what_is_written_is_the_model():
    model = PrivateLinearRegression(([0.0], [1.0], (0.0, 1.0)), 1.0, random_state=1).fit([[0.5], [1.0]], [0.0, 1.0])
    content = command.described(model)
    assert content["coefficients"] == {"intercept": model.intercept_, "column 0": model.coef_[0]}
    json.dumps(content)
