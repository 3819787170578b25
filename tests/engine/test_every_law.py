"""All laws of noise behave the same: drawn, stacked, scaled and priced as `laws.Law` says, and as large as they say."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import dpreg
from dpreg.mechanisms import gaussian, k_norm, mean_first, wishart
from dpreg.pipeline import laws, objective
from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.objective import Quadratic

BOX = Box([-1, -1], [1, 1], (-1, 1))
CONSTANT = Box([-1, -1], [1, 1], (-1, 1), intercept=True)
BALL = Ball([0, 0], 1, (-1, 1))
LINE = Box([-1], [1], (-1, 1), intercept=True)
rng = np.random.default_rng(0)
F = {
    box: objective.linear(rng.uniform(-1, 1, (30, box.d)), rng.uniform(-1, 1, 30), box)
    for box in (BOX, CONSTANT, BALL, LINE)
}
DRAWS = 20_000
ERRORS = 5  # standard errors: about one false alarm in a million comparisons


def first(domain, epsilon, neighbours):
    return mean_first.mean_first(domain, epsilon, 30 if neighbours == "replace" else None, neighbours=neighbours)


# What makes a law of each class, at epsilon one.
LAWS = {
    "laws.Scales": laws.functional,
    "wishart.WishartDifference": wishart.difference,
    "gaussian.Gaussian": gaussian.for_rho,  # at rho one
    "k_norm.Hull": k_norm.hull,
    "mean_first.MeanFirst": first,
}
PLACES = {"box": (BOX, "replace"), "public count": (CONSTANT, "replace"), "secret count": (CONSTANT, "add_remove")}
# Of a law that is not for all domains: those of its own.
OWN = {
    "k_norm.Hull": {
        "ball": (BALL, "replace"), "ball, add or remove": (BALL, "add_remove"), "public count": (LINE, "replace")
    },
}  # fmt: skip
CASES = [
    pytest.param(make, *place, id=f"{name}, {key}")
    for name, make in LAWS.items()
    for key, place in OWN.get(name, PLACES).items()
]
every_law = pytest.mark.parametrize(("make", "box", "relation"), CASES)


def classes():
    """All laws of the engine, as module.class."""
    for info in pkgutil.walk_packages(dpreg.__path__, "dpreg."):
        if not info.name.endswith("__main__"):
            for name, thing in vars(importlib.import_module(info.name)).items():
                if inspect.isclass(thing) and issubclass(thing, laws.Law) and not inspect.isabstract(thing):
                    yield f"{thing.__module__.rpartition('.')[2]}.{name}"


def noise(law, f, draws=(), seed=1):
    out = law.perturb(f, draws, np.random.default_rng(seed))
    return out.M - f.symmetric, out.v - f.v


def price(law, box, relation):
    """Epsilon, or rho if that is what the law promises: it goes with the square."""
    rho = law.concentrated(box, relation)
    return law.certify(box, relation) if rho is None else rho


def test_the_table_is_complete():
    found = set(classes())
    assert not found - set(LAWS), f"add to LAWS, above, a way to make {found - set(LAWS)}"
    assert not set(LAWS) - found, "these no longer exist"


@every_law
def test_a_seed_gives_the_same_noise_whatever_the_objective(make, box, relation):
    f = F[box]
    law = make(box, 1.0, neighbours=relation)
    for one, other in zip(noise(law, f), noise(law, Quadratic(0 * f.M, 0 * f.v, np.array(0.0), box)), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


@every_law
def test_a_multiple_is_as_many_times_as_large_and_as_cheap(make, box, relation):
    law = make(box, 1.0, neighbours=relation)
    for one, other in zip(noise(law, F[box]), noise(law.times(3.0), F[box]), strict=True):
        np.testing.assert_allclose(3 * one, other, rtol=1e-9, atol=1e-12)
    assert price(law, box, relation) == pytest.approx(1.0)
    assert price(law.times(3.0), box, relation) == pytest.approx(
        1 / (3 if law.concentrated(box, relation) is None else 9)
    )
    assert law.times(3.0).deviation == pytest.approx(3 * law.deviation)
    assert law.times(3.0).scale == pytest.approx(3 * law.scale)


@every_law
def test_a_stack_has_its_shape_behind_the_draws(make, box, relation):
    law = make(box, 1.0, neighbours=relation)
    stack = law.times(np.array([1.0, 2.0, 4.0]))
    assert (law.batch, stack.batch, law.p) == ((), (3,), box.p)
    out = stack.perturb(F[box], (5,), np.random.default_rng(1))
    assert (out.M.shape, out.v.shape, np.shape(out.c)) == ((5, 3, box.p, box.p), (5, 3, box.p), (5, 3))
    assert stack.deviation.shape == (3,)
    single = law.perturb(F[box], (), np.random.default_rng(1))
    assert (single.M.shape, single.v.shape, np.shape(single.c)) == ((box.p, box.p), (box.p,), ())


@every_law
def test_the_noise_is_as_large_as_it_says(make, box, relation):
    """The largest deviation on the diagonal, and the root mean square eigenvalue in the law's own columns."""
    law = make(box, 1.0, neighbours=relation)
    M, _ = noise(law, F[box], (DRAWS,))
    diagonal = M[:, np.arange(box.p), np.arange(box.p)]
    deviations, spread = diagonal.std(axis=0), (diagonal**2).std(axis=0) / np.sqrt(DRAWS)
    top = int(deviations.argmax())
    assert abs(deviations[top] ** 2 - law.deviation**2) < ERRORS * spread[top]
    assert np.all(np.abs(diagonal.mean(axis=0)) <= ERRORS * deviations / np.sqrt(DRAWS))
    weighted = (M + M.swapaxes(1, 2)) / 2 * law.columns[:, None] * law.columns
    mean_square = (weighted**2).sum(axis=(1, 2)) / box.p
    found, allowed = mean_square.mean(), ERRORS * mean_square.std() / np.sqrt(DRAWS)
    assert found - allowed < law.level**2
    if M[:, 0, 0].any():  # else the count is public, and takes the place of a draw that the level still has
        assert law.level**2 < found + allowed
