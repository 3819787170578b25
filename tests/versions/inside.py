"""Run by test_versions.py in each environment: what is imported there is what its list says."""

import importlib
import os
import sys
from importlib.metadata import version
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version
from test_versions import DECLARED, ROOT, pinned

import dpreg
import lib

MODULES = {"pyyaml": "yaml", "scikit-learn": "sklearn", "vl-convert-python": "vl_convert"}


def test_this_is_the_listed_environment():
    for package in (dpreg, lib):
        assert Path(package.__file__).parent == ROOT / package.__name__
    pins = pinned(os.environ["VERSIONS"])
    for pin in [pin for name in pins for pin in pins[name] if pin.marker is None or pin.marker.evaluate()]:
        assert pin.specifier.contains(version(pin.name)), f"{pin}, but {version(pin.name)} is installed"
    for declared in DECLARED:
        name = canonicalize_name(declared.name)
        module = importlib.import_module(MODULES.get(name, name))
        said = getattr(module, "__version__", version(name))  # opendp says it nowhere else
        assert Version(said).release == Version(version(name)).release  # what comes after it is about packing
        assert Path(module.__file__).is_relative_to(sys.prefix)
