"""Domains and records of labels, and the logistic loss written out."""

import math

import numpy as np

from dpreg.pipeline.domain import Ball, Box
from dpreg.pipeline.laws import unit_scales
from dpreg.pipeline.objective import TAYLOR

CONVENTIONS = ("monomial", "ordered", "copied", "triangle")
KINDS = ("box", "corner", "ball")
LINE = Box([-1.0], [1.0], response=(0.0, 1.0))


def space(kind, d, intercept=False):
    if kind == "ball":
        return Ball(np.zeros(d), 1.0, (0.0, 1.0), intercept=intercept)
    return Box(-np.ones(d), np.ones(d), (0.0, 1.0), intercept=intercept, corner=kind == "corner")


def unit(convention, domain, neighbours="replace", constant=False, loss=TAYLOR):
    public = domain.intercept and neighbours == "replace"
    return unit_scales(convention, domain.p, constant=constant, public_count=public, loss=loss)


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def exact_loss(z, y):
    return math.log1p(math.exp(z)) - y * z


def records(seed, n=200, d=3, scale=1.5):
    """Rows with a constant column, and labels that are hard to separate."""
    rng = np.random.default_rng(seed)
    Z = np.c_[np.ones(n), rng.uniform(-1, 1, (n, d))]
    return Z, (rng.uniform(size=n) < 1 / (1 + np.exp(-Z @ (scale * rng.normal(size=d + 1))))).astype(float)
