"""Densities of one released coefficient: against many releases, and the losses that follow from them."""

from dataclasses import replace

import numpy as np
import pytest

from dpreg.audit import privacy_loss
from dpreg.audit.declared import MECHANISMS
from dpreg.audit.privacy_loss import audit_privacy_loss, quadratic_density
from dpreg.audit.statement import Setting, cube
from dpreg.pipeline import laws, objective, release, repair, solve

RNG = np.random.default_rng(0)
FAST = ["functional, Taylor", "objective perturbation"]
DENSE = [name for name, declared in MECHANISMS.items() if declared.density]
X, Y = np.array([[1.0], [0.5], [-0.7]]), np.array([0.8, 0.4, -0.9])
DRAWS = 40_000


def shares(log, grid):
    """Probabilities between the points of a grid, from the density there."""
    density = np.exp(log)
    return (density[1:] + density[:-1]) / 2 * np.diff(grid)


def test_the_density_of_the_functional_mechanism_is_that_of_its_releases(monkeypatch):
    """Five standard errors, and two per cent for the grid of the integral."""
    grid = np.linspace(-2.0, 2.0, 801)
    monkeypatch.setattr(privacy_loss, "OUTPUTS", grid)
    box = cube(1, False)
    f, law = objective.linear(X, Y, box), laws.functional(box, 2.0)
    *log, zero = quadratic_density(f, law)
    theta = solve.minimise(repair.lift(release.perturb(f, law, 1, draws=(DRAWS,)), law))[:, 0]
    said = shares(log, grid).reshape(8, 100).sum(axis=1)
    theta, none = theta[theta != 0], (theta == 0).mean()
    seen = np.histogram(theta, grid[::100])[0] / DRAWS
    assert seen == pytest.approx(said, rel=0.02, abs=5 * np.sqrt(0.25 / DRAWS))
    assert none == pytest.approx(np.exp(zero), rel=0.02, abs=5 * np.sqrt(0.25 / DRAWS))
    assert none > 0.05  # the atom is seen


@pytest.mark.audit
def test_the_density_of_objective_perturbation_is_one_in_all(monkeypatch):
    declared = MECHANISMS["objective perturbation"]
    grid = np.linspace(-400.0, 400.0, 400_001)
    monkeypatch.setattr(privacy_loss, "OUTPUTS", grid)
    setting = Setting(declared.domain(1, False), 2.0, "replace")
    log = declared.density(X, np.array([1.0, 1.0, 0.0]), setting)
    assert shares(log, grid).sum() == pytest.approx(1.0, abs=1e-3)
    monkeypatch.undo()
    drawn = [declared.release(X, np.array([1.0, 1.0, 0.0]), setting, k)[0][0] for k in range(1000)]
    middle = np.abs(grid[1:]) < 2
    said = shares(log, grid)[middle].sum()
    assert (np.abs(drawn) < 2).mean() == pytest.approx(said, abs=5 * np.sqrt(0.25 / 1000))


@pytest.mark.parametrize("name", [pytest.param(k, marks=() if k in FAST else pytest.mark.audit) for k in DENSE])
def test_no_output_tells_more_than_epsilon(name):
    found = audit_privacy_loss(MECHANISMS[name], RNG)
    assert not [finding for finding in found if finding.refuted]
    if MECHANISMS[name].domain(1, False).p == 1:
        assert len(found) == 4
        assert all(finding.found > 0.3 * finding.claimed for finding in found), "nothing is looked at"


def test_a_mechanism_that_spends_more_than_it_says_is_found():
    """With the noise of twice epsilon, the loss is up to twice what the ledger says."""
    declared = MECHANISMS["functional, Taylor"]

    def density(X, y, setting):
        return declared.density(X, y, replace(setting, epsilon=2 * setting.epsilon))

    found = audit_privacy_loss(replace(declared, density=density), RNG)
    assert all(finding.refuted for finding in found)
    assert all(1.5 < finding.found / finding.claimed <= 2 for finding in found)
    assert all("theta = " in finding.event and "beside" in finding.pair for finding in found)


def test_what_has_no_density_is_left_to_the_other_layers():
    assert audit_privacy_loss(MECHANISMS["DPME"], RNG) == []
    assert audit_privacy_loss(MECHANISMS["recipe of the code"], RNG) == []
