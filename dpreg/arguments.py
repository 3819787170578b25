"""What the annotations of a public function promise, kept where it is entered.

`checked` looks at each argument once: numbers become Python's own, arrays numpy's, and what is of another kind is
refused by name. Which numbers are allowed is for the function to say.
"""

from __future__ import annotations

import collections.abc as abc
import functools
import inspect
import math
import types
import typing
from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

import numpy as np

from dpreg import checks, limits
from dpreg.checks import InputError

REPEATS = 10**6  # of what takes milliseconds at least
F = TypeVar("F", bound=Callable[..., Any])
Check = Callable[[Any, str], Any]


class _Array:
    """Stands for arrays where annotations are read: numpy's own words for them are unions."""


class _Named:
    """Stands for arrays whose columns may have names."""


class _Anything:
    """Stands for what a function checks itself."""


# Names that are read as one thing, wherever they stand.
WORDS: dict[str, Any] = {
    "ArrayLike": _Named,
    "FloatArray": _Array,
    "RandomState": _Anything,
    "Bounds": _Anything,
}


def checked(function: F) -> F:
    """Return a function that checks its arguments by its annotations; of a class, its making and public methods do.

    Raises `InputError` for an argument of another kind; wrong numbers or names of arguments stay Python's TypeError.

    Examples
    --------
    >>> @checked
    ... def half(number: float) -> float:
    ...     return number / 2
    >>> half(np.float64(3)), half(number=1)
    (1.5, 0.5)
    """
    if isinstance(function, type):
        return cast(F, _checked_class(function))
    inner: Any = inspect.unwrap(function)
    rules: dict[str, Check] = {}  # of those arguments that have one
    places: list[tuple[str, Check | None]] = []
    rest: list[tuple[str, Check | None]] = []  # of all arguments beyond these
    known: list[bool] = []

    def learn() -> None:  # at the first call, when every name of the module is there
        known.append(True)
        hints = typing.get_type_hints(inner, {**inner.__globals__, **WORDS})
        for name, parameter in inspect.signature(function).parameters.items():
            rule = _named_rule(name, hints[name]) if name in hints else None
            if parameter.kind is parameter.VAR_POSITIONAL:
                rest.append((name, rule))
            elif parameter.kind is not parameter.VAR_KEYWORD:
                if rule is not None:
                    rules[name] = rule = _sparing(rule, parameter.default)
                if parameter.kind is not parameter.KEYWORD_ONLY:
                    places.append((name, rule))

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not known:
            learn()
        each = places if len(args) <= len(places) or not rest else places + rest * (len(args) - len(places))
        given = [value if rule is None else rule(value, name) for value, (name, rule) in zip(args, each, strict=False)]
        for name, value in kwargs.items():
            if name in rules:
                kwargs[name] = rules[name](value, name)
        return function(*given, *args[len(given) :], **kwargs)

    for name in {"cache_clear", "cache_info"} & set(dir(function)):
        setattr(wrapper, name, getattr(function, name))
    return cast(F, wrapper)


def _named_rule(name: str, hint: Any) -> Check | None:
    return NAMES[name] if name in NAMES and (hint is int or typing.get_origin(hint) is tuple) else _rule(hint)


def _checked_class(kind: Any) -> Any:
    if "__init__" in vars(kind):  # else its base has done it
        kind.__init__ = checked(kind.__init__)
    for name, method in list(vars(kind).items()):
        if inspect.isfunction(method) and not name.startswith("_"):
            setattr(kind, name, checked(method))
    return kind


def _sparing(rule: Check, default: Any) -> Check:
    """Return the rule, but for the default itself."""
    if default is inspect.Parameter.empty:
        return rule
    return lambda value, name: value if value is default else rule(value, name)


def _rule(hint: Any) -> Check | None:
    """Return what checks and converts a value of this type; None if nothing can be wrong."""
    hint = _meant(hint)
    origin = typing.get_origin(hint)
    if hint in (Any, object, _Anything) or isinstance(hint, TypeVar):
        return None
    if origin in (typing.Union, types.UnionType):
        return _union(typing.get_args(hint))
    if origin is Literal:
        return functools.partial(_choice, typing.get_args(hint))
    if hint in PLAIN:
        return PLAIN[hint]
    if origin is np.ndarray or hint is np.ndarray:
        return _array
    if origin is abc.Callable:
        return _callable
    if origin in LISTS:
        return functools.partial(_list, _element(hint), LISTS[origin])
    if origin in (dict, abc.Mapping):
        return functools.partial(_mapping, _rule(typing.get_args(hint)[1]))
    kind = origin or hint
    return functools.partial(_instance, (kind,)) if isinstance(kind, type) and kind is not abc.Hashable else None


