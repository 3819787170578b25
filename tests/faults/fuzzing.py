"""The judge of the fuzz: a hostile value must be refused in words that help, or answered, never silently misread."""

import dataclasses
import functools
import inspect
import itertools
import re
import sys
import types
import warnings
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from dpreg import checks
from dpreg.checks import BudgetError, DataError, IndefiniteError, InputError, SolverError
from dpreg.pipeline.budget import Budget

TYPED = (InputError, BudgetError, IndefiniteError, SolverError, DataError)
MEND = "give pass drop choose use add match scale encode index trim ask restore check build stop certify leave release"
MEND = re.compile(rf"\b({MEND.replace(' ', '|')})\b")
LINES = 1_000_000  # of Python that a call with a huge number may run: more, and it counts one by one
ENTRIES = 10**7  # of an answer to a huge number


class Hang(BaseException):
    """A call does not come to an end: no error that a function might catch."""


def bounded(call):
    """Return what a call returns, or raise `Hang` when it has run too many lines: no clock is read."""
    count = itertools.count()

    def line(frame, event, arg):
        if next(count) > LINES:
            raise Hang
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        return call()
    finally:
        sys.settrace(before)


def parameters(function):
    """The parameters of a function as it was written, without self."""
    found = inspect.signature(function).parameters
    return {
        name: one
        for name, one in found.items()
        if name not in ("self", "cls") and one.kind is not inspect.Parameter.VAR_KEYWORD  # those names are the caller's
    }


def made(value):
    """A fresh argument: functions make them; what has to be a function is made by one too."""
    return value() if isinstance(value, types.FunctionType | type) or hasattr(value, "func") else value


def invoke(function, given):
    """Call a function with arguments by name, and those of * and ** as they want them."""
    kinds = inspect.signature(function).parameters
    stars = [name for name, one in kinds.items() if one.kind is inspect.Parameter.VAR_POSITIONAL]
    more = [name for name, one in kinds.items() if one.kind is inspect.Parameter.VAR_KEYWORD]
    named = {name: value for name, value in given.items() if name not in (*stars, *more)}
    spread = [value for name in stars if name in given for value in given[name]]
    if spread:
        front = [named.pop(name) for name in itertools.takewhile(lambda name: name not in stars, kinds)]
        spread = [*front, *spread]
    for name in more:
        named |= given.get(name, {})
    result = function(*spread, **named)
    if isinstance(result, Iterator):
        return list(itertools.islice(result, 100))
    return result


