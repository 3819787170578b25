"""The command `python -m dpreg plan`: how well a private regression will predict, before anything is spent."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray, InputError
from dpreg.estimators import files, plan
from dpreg.pipeline.domain import Box
from dpreg.pipeline.objective import moments

ABOUT = """\
Print how well a private linear regression will predict, before anything is read or spent. Errors are shares of the
squared error of the best constant: 1 is no better than predicting the mean, and 1 minus the error is R^2."""

AFTER = """\
The file of bounds is that of fit. No private records are read. Made-up ones take their place, with independent
predictors that are uniform in their bounds. --explained, --mean and --filled say more of them: guess, or take them from
a public source, never from the records you mean to fit. People mostly stand in the middle of bounds, and their columns
go together, so such a plan is a best case. --public is a CSV file of similar records that are public, whose moments
say all of this; it must not be, or come from, the records you mean to fit.

examples:
  python -m dpreg plan --bounds bounds.yml --target income --n 5000 --epsilon 0.1 1 10
  python -m dpreg plan --bounds bounds.yml --target income --n 5000 --epsilon 1 --for-error 0.05 --compare
  python -m dpreg plan --bounds bounds.yml --target income --n 5000 --epsilon 1 --delta 1e-6 --public last_census.csv

columns: expected error of the private fit; what of it is due to the noise, and its standard error over the simulated
draws; the same to first order, which can be trusted where a star does not follow; and how far the noise moves a
prediction, in units of the target.

exit code: 0 if the plan was printed; 2 for bad use, or if no epsilon reaches the error."""

EXPLAINED, FILLED = 0.5, 1.0  # unless said otherwise


@checked
def add_to(parts: Any) -> None:
    """Add the command to the parser of `dpreg`.

    Parameters
    ----------
    parts : what `argparse.ArgumentParser.add_subparsers` returns

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> add_to(parser.add_subparsers())
    >>> parser.parse_args(["plan", "--bounds", "b.yml", "--target", "y", "--n", "9", "--epsilon", "1"]).n
    9
    """
    style = argparse.RawDescriptionHelpFormatter
    parser = parts.add_parser("plan", help="its error, ahead", description=ABOUT, epilog=AFTER, formatter_class=style)
    add = parser.add_argument
    add("--bounds", type=Path, required=True, metavar="FILE", help="public bounds of the columns")
    add("--target", required=True, metavar="NAME", help="the column to predict")
    add("--n", type=int, required=True, help="number of records")
    add("--epsilon", type=float, nargs="+", default=[], help="one or more budgets")
    add("--for-error", type=float, metavar="E", help="also the epsilon at which noise adds no more than this")
    add("--delta", type=float, default=0.0, help="the chance that Gaussian noise spends beside (default: none)")
    add("--public", type=Path, metavar="FILE", help="public records of the same kind, in place of the three guesses:")
    add("--explained", type=float, metavar="R2", help="R^2 without privacy, a guess (default: 0.5)")
    add("--mean", type=float, help="mean of the target, a guess (default: the middle of its bounds)")
    add("--filled", type=float, help="part of their bounds that predictors fill, a guess (default: 1)")
    add("--neighbours", choices=("replace", "add_remove"), default="replace", help="(default: replace)")
    add("--compare", action="store_true", help="also what other choices would give")


@checked
def tables(given: argparse.Namespace) -> str:
    """Return the tables that the parsed command line asks for.

    Examples
    --------
    >>> tables(argparse.Namespace(bounds=Path("nowhere.json")))
    Traceback (most recent call last):
    dpreg.checks.InputError: nowhere.json cannot be read (FileNotFoundError): give a YAML, JSON or TOML file
    """
    ends = files.read(given.bounds)
    response = ends.pop(given.target, None)
    if response is None or not ends:
        raise InputError(f"{given.bounds} must have bounds of {given.target}, and of a predictor: add them")
    if not given.epsilon and (given.compare or given.for_error is None):
        raise InputError("there is no --epsilon, which only --for-error alone can do without: give one or more")
    domain = files.box(ends, response)
    known: dict[str, Any] = {"moments": _moments(given, domain), "neighbours": given.neighbours}
    if given.delta:
        known |= {"mechanism": "gaussian", "delta": given.delta}
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


def _moments(given: argparse.Namespace, domain: Box) -> FloatArray:
    """Return the moments of the public records, or those of the guesses."""
    guesses = {name: getattr(given, name) for name in ("explained", "mean", "filled")}
    if given.public is None:
        middle = sum(domain.response) / 2
        mean = (middle if given.mean is None else given.mean) - middle
        explained, filled = given.explained, given.filled
        return plan.stand_in(
            domain,
            EXPLAINED if explained is None else explained,
            mean / domain.half_width,
            FILLED if filled is None else filled,
        )
    if named := [f"--{name}" for name, one in guesses.items() if one is not None]:
        raise InputError(f"--public is given, and says all that {' and '.join(named)} would: leave one of them out")
    X, y = files.records(given.public, list(domain.names), given.target)
    return moments(X, y, domain.centred) / checks.count(len(y), "the number of public records", 2)


def _table(rows: dict[str, plan.Forecast], domain: Box) -> str:
    wide = max(map(len, rows))
    lines = [f"{'':{wide}}  {'error':>8}  {'by noise':>8}  {'+-':>8}  {'1st order':>9}  {'moves':>8}"]
    for name, row in rows.items():
        first = f"{row.first_order:.3g}{'' if row.near else '*'}"
        numbers = f"{row.private:8.3f}  {row.excess:8.3g}  {row.standard_error:8.1g}  {first:>9}"
        lines.append(f"{name:{wide}}  {numbers}  {row.shift * domain.half_width:8.3g}")
    return "\n".join([*lines, f"without privacy the error is {next(iter(rows.values())).without:.3f}"])