def _meant(hint: Any) -> Any:
    """Return what an alias stands for; from numpy 2.5 its own words for arrays are aliases in the language's sense."""
    alias = typing.get_origin(hint) or hint
    if not hasattr(alias, "__value__"):
        return hint
    return alias.__value__[typing.get_args(hint)] if typing.get_args(hint) else alias.__value__


def _element(hint: Any) -> Check | None:
    found = [one for one in typing.get_args(hint) if one is not ...]
    return _rule(found[0]) if len(set(map(str, found))) == 1 else None


def _union(parts: tuple[Any, ...]) -> Check | None:
    rest = [part for part in parts if part is not type(None)]
    optional = len(rest) < len(parts)
    plain = all(isinstance(part, type) and (part is str or part not in PLAIN) for part in rest)
    rules = [functools.partial(_instance, tuple(rest))] if plain else [_rule(part) for part in rest]
    if None in rules:
        return None
    own = {} if plain else dict(zip(rest, rules, strict=True))
    words = next(
        (k for k, part in enumerate(rest) if typing.get_origin(part) is Literal), 0
    )  # whose error helps a word

    def check(value: Any, name: str) -> Any:
        if optional and value is None:
            return None
        if type(value) in own:  # a truth value is a number too, and stays what it is
            return cast(Check, own[type(value)])(value, name)
        errors = []
        for rule in rules:
            try:
                return cast(Check, rule)(value, name)
            except InputError as error:
                errors.append(error)
        raise errors[words if isinstance(value, str) else 0]

    return check


def _instance(kinds: tuple[type, ...], value: Any, name: str) -> Any:
    if not isinstance(value, kinds):
        checks.instance(value, kinds, name)
    return value


def _choice(allowed: tuple[Any, ...], value: Any, name: str) -> Any:
    return checks.choice(value, allowed, name)


def _callable(value: Any, name: str) -> Any:
    if not callable(value):
        raise InputError(f"{name} is of type {type(value).__name__}: give a function")
    return value


def _float(value: Any, name: str) -> float:
    """Return a number as Python has it; infinite ones are for the function to judge."""
    if type(value) is float and value == value:
        return value  # most calls
    number = checks.real(value)
    if number != number or (math.isinf(number) and not isinstance(value, float | np.floating | np.ndarray)):
        raise InputError(f"{name} is {checks.shown(value)}: give one finite number")
    return value if type(value) is int else number  # whole numbers are shown as they were given


def _array(value: Any, name: str) -> Any:
    """Return an array of numbers."""
    if type(value) is np.ndarray and value.dtype.kind in "biuf":
        return value
    return value if hasattr(value, "__dask_graph__") else checks.numeric(value, name)  # what is lazy stays so


def _named(value: Any, name: str) -> Any:
    """Return an array of numbers, or what it came from if that has names."""
    array = _array(value, name)
    return value if hasattr(value, "index") and not isinstance(value, list | tuple | range) else array


def _list(element: Check | None, kind: type, value: Any, name: str) -> Any:
    if isinstance(value, np.ndarray) and value.ndim:
        value = value.tolist()
    series = hasattr(value, "tolist") and hasattr(value, "index") and not isinstance(value, str)
    if not isinstance(value, list | tuple | range) and not series:
        raise InputError(f"{name} is of type {type(value).__name__}: give list or tuple")
    return kind(value if element is None else [element(one, f"an entry of {name}") for one in value])


def _mapping(element: Check | None, value: Any, name: str) -> Any:
    if not isinstance(value, abc.Mapping):
        raise InputError(f"{name} is of type {type(value).__name__}: give a dict")
    return value if element is None else {key: element(one, f"an entry of {name}") for key, one in value.items()}


# One word for one thing: what these are, they are in every function.
NAMES: dict[str, Check] = {
    "p": lambda value, name: checks.count(value, name, most=limits.WIDE),
    "jobs": limits.jobs,
    "repeats": lambda value, name: checks.count(value, name, most=REPEATS),
    "shape": limits.shape,
    "draws": limits.shape,
}
LISTS: dict[Any, type] = {abc.Sequence: list, abc.Collection: list, list: list, tuple: tuple}
PLAIN: dict[Any, Check] = {
    float: _float,
    int: checks.whole,
    bool: checks.flag,
    str: functools.partial(_instance, (str,)),
    _Array: _array,
    _Named: _named,
}
