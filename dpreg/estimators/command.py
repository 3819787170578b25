"""Fit a private regression to a CSV file from the command line, or plan one: `python -m dpreg --help` says how."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import DataError, InputError
from dpreg.estimators import command_plan, files
from dpreg.estimators.private import PrivateLinearRegression, PrivateLogisticRegression
from dpreg.pipeline import guarantee
from dpreg.pipeline.solve import Penalty

REFUSED = 3

ABOUT = """\
Fit a private regression to a CSV file, and print the model and its privacy statement. This spends epsilon once."""

AFTER = """\
The file of bounds names the columns that are used, each with its lowest and highest value, and for a regression the
target too. They are public: write them down before you look. In YAML (which needs PyYAML), JSON or TOML:
  age: [18, 90]
  hours: [0, 80]
  income: [0, 200000]

examples:
  python -m dpreg fit people.csv --target income --bounds bounds.yml --epsilon 1
  python -m dpreg fit people.csv --target income --bounds bounds.yml --epsilon 1 --delta 1e-6
  python -m dpreg fit people.csv --target rich --labels no,yes --bounds bounds.toml --epsilon 1 --json model.json

No message shows records, unless you ask with --explain; then keep it to yourself. An audit of a program is
python -m dpreg.audit.

exit code: 0 if the model was fitted; 2 for bad use; 3 if the records were refused, before anything was released."""


@checked
def main(arguments: Sequence[str] | None = None) -> int:
    """Fit a model and print it with its privacy statement, or print a plan, and return the exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the command line if missing.

    Returns
    -------
    int
        0 done, 3 records refused; bad use exits with 2.

    Examples
    --------
    >>> main(["fit", "nowhere.csv", "--target", "y", "--bounds", "nowhere.json", "--epsilon", "1"])
    Traceback (most recent call last):
    SystemExit: 2
    """
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        if given.command == "plan":
            print(command_plan.tables(given))
            return 0
        model, predictors = _model(given)
        if given.json and (not given.json.parent.is_dir() or given.json.is_dir()):
            raise InputError(f"{given.json} cannot be a file: give --json a file in a folder that exists")
        X, y = files.records(given.data, predictors, given.target, text=bool(given.labels))
    except (InputError, DataError) as error:
        parser.error(str(error))
    try:
        model.fit(X, y)
    except DataError as error:  # no OpenDP
        parser.error(str(error))
    except InputError as error:
        reason = str(error) if given.explain else "what is wrong with them is private, and --explain shows it"
        print(f"the records were refused, and nothing was released: {reason}")
        return REFUSED
    content = described(model)
    if content["labels"]:
        print("log-odds of {1!r} against {0!r}".format(*content["labels"]))
    print(*(f"{name}: {value:.6g}" for name, value in content["coefficients"].items()), sep="\n")
    print(f"\n{guarantee.text(content['privacy'])}")
    if given.json:
        given.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


@checked
def described(model: Any) -> dict[str, Any]:
    """Return what may be published of a fitted estimator, as JSON can hold it.

    Examples
    --------
    >>> model = PrivateLinearRegression(([0.0], [1.0], (0.0, 1.0)), 1.0, random_state=1).fit([[0.5], [1.0]], [0.0, 1.0])
    >>> sorted(described(model))
    ['coefficients', 'labels', 'model', 'privacy', 'spends']
    """
    domain = model.domain_
    names = domain.names or tuple(f"column {j}" for j in range(domain.d))
    values = [float(value) for value in (*np.ravel(model.intercept_), *np.ravel(model.coef_))]
    return {
        "model": type(model).__name__,
        "labels": [str(label) for label in getattr(model, "classes_", ())],
        "coefficients": dict(zip(("intercept", *names), values, strict=True)),
        "privacy": guarantee.statement(list(model.ledger_), domain),
        "spends": [asdict(spend) for spend in model.ledger_],
    }


def _parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser("python -m dpreg", description="Differentially private regression.")
    parts = whole.add_subparsers(required=True, metavar="command", dest="command")
    style = argparse.RawDescriptionHelpFormatter
    parser = parts.add_parser(
        "fit", help="a model from a CSV file", description=ABOUT, epilog=AFTER, formatter_class=style
    )
    add = parser.add_argument
    add("data", type=Path, metavar="data.csv", help="records, one per line, with a header")
    add("--target", required=True, metavar="NAME", help="the column to predict")
    add("--bounds", type=Path, required=True, metavar="FILE", help="public bounds of the columns (see below)")
    add("--epsilon", type=float, required=True, help="what to spend")
    add("--delta", type=float, default=0.0, help="also this chance, on Gaussian noise (default: none)")
    add("--labels", metavar="A,B", help="the two labels of the target, for a logistic regression")
    add("--penalty", type=float, default=0.0, help="ridge, in scaled units (default: 0)")
    add("--neighbours", choices=("replace", "add_remove"), default="replace", help="(default: replace)")
    add(
        "--publish",
        action="store_true",
        help="noise from OpenDP, fit for publishing: Laplace, or Gaussian with --delta",
    )
    add("--json", type=Path, metavar="FILE", help="write model and statement to a file")
    add("--explain", action="store_true", help="say why records were refused, which may show some of them")
    command_plan.add_to(parts)
    return whole


def _model(given: argparse.Namespace) -> tuple[Any, list[str]]:
    """Return the estimator that is asked for, and the names of its columns."""
    ends = files.read(given.bounds)
    response = (0.0, 1.0) if given.labels else ends.pop(given.target, None)
    if response is None:
        raise InputError(f"{given.bounds} has no bounds of {given.target}: add them, or give --labels")
    if given.target in ends or not ends:
        raise InputError(f"{given.bounds} must have bounds of predictors, and with --labels of no target: match them")
    domain = files.box(ends, response)
    checks.budget(given.epsilon)
    options: dict[str, Any] = {"mechanism": "laplace", "sampler": "opendp"} if given.publish else {}
    if given.delta and given.labels:
        raise InputError("--delta is for linear regression: leave it out, or --labels")
    if checks.chance(given.delta, "delta", zero=True):
        options |= {"mechanism": "gaussian", "delta": given.delta}
    options |= {"penalty": Penalty(given.penalty), "neighbours": given.neighbours}
    if not given.labels:
        return PrivateLinearRegression(domain, given.epsilon, **options), list(ends)
    if len(set(classes := [label.strip() for label in given.labels.split(",")])) != 2:
        raise InputError(f"--labels is {given.labels!r}: give two, with a comma between")
    options = {"mechanism": "wishart" if given.penalty else "objective"} | options  # a penalty takes a quadratic
    return PrivateLogisticRegression(domain, given.epsilon, classes=classes, **options), list(ends)
