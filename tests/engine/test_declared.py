"""The table of mechanisms is complete, and the audit runs what it is asked for."""

import importlib
import inspect
import pkgutil
import re

import pytest

import dpreg
from dpreg.audit import declared
from dpreg.audit.declared import LAYERS, MECHANISMS, audit
from tests.engine.payers import WAYS
from tests.engine.test_every_law import classes

# What makes the noise that is paid for: the mechanism that stands for it.
NOISE = {
    "laws.functional": "functional",
    "words.law_for": "PrivateLinearRegression, mean first",
    "best_scales.optimal": "best scales",
    "budget_split.dpba": "DPBA",
    "budget_split.dpc": "DPC",
    "mean_first.mean_first": "mean first",
    "wishart.difference": "Wishart difference",
    "gaussian.for_rho": "Gaussian",
    "gaussian.for_delta": "Gaussian, delta",
    "k_norm.hull": "hull K-norm",
    "irls.gaussian": "IRLS, Gaussian",
    "irls.pure": "IRLS, Wishart difference",
    "irls.degrees": "IRLS, many degrees",
}
NO_PROMISE = {
    "laws.unit_scales": "noise of size one, to be scaled",
    "irls.exact": "no noise",
    "irls.printed": "its guarantee is false, and it says so",
}
LAWS = {name.rpartition(".")[2] for name in classes()} | {"Law", "Plan"}


def makers():
    """All public functions that return noise, as module.name."""
    for info in pkgutil.walk_packages(dpreg.__path__, "dpreg."):
        if info.name.startswith("dpreg.audit"):
            continue
        module = importlib.import_module(info.name)
        for name, thing in vars(module).items():
            if inspect.isfunction(thing) and thing.__module__ == info.name and not name.startswith("_"):
                back = thing.__annotations__.get("return", "")
                if (words := set(re.findall(r"\w+", back))) and words <= LAWS:
                    yield f"{info.name.rpartition('.')[2]}.{name}"


def test_every_release_is_declared():
    found, known = set(makers()), set(NOISE) | set(NO_PROMISE)
    assert not found - known, (
        f"state {found - known} in dpreg/audit, and name them in NOISE, or in NO_PROMISE with a reason, above"
    )
    assert not known - found, "NOISE or NO_PROMISE names what no longer exists"
    stated = {way.declared for way in WAYS.values()} | set(NOISE.values())
    assert stated <= set(MECHANISMS), "these stand in no module of dpreg/audit"


def test_all_is_all(monkeypatch):
    """Every mechanism meets every layer, in order, each with a stream of its own."""
    seen = []

    def layer(mechanism, rng):
        seen.append((mechanism.name, rng.random()))
        return []

    monkeypatch.setattr(declared, "LAYERS", dict.fromkeys(LAYERS, layer))
    report = audit()
    assert [name for name, _ in seen] == [name for name in MECHANISMS for _ in LAYERS]
    assert len({draw for _, draw in seen}) == len(seen)
    assert (report.findings, report.seed, report.seconds > 0) == ((), 0, True)
    everything = dict(zip([(name, k) for name in MECHANISMS for k in LAYERS], [draw for _, draw in seen], strict=True))
    seen.clear()
    audit("DPC", ["noise law"])
    assert seen == [("DPC", everything["DPC", "noise law"])]


def test_findings_are_the_same_every_time():
    one, other = (audit("DPC", "noise law", quick=True, random_state=3) for _ in range(2))
    assert one.findings == other.findings
    assert {finding.subject for finding in one.findings} == {"DPC"}


@pytest.mark.thorough
def test_each_layer_says_its_name():
    report = audit("objective perturbation", [k for k in LAYERS if k != "noise law"], quick=True)
    assert {finding.check for finding in report.findings} == set(LAYERS) - {"noise law"}
    assert not report.refuted


@pytest.mark.thorough
@pytest.mark.parametrize("name", MECHANISMS)
def test_the_engine_is_sound(name):
    refuted = audit(name, quick=True, random_state=1).refuted
    assert not refuted, "\n".join(map(str, refuted))
