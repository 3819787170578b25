"""The command line: what it audits, what it prints, and how it ends."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dpreg.audit.__main__ import main

MODULE = """
import numpy as np

def draw(scale):
    def make(X, y, seed):
        return np.clip(y, 0, 1).sum() + np.random.default_rng(seed).laplace(scale=scale)
    return make

sound, faulty, number = draw(1.0), draw(0.2), 3

def classify(X, y, seed):
    assert set(y) <= {0, 1} and y.dtype.kind == "i" and X.shape[1] == 3
    return float(y.sum())

def unbounded(X, y, seed):
    return float(X.sum())
"""
REGRESSION = ["--epsilon", "1", "--bounds=0:1", "--response=0:1", "--seed", "1"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "own_estimators.py").write_text(MODULE)
    (tmp_path / "broken_estimators.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_estimators", raising=False)


@pytest.mark.thorough
def test_a_sound_one_and_a_faulty_one(capsys):
    assert main(["own_estimators:sound", *REGRESSION, "--draws", "100"]) == 0
    assert capsys.readouterr().out.startswith("Not refuted at epsilon = 1:")
    assert main(["own_estimators:faulty", *REGRESSION, "--draws", "1000", "--stop-early", "--json", "out.json"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("REFUTED at epsilon = 1:")
    written = json.loads(Path("out.json").read_text())
    assert written["refuted"]
    assert written["summary"] == said.strip()
    assert written["seed"] == 1
    assert any(one["refuted"] and one["found"] > 1 for one in written["findings"])


def test_a_classifier_on_the_sphere():
    sphere = ["--epsilon", "1", "--norm", "1", "--columns", "3", "--labels", "0,1", "--draws", "100", "--stop-early"]
    assert main(["own_estimators:classify", *sphere]) == 1
    assert main(["own_estimators:classify", *sphere, "--neighbours", "add_remove", "--within", "--both"]) == 1


def test_bounds_below_zero_and_of_several_columns(capsys):
    given = ["--epsilon", "1", "--bounds=-1:1,0:10", "--response=-2:-1", "--draws", "100", "--stop-early"]
    assert main(["own_estimators:unbounded", *given]) == 1
    assert "the sum" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["own_estimators:none", *REGRESSION], "give module:function, importable from here"),
        (["own_estimators", *REGRESSION], "give module:function"),
        (["nowhere:fit", *REGRESSION], "give module:function"),
        (["broken_estimators:fit", *REGRESSION], "division by zero"),
        (["own_estimators:number", *REGRESSION], "of type int: give a function"),
        (["own_estimators:sound", "--bounds=0:1", "--response=0:1"], "--epsilon"),
        (["own_estimators:sound", *REGRESSION, "--epsilon", "-1"], "epsilon is -1: give"),
        (["own_estimators:sound", "--epsilon", "1", "--bounds=1:0", "--response=0:1"], "lower < upper"),
        (["own_estimators:sound", "--epsilon", "1", "--bounds=0:1:2", "--response=0:1"], "--bounds"),
        (["own_estimators:sound", "--epsilon", "1", "--bounds=0:1"], "bounds_y and labels"),
        (["own_estimators:sound", "--epsilon", "1", "--bounds=0:1", "--response=0:1,0:2"], "2 intervals: give one"),
        (["own_estimators:sound", *REGRESSION, "--json", "no/out.json"], "there is no folder no: give"),
        (["own_estimators:sound", *REGRESSION, "--draws", "3"], "draws is 3: give"),
    ],
)
def test_bad_use_says_what_to_mend(arguments, said, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert said in capsys.readouterr().err


def test_help_says_how(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    said = capsys.readouterr().out
    assert "examples:" in said
    assert "exit code: 0 if the claim was not refuted, which does not prove it; 1 if it was; 2 for bad use." in said


@pytest.mark.audit
def test_as_a_module():
    root = Path(__file__).resolve().parents[2]
    command = [
        sys.executable,
        "-m",
        "dpreg.audit",
        "own_estimators:faulty",
        *REGRESSION,
        "--draws",
        "400",
        "--stop-early",
    ]
    run = subprocess.run(
        command, capture_output=True, text=True, env={"PYTHONPATH": str(root), "PATH": ""}, check=False
    )
    assert run.returncode == 1, run.stderr
    assert run.stdout.startswith("REFUTED")
    assert np.isfinite(float(run.stdout.split("bound is ")[1].split(":")[0]))
