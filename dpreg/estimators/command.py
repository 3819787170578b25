"""Fit a private regression to a CSV file from the command line, or plan one: `python -m dpreg --help` says how."""

from __future__ import annotations

import argparse
import importlib
import json
import tomllib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import DataError, InputError
from dpreg.estimators import plan
from dpreg.estimators.private import PrivateLinearRegression, PrivateLogisticRegression
from dpreg.pipeline import guarantee
from dpreg.pipeline.domain import Box
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
  python -m dpreg fit people.csv --target rich --labels no,yes --bounds bounds.toml --epsilon 1 --json model.json

No message shows records, unless you ask with --explain; then keep it to yourself. An audit of a program is
python -m dpreg.audit.

exit code: 0 if the model was fitted; 2 for bad use; 3 if the records were refused, before anything was released."""

PLAN = """\
Print how well a private linear regression will predict, before anything is read or spent. Errors are shares of the
squared error of the best constant: 1 is no better than predicting the mean, and 1 minus the error is R^2."""

AFTER_PLAN = """\
The file of bounds is that of fit. No records are read. Made-up ones take their place, with independent predictors that
are uniform in their bounds. --explained, --mean and --filled say more of them: guess, or take them from a public
source, never from the records you mean to fit. People mostly stand in the middle of bounds, and their columns go
together, so a plan is a best case. In Python, dpreg.estimators.plan takes the moments of a public source.

examples:
  python -m dpreg plan --bounds bounds.yml --target income --n 5000 --epsilon 0.1 1 10
  python -m dpreg plan --bounds bounds.yml --target income --n 5000 --epsilon 1 --for-error 0.05 --compare

columns: expected error of the private fit; what of it is due to the noise, and its standard error over the simulated
draws; the same to first order, which can be trusted where a star does not follow; and how far the noise moves a
prediction, in units of the target.