def accepted(annotation, function):
    """As which kinds of values an argument with this annotation may be taken; None if as anything."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    kinds = set()
    for part in re.split(r"\s*\|\s*(?![^\[]*\])", text):
        word = part.split("[")[0].rpartition(".")[2]
        if word in KINDS:
            kinds |= KINDS[word]
        elif word in ("Any", "object", "T", "inspect._empty", "_empty", "RandomState", "Bounds"):
            return None
        else:
            kinds |= {"object", *ALIASES.get(word, ())}
    return kinds


KINDS = {
    "None": {"none"},
    "bool": {"bool"},
    "int": {"int"},
    "float": {"float"},
    "str": {"text"},
    "Path": {"text"},
    "Literal": {"text"},
    "ArrayLike": {"array", "frame"},
    "FloatArray": {"array", "frame"},
    "NDArray": {"array", "frame"},
    "Codes": {"array"},
    "Labels": {"array", "mapping"},
    "Sequence": {"list", "array", "iterator"},
    "Collection": {"list", "array", "text", "mapping"},
    "Iterable": {"list", "iterator"},
    "tuple": {"list", "array"},
    "list": {"list", "array"},
    "dict": {"mapping"},
    "Mapping": {"mapping"},
    "Callable": {"function"},
    "slice": {"object"},
    "Hashable": {"object", "int", "text", "none"},
}
WORDS = ("Neighbours", "Convention", "Mode", "Split", "Country", "Population", "Metric", "Kind", "Verdict", "Solver")
FUNCTIONS = ("Predict", "Error", "Measure", "Blocks", "Sums")
ALIASES = dict.fromkeys(WORDS, frozenset({"text"})) | dict.fromkeys(FUNCTIONS, frozenset({"function"})) | {
    "Mechanism": {"text", "function"},
    "LabelMechanism": {"text", "function"},
    "Add": {"function"},
    "Outcome": {"text", "none"},
    "Weights": {"list", "array"},
    "Lines": {"list"},
    "DataFrame": {"frame"},
    "Series": {"frame", "list"},
}  # fmt: skip


def broken(value, depth=0):
    """What is wrong with an answer: numbers that are no numbers, or far too many of them."""
    if isinstance(value, float | np.floating):
        return "NaN" if np.isnan(value) else None
    if isinstance(value, np.ndarray):
        if value.size > ENTRIES:
            return f"{value.size} numbers"
        return "NaN" if value.dtype.kind == "f" and np.isnan(value).any() else None
    if depth > 3:
        return None
    if isinstance(value, Mapping):
        return next((found for one in value.values() if (found := broken(one, depth + 1))), None)
    if isinstance(value, tuple | list):
        return next((found for one in value[:50] if (found := broken(one, depth + 1))), None)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = (getattr(value, field.name) for field in dataclasses.fields(value))
        return next((found for one in own if (found := broken(one, depth + 1))), None)
    if isinstance(value, pd.DataFrame):
        return broken(
            {name: value[name].to_numpy() for name in value.columns if not isinstance(value[name], pd.DataFrame)},
            depth + 1,
        )
    return None


@dataclasses.dataclass
class Judge:
    """Judges calls. What errors may call an argument, and which functions say NaN for what does not exist."""

    aliases: Mapping = dataclasses.field(default_factory=dict)
    gaps: frozenset = frozenset()

    def verdict(self, function, arguments, name, hostile):
        """Return what is wrong with what a function does with a hostile value for one argument; None if nothing."""
        found = parameters(function)
        given = {key: made(value) for key, value in arguments.items()}
        if "budget" in found and name != "budget":
            given["budget"] = Budget(1e60, 0.9)
        budgets = [value for value in given.values() if isinstance(value, Budget)]
        given[name] = value = hostile.make()
        if found[name].kind is inspect.Parameter.VAR_POSITIONAL:
            given[name] = (value,)
        run = functools.partial(invoke, function, given)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "X has feature names")  # scikit-learn's own, for frames after arrays
            for quiet in (checks.PrivacyLeakWarning, checks.BrokenGuaranteeWarning):
                warnings.simplefilter("ignore", quiet)
            try:
                result = bounded(run) if hostile.huge else run()
            except TYPED as error:
                if callable(value) and "function" in (accepted(found[name].annotation, function) or ()):
                    return None  # what the user's own function says or returns is the user's
                return self.charged(budgets) or self.unhelpful(error, name)
            except Hang:
                return "it counts one by one"
            except Exception as error:
                if callable(value) and "function" in (accepted(found[name].annotation, function) or ()):
                    return None
                return f"{type(error).__name__}: {str(error)[:150]}"
            if wrong := self.silent(found[name], function, hostile, value):
                return wrong
            gap = broken(result)
            return None if gap == "NaN" and f"{function.__module__}.{function.__qualname__}" in self.gaps else gap

    def unhelpful(self, error, name):
        """What an error does not say: which argument it is about, and how to mend it."""
        text = str(error)
        if not MEND.search(text):
            return f"no mend: {text[:150]}"
        if isinstance(error, InputError) and not any(
            re.search(rf"\b{re.escape(word)}", text) for word in (name, *self.aliases.get(name, ()))
        ):
            return f"not about {name}: {text[:150]}"
        return None

    def charged(self, budgets):
        """Whether a refused release was paid for."""
        return "charged and refused" if any(budget.ledger.spends for budget in budgets) else None

    def silent(self, parameter, function, hostile, value):
        """Whether an answer took the value for what it is not."""
        kinds = accepted(parameter.annotation, function)
        if kinds and "function" in kinds and callable(value):
            return None
        return None if kinds is None or kinds & hostile.kinds else "a silent answer"
