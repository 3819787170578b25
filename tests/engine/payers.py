"""Whoever takes a budget: tables of tests that claim to hold all of them to something are compared with this."""

import importlib
import inspect
import pkgutil

import dpreg


def takers():
    """All public functions that take a budget, as module.name."""
    for info in pkgutil.walk_packages(dpreg.__path__, "dpreg."):
        module = importlib.import_module(info.name)
        stem = info.name.rpartition(".")[2]
        for name, thing in vars(module).items():
            if getattr(thing, "__module__", None) != module.__name__ or name.startswith("_"):
                continue
            parts = {name: thing} if not inspect.isclass(thing) else {f"{name}.{k}": v for k, v in vars(thing).items()}
            for path, function in parts.items():
                public = inspect.isfunction(function) and not path.rpartition(".")[2].startswith("_")
                if public and path != "pay" and "budget" in inspect.signature(function).parameters:
                    yield f"{stem}.{path}"