exit code: 0 if the plan was printed; 2 for bad use, or if no epsilon reaches the error."""


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
            print(_plan(given))
            return 0
        model, predictors = _model(given)
        if given.json and (not given.json.parent.is_dir() or given.json.is_dir()):
            raise InputError(f"{given.json} cannot be a file: give --json a file in a folder that exists")
        X, y = _records(given, predictors)
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
    add("--labels", metavar="A,B", help="the two labels of the target, for a logistic regression")
    add("--penalty", type=float, default=0.0, help="ridge, in scaled units (default: 0)")
    add("--neighbours", choices=("replace", "add_remove"), default="replace", help="(default: replace)")
    add("--publish", action="store_true", help="Laplace noise from OpenDP, fit for publishing")
    add("--json", type=Path, metavar="FILE", help="write model and statement to a file")
    add("--explain", action="store_true", help="say why records were refused, which may show some of them")
    _add_plan(
        parts.add_parser("plan", help="its error, ahead", description=PLAN, epilog=AFTER_PLAN, formatter_class=style)
    )
    return whole


def _add_plan(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--bounds", type=Path, required=True, metavar="FILE", help="public bounds of the columns")
    add("--target", required=True, metavar="NAME", help="the column to predict")
    add("--n", type=int, required=True, help="number of records")
    add("--epsilon", type=float, nargs="+", default=[], help="one or more budgets")
    add("--for-error", type=float, metavar="E", help="also the epsilon at which noise adds no more than this")
    add("--explained", type=float, default=0.5, metavar="R2", help="R^2 without privacy, a guess (default: 0.5)")
    add("--mean", type=float, help="mean of the target, a guess (default: the middle of its bounds)")
    add("--filled", type=float, default=1.0, help="part of their bounds that predictors fill, a guess (default: 1)")
    add("--neighbours", choices=("replace", "add_remove"), default="replace", help="(default: replace)")
    add("--compare", action="store_true", help="also what other choices would give")


def _plan(given: argparse.Namespace) -> str:
    """Return the tables that are asked for."""
    ends = _bounds(given.bounds)
    response = ends.pop(given.target, None)
    if response is None or not ends:
        raise InputError(f"{given.bounds} must have bounds of {given.target}, and of a predictor: add them")
    if not given.epsilon and (given.compare or given.for_error is None):
        raise InputError("there is no --epsilon, which only --for-error alone can do without: give one or more")
    domain = _box(ends, response)
    middle = sum(response) / 2
    mean = 0.0 if given.mean is None else (given.mean - middle) / domain.half_width
    moments = plan.stand_in(domain, given.explained, mean, given.filled)
    known: dict[str, Any] = {"moments": moments, "neighbours": given.neighbours}
    budgets = {f"epsilon {epsilon:g}": epsilon for epsilon in given.epsilon}
    rows = {name: plan.expected_error(domain, given.n, epsilon, **known) for name, epsilon in budgets.items()}
    tables = [_table(rows, domain)] if rows else []
    if given.for_error is not None:
        epsilon = plan.epsilon_for(given.for_error, domain, given.n, **known)
        tables.append(f"noise adds {given.for_error:g} or less from epsilon {epsilon:.3g} on")
    if given.compare:
        for name, epsilon in budgets.items():
            tables.append(f"{name}\n{_table(plan.compare(domain, given.n, epsilon, **known), domain)}")
    return "\n\n".join(tables)


def _table(rows: dict[str, plan.Forecast], domain: Box) -> str:
    wide = max(map(len, rows))
    lines = [f"{'':{wide}}  {'error':>8}  {'by noise':>8}  {'+-':>8}  {'1st order':>9}  {'moves':>8}"]
    for name, row in rows.items():
        first = f"{row.first_order:.3g}{'' if row.near else '*'}"
        numbers = f"{row.private:8.3f}  {row.excess:8.3g}  {row.standard_error:8.1g}  {first:>9}"
        lines.append(f"{name:{wide}}  {numbers}  {row.shift * domain.half_width:8.3g}")
    return "\n".join([*lines, f"without privacy the error is {next(iter(rows.values())).without:.3f}"])


def _model(given: argparse.Namespace) -> tuple[Any, list[str]]:
    """Return the estimator that is asked for, and the names of its columns."""
    ends = _bounds(given.bounds)
    response = (0.0, 1.0) if given.labels else ends.pop(given.target, None)
    if response is None:
        raise InputError(f"{given.bounds} has no bounds of {given.target}: add them, or give --labels")
    if given.target in ends or not ends:
        raise InputError(f"{given.bounds} must have bounds of predictors, and with --labels of no target: match them")
    domain = _box(ends, response)
    checks.budget(given.epsilon)
    options: dict[str, Any] = {"mechanism": "laplace", "sampler": "opendp"} if given.publish else {}
    options |= {"penalty": Penalty(given.penalty), "neighbours": given.neighbours}
    if not given.labels:
        return PrivateLinearRegression(domain, given.epsilon, **options), list(ends)
    if len(set(classes := [label.strip() for label in given.labels.split(",")])) != 2:
        raise InputError(f"--labels is {given.labels!r}: give two, with a comma between")
    options = {"mechanism": "wishart" if given.penalty else "objective"} | options  # a penalty takes a quadratic
    return PrivateLogisticRegression(domain, given.epsilon, classes=classes, **options), list(ends)


def _box(ends: dict[str, tuple[float, float]], response: tuple[float, float]) -> Box:
    lower, upper = ({name: pair[k] for name, pair in ends.items()} for k in (0, 1))
    return Box(lower, upper, response, intercept=True)


def _bounds(file: Path) -> dict[str, tuple[float, float]]:
    try:
        content = file.read_text(encoding="utf-8")
        if file.suffix == ".toml":
            read: Any = tomllib.loads(content)
        else:
            read = json.loads(content) if file.suffix == ".json" else checks.needed("yaml", "table").safe_load(content)
    except DataError:
        raise
    except Exception as error:  # of the file or of its reader
        raise InputError(f"{file} cannot be read ({type(error).__name__}): give a YAML, JSON or TOML file") from None
    pairs = read if isinstance(read, dict) else {}
    if not pairs or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs.values()):
        raise InputError(f"{file} does not hold one pair for each column: give name: [lowest, highest]")
    return {str(name): (checks.finite(pair[0], name), checks.finite(pair[1], name)) for name, pair in pairs.items()}


def _records(given: argparse.Namespace, predictors: list[str]) -> tuple[Any, Any]:
    pandas = importlib.import_module("pandas")
    try:
        table = pandas.read_csv(given.data, dtype={given.target: str} if given.labels else None)
    except Exception as error:  # whose words may show records
        raise InputError(
            f"{given.data} cannot be read ({type(error).__name__}): give a CSV file with a header"
        ) from None
    if missing := [name for name in [*predictors, given.target] if name not in table.columns]:
        raise InputError(f"{given.data} has no columns {missing}: match the bounds and the target with its header")
    return table[predictors], table[given.target]
