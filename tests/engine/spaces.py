"""Domains around zero, of every kind, and the scales of a convention on them."""

import numpy as np

from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import unit_scales
from dpreg.pipeline.objective import SQUARED

CONVENTIONS = ("monomial", "ordered", "copied", "triangle")
KINDS = ("box", "corner", "ball")


def cube(d, response=(-1.0, 1.0), **faces):
    return Box(-np.ones(d), np.ones(d), response, **faces)


def domain(kind, d, intercept=False, response=(-1.0, 1.0)):
    if kind == "ball":
        return Ball(np.zeros(d), 1.0, response, intercept=intercept)
    return cube(d, response, intercept=intercept, corner=kind == "corner")


def domains(d):
    """Each kind, without a constant column and with one."""
    for intercept in (False, True):
        yield from (domain(kind, d, intercept) for kind in KINDS)


def unit(convention, space, neighbours="replace", constant=False, loss=SQUARED):
    public = space.intercept and neighbours == "replace"
    return unit_scales(convention, space.p, constant=constant, public_count=public, loss=loss)
