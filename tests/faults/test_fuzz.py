"""Every argument of every public function meets some hundred and forty hostile values: none is misread or paid for."""

import importlib
import itertools
import pkgutil
import warnings
import zlib

import calls
import fuzzing
import hostile
import numpy as np
import pytest
from test_bad_input import public_of

from dpreg import checks
from dpreg.checks import InputError
from dpreg.pipeline import budget as budgets
from dpreg.pipeline.budget import Budget
from dpreg.pipeline.ledger import Spend

FAST = 5  # every so many values are tried when time is short: others for each argument, and all of them in `make audit`
JUDGE = fuzzing.Judge(calls.ALIASES, frozenset(calls.GAPS))


def place(function):
    return f"{function.__module__}.{function.__qualname__}"


CALLS = list(calls.calls())
ARGUMENTS = [(number, name) for number, (function, _) in enumerate(CALLS) for name in fuzzing.parameters(function)]
IDS = [f"{number}-{place(CALLS[number][0])}-{name}" for number, name in ARGUMENTS]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """What takes a folder takes an empty name for the one it stands in."""
    monkeypatch.chdir(tmp_path)


def met(number, name, parts, part):
    """What is wrong with what one argument's hostile values do."""
    function, arguments = CALLS[number]
    shift = zlib.crc32(f"{place(function)}.{name}".encode())
    found = {}
    for k, (label, value) in enumerate(hostile.HOSTILE.items()):
        if (k + shift) % parts == part and label not in calls.VALID.get(name, ()):
            found[label] = JUDGE.verdict(function, arguments, name, value)
    return {label: wrong for label, wrong in found.items() if wrong}


@pytest.mark.thorough
@pytest.mark.parametrize(("number", "name"), ARGUMENTS, ids=IDS)
def test_hostile_values(number, name):
    assert met(number, name, FAST, 0) == {}


@pytest.mark.audit
@pytest.mark.parametrize(("number", "name"), ARGUMENTS, ids=IDS)
def test_all_other_hostile_values(number, name):
    assert [met(number, name, FAST, part) for part in range(1, FAST)] == [{}] * (FAST - 1)


@pytest.mark.filterwarnings("ignore::dpreg.checks.PrivacyLeakWarning")
@pytest.mark.filterwarnings("ignore::dpreg.checks.BrokenGuaranteeWarning")
@pytest.mark.parametrize(
    "number", range(len(CALLS)), ids=[f"{k}-{place(function)}" for k, (function, _) in enumerate(CALLS)]
)
def test_the_call_itself_is_valid(number):
    """Otherwise every hostile value would be refused for another reason."""
    function, arguments = CALLS[number]
    given = {name: fuzzing.made(value) for name, value in arguments.items()}
    try:
        result = fuzzing.invoke(function, given)
    except checks.DataError:
        assert place(function) in calls.NO_FILES
    else:
        assert fuzzing.broken(result) is None or place(function) in calls.GAPS
        assert place(function) not in calls.NO_FILES


def test_every_public_function_has_a_call():
    found = set()
    for package in map(importlib.import_module, calls.PACKAGES):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not info.ispkg and not info.name.startswith((*calls.LATER, *calls.CHECKS)):
                stem = info.name.rpartition(".")[0]
                found |= {f"{stem}.{name}" for name in public_of(importlib.import_module(info.name))}
    missing = found - {place(function) for function, _ in CALLS} - set(calls.EXEMPT)
    assert missing == set(), "give a valid call of these in tests/faults/calls.py, or say in EXEMPT why there is none"
    assert set(calls.EXEMPT) <= found, "these no longer exist"
    assert all(calls.EXEMPT.values())


# The judge judged: each of these functions has a fault of one kind, and is sound otherwise.


def untyped(number: float):
    return 1.0 / number


def paid_before_refused(epsilon: float, budget: Budget | None = None):
    cost = Spend("a count", "Laplace", "replace", "L1", 1.0, 1.0, 1.0)
    budgets.pay(cost, lambda state: 0.0, None, budget)
    return checks.budget(epsilon)


def counts_down(number: int):
    checks.count(number, "number", 0)
    while number:
        number -= 1
    return number


def takes_words_for_flags(yes: bool):
    return 1.0 if yes else 0.0


def mute(number: float):
    if checks.real(number) != 1.0:
        raise InputError("this cannot be used")
    return 1.0


def points_elsewhere(number: float):
    if checks.real(number) != 1.0:
        raise InputError("epsilon is wrong: give another")
    return 1.0


def answers_nan(number: float):
    checks.finite(number, "number")
    return np.nan if number == 2.0 else 1.0


def warns(number: float):
    if checks.finite(number, "number") == 2.0:
        warnings.warn("overflow encountered", RuntimeWarning, stacklevel=1)
    return 1.0


def enormous(number: int):
    return np.broadcast_to(1.0, checks.count(number, "number", 0, 10**9))


def sound(number: float, budget: Budget | None = None):
    return checks.positive(number, "number")


FAULTS = {
    untyped: ("number", "ZeroDivisionError"),
    paid_before_refused: ("epsilon", "charged and refused"),
    counts_down: ("number", "it counts one by one"),
    takes_words_for_flags: ("yes", "a silent answer"),
    mute: ("number", "no mend"),
    points_elsewhere: ("number", "not about number"),
    answers_nan: ("number", "NaN"),
    warns: ("number", "RuntimeWarning"),
    enormous: ("number", "100000000 numbers"),
}
ONE = {"number": 1, "epsilon": 1.0, "yes": True}


def verdicts(function, name):
    given = {key: value for key, value in ONE.items() if key in fuzzing.parameters(function)}
    return [JUDGE.verdict(function, given, name, value) for value in hostile.HOSTILE.values()]


@pytest.mark.thorough
@pytest.mark.parametrize("function", FAULTS)
def test_the_judge_notices(function):
    name, wrong = FAULTS[function]
    assert any(found is not None and found.startswith(wrong) for found in verdicts(function, name))


def test_the_judge_lets_the_sound_pass():
    assert set(verdicts(sound, "number")) == {None}


@pytest.mark.thorough
def test_hostile_values_are_fresh_and_told_apart():
    for value in hostile.HOSTILE.values():
        first, other = value.make(), value.make()
        assert type(first) is type(other)
    spent = hostile.HOSTILE["generator"]
    assert list(itertools.islice(spent.make(), 3)) == list(itertools.islice(spent.make(), 3)) == [0, 1]
