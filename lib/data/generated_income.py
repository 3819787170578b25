"""Annual income of generated people: earnings, pensions, benefits, capital, transfers, losses, and how it is told."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpreg.arguments import checked

Columns = dict[str, NDArray[Any]]
FEW = 4  # children beyond the fourth add nothing


@checked
def income(p: Any, t: Columns, rng: np.random.Generator) -> NDArray[Any]:
    """Return annual income as a census would list it, in dollars or reais.

    Parameters
    ----------
    p : the parameters of a country
    t : dict from name to column
        The people as drawn so far: age, f, single, married, head, race, foreign, level, step, disability, kids,
        works, hours.
    rng : Generator
    """
    earned = _earnings(p, t, rng)
    amount = earned + _pension(p.pension, t, rng) + _benefit(p.transfers, t, rng) + _capital(p.capital, t, rng)
    amount = _other(p.transfers, amount, t, rng)
    if p.income.loss:
        lost = rng.random(amount.size) < p.income.loss
        amount = np.where(lost, -np.exp(p.income.loss_log + rng.standard_normal(amount.size)), amount)
    told = _monthly(p.income, amount, rng) if p.income.minimum_wage else _rounded(amount)
    return np.asarray(np.clip(told, *p.income.range))


def _earnings(p: Any, t: Columns, rng: np.random.Generator) -> NDArray[Any]:
    """Mincer earnings scaled by hours, two kinds of error, an exponential bump in logs (hence a Pareto tail)."""
    e, n = p.earnings, t["age"].size
    schooling = p.education.years.astype(float)[t["level"]]
    experience = np.maximum(t["age"] - schooling - 6, 0.0)
    log = e.base + e.schooling * (schooling - e.years) + e.experience * experience
    log = log + e.experience2 * experience * experience
    women = e.female + e.wife * t["married"] + e.child * np.minimum(t["kids"], FEW)
    log += np.where(t["f"], women, e.husband * t["married"])
    log += e.single * t["single"] + e.disability * t["disability"] + e.foreign * t["foreign"] + e.race[t["race"]]
    usual = e.hours * np.log(np.maximum(t["hours"], 2) / p.hours.legal)
    log += usual - (e.experience * 20 + e.experience2 * 400)
    log += np.where(t["head"], *e.head)
    narrow, wide, share = e.error
    log += np.where(rng.random(n) < share, wide, narrow) * rng.standard_normal(n)
    log += np.where(rng.random(n) < e.tail[0], e.tail[1] * rng.standard_exponential(n), 0.0)
    share, least, most = e.part_year
    part = np.where(rng.random(n) < share, least + (most - least) * rng.random(n), 1.0)
    return np.where(t["works"], np.exp(np.minimum(log, e.most)) * part, 0.0)


def _pension(p: Any, t: Columns, rng: np.random.Generator) -> NDArray[Any]:
    n, step = t["age"].size, t["step"]
    has = rng.random(n) < p.share[t["age"]]
    mean = np.where(t["f"], p.basic[1], p.basic[0]) + p.basic_education * step
    basic = np.exp(mean + p.basic_sd * rng.standard_normal(n))
    second = rng.random(n) < p.second * np.where(t["f"], p.second_women, 1.0)
    more = np.exp(p.second_mean + p.second_education * step + p.second_sd * rng.standard_normal(n))
    return np.where(has, basic + np.where(second, more, 0.0), 0.0)


def _benefit(p: Any, t: Columns, rng: np.random.Generator) -> NDArray[Any]:
    share, mean, sd = p.disabled
    has = t["disability"] & (t["age"] < 65) & (rng.random(t["age"].size) < share)
    return np.where(has, np.exp(mean + sd * rng.standard_normal(has.size)), 0.0)


def _capital(p: Any, t: Columns, rng: np.random.Generator) -> NDArray[Any]:
    step, beyond = t["step"], t["age"] - 40
    has = rng.random(step.size) < 1 / (1 + np.exp(-(p.odds[0] + p.odds[1] * step + p.odds[2] * beyond)))
    log = p.log[0] + p.log[1] * step + p.log[2] * beyond + p.sd * rng.standard_normal(step.size)
    return np.where(has, np.exp(log), 0.0)


def _other(p: Any, amount: NDArray[Any], t: Columns, rng: np.random.Generator) -> NDArray[Any]:
    """Alimony, welfare, unemployment, family: only for those who have nothing else."""
    helped = (amount <= 0) & (rng.random(amount.size) < np.where(t["head"], *p.other))
    return np.where(helped, np.exp(p.other_log[0] + p.other_log[1] * rng.standard_normal(amount.size)), amount)


def _monthly(p: Any, amount: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Twelve times a monthly income that heaps at the minimum wage, and otherwise at 5 or 50 reais."""
    low, high, share = p.near_wage
    near = (amount > low) & (amount < high) & (rng.random(amount.size) < share)
    month = np.where(near, p.minimum_wage, amount)
    fine = np.round(month / 5) * 5 + (month == p.minimum_wage)
    return np.asarray(12 * np.where(month < 400, fine, np.round(month / 50) * 50))


def _rounded(amount: NDArray[Any]) -> NDArray[Any]:
    """Round to 10 below 1,000, to 100 below 50,000, to 1,000 above: coarser for larger amounts (our choice)."""
    size = np.abs(amount)
    unit = np.where(size < 1_000, 10.0, np.where(size < 50_000, 100.0, 1_000.0))
    return np.round(amount / unit) * unit
