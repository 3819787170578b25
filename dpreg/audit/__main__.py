"""Audit a function from the command line: `python -m dpreg.audit --help` says how."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dpreg.audit import black_box
from dpreg.audit.findings import Report
from dpreg.audit.pairs import Pair, standard
from dpreg.checks import InputError

BAD_USE = 2

ABOUT = """\
Try to refute the claim that module:function is (epsilon, delta)-differentially private, from its releases alone.
function(X, y, seed) fits on these records with this seed, and returns what is released: a fitted model, a number, an
array, a list or a dict. The module is looked for in this folder too."""

AFTER = """\
examples:
  python -m dpreg.audit mine:fit --epsilon 1 --bounds=-1:1,0:10 --response=0:1
  python -m dpreg.audit mine:classify --epsilon 1 --norm 1 --columns 3 --labels 0,1 --draws 20000 --jobs 2
(write --bounds=-1:1 with the sign of equality, or a number below zero is taken for an option)

exit code: 0 if the claim was not refuted, which does not prove it; 1 if it was; 2 for bad use."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit a function, print the report, and return the exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the command line if missing.

    Returns
    -------
    int
        0 not refuted, 1 refuted; bad use exits with 2.

    Examples
    --------
    >>> main(["statistics:mean", "--epsilon", "1", "--bounds=0:1", "--response=0:1", "--labels=0,1"])
    Traceback (most recent call last):
    SystemExit: 2
    """
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        make = _function(given.function)
        if given.json and not given.json.parent.is_dir():
            raise InputError(f"there is no folder {given.json.parent}: give --json a file in one that exists")
        if given.json and given.json.is_dir():
            raise InputError(f"{given.json} is a folder: give --json a file")
        if given.norm and not given.columns:
            raise InputError("--norm does not say how many predictors there are: give --columns too")
        report = black_box.estimator(
            make,
            _pairs(given),
            given.epsilon,
            delta=given.delta,
            draws=given.draws,
            confidence=given.confidence,
            random_state=given.seed,
            n_jobs=given.jobs,
            stop_early=given.stop_early,
        )
    except InputError as error:
        parser.error(str(error))
    print(report)
    if given.json:
        given.json.write_text(_json(report), encoding="utf-8")
    return int(bool(report.refuted))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m dpreg.audit", description=ABOUT, epilog=AFTER, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("function", metavar="module:function")
    add("--epsilon", type=float, required=True, help="what is claimed")
    add("--delta", type=float, default=0.0, help="what is claimed (default: 0)")
    add("--bounds", type=_intervals, metavar="LOW:HIGH,...", help="of the predictors, one interval each")
    add("--norm", type=float, help="in place of --bounds: the largest Euclidean norm of a row")
    add("--columns", type=int, help="number of predictors, with --norm, or with one interval for all")
    add("--response", type=_intervals, metavar="LOW:HIGH", help="bounds of the response of a regression")
    add("--labels", type=_numbers, metavar="A,B", help="the two labels of a classifier")
    add("--neighbours", choices=("replace", "add_remove"), default="replace", help="(default: replace)")
    add("--within", action="store_true", help="leave out records beyond the bounds")
    add("--both", action="store_true", help="leave out pairs where one record decides whether both labels are there")
    add("--draws", type=int, default=4000, help="releases per data set and pair (default: 4000)")
    add("--confidence", type=float, default=0.95, help="over the whole audit (default: 0.95)")
    add("--seed", type=int, help="to get the same audit again")
    add("--jobs", type=int, default=1, help="workers (default: 1)")
    add(
        "--stop-early",
        action="store_true",
        help="try few draws first, go on with the best pairs, and stop where they refute",
    )
    add("--json", type=Path, metavar="FILE", help="write all findings to a file")
    return parser


def _numbers(text: str) -> list[float]:
    return [int(part) if part.strip().lstrip("+-").isdigit() else float(part) for part in text.split(",")]


def _intervals(text: str) -> list[tuple[float, float]]:
    try:
        return [(float(low), float(high)) for low, high in (part.split(":") for part in text.split(","))]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of intervals: give LOW:HIGH,LOW:HIGH") from None


def _function(name: str) -> Callable[..., Any]:
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise InputError(f"the function is {name!r}: give module:function")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module), function)
    except Exception as error:  # a module may raise anything, and must not exit as if it had been refuted
        raise InputError(f"{name} was not found ({error}): give module:function, importable from here") from None
    if not callable(found):
        raise InputError(f"{name} is of type {type(found).__name__}: give a function")
    made: Callable[..., Any] = found
    return made


def _pairs(given: argparse.Namespace) -> list[Pair]:
    bounds = given.bounds and tuple([list(ends) for ends in zip(*given.bounds, strict=True)])
    if given.response and len(given.response) != 1:
        raise InputError(f"--response has {len(given.response)} intervals: give one")
    return standard(
        bounds,
        given.response and given.response[0],
        labels=given.labels,
        data_norm=given.norm,
        d=given.columns,
        neighbours=given.neighbours,
        beyond=not given.within,
        both=given.both,
    )


def _json(report: Report) -> str:
    findings = [{**asdict(one), "refuted": one.refuted} for one in report.findings]
    content = {"refuted": bool(report.refuted), "summary": str(report), "seed": report.seed, "findings": findings}
    return json.dumps(content, indent=1) + "\n"


if __name__ == "__main__":
    try:
        code = main()
    except Exception:  # Python would exit with 1, which means refuted
        traceback.print_exc()
        code = BAD_USE
    sys.exit(code)
