"""People as a census would list them, drawn from a chain of conditional laws: none of them exists.

The chain, in order: sex, age, marital status and headship; race and birthplace; education; disability; children and
family; hours of work; income; the dwelling; automobiles; employment and house type. Rows are independent. Every
parameter stands in `data/census.yml` with its meaning, its unit and where it comes from.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.noise import RandomState
from lib.data.generated_income import FEW, Columns, income
from lib.data.generated_parameters import OLDEST, YOUNGEST, Country, parameters

Population = Literal["heads", "adults"]
CUT_SEED, CUT_DRAWS = 19991231, 400_000  # the cut points of education are constants of the model, found once

MOST = 10**7  # people: ten million fill some gigabytes


@checked
def people(
    country: Country,
    n: int,
    *,
    population: Population = "heads",
    random_state: RandomState = 2000,
) -> pd.DataFrame:
    """Return generated people with all attributes the papers name, one row each.

    Parameters
    ----------
    country : {"US", "BR"}
        Which census of 2000 they should look like.
    n : int
    population : {"heads", "adults"}
        One reference person per household, or everybody of 18 and over.
    random_state : None, int, SeedSequence or Generator

    Returns
    -------
    DataFrame of n rows
        `marital` is 1 never, 2 now, 3 formerly married; `employment` 1 employed, 2 unemployed, 3 neither; `house_type`
        1 detached, ..., 7 mobile home; `education` a code from 1 to 16 (US) or years from 0 to 17 (BR);
        `annual_income` in dollars or reais, from a bottom to a top code.

    Examples
    --------
    >>> frame = people("BR", 1000, random_state=1)
    >>> frame.shape, bool(frame["age"].between(18, 90).all())
    ((1000, 19), True)
    """
    checks.choice(country, ("US", "BR"), "country")
    checks.count(n, "n", most=MOST)
    p, rng = parameters(country), noise.generator(random_state)
    t = _households(p.household, n, population, rng)
    t |= _origin(p.origin, t, rng)
    t |= _education(country, p.education, t, rng)
    odds = logit(p.disability.share)[t["age"]] + p.disability.education * t["step"]
    t["disability"] = rng.random(n) < expit(odds)
    t["kids"] = _children(p.children, t, rng)
    t["family"] = _family(p.family, t, population, rng)
    t["works"] = rng.random(n) < expit(_work_odds(p.work, t))
    t["hours"] = np.where(t["works"], _hours(p.hours, t, rng), 0)
    t["income"] = income(p, t, rng)
    t["owner"] = rng.random(n) < expit(_ownership_odds(p.ownership, t))
    t["stay"] = _residence(p.residence, t, rng)
    t["autos"] = np.searchsorted(p.autos.cuts, _latent_autos(p.autos, t, rng))
    t["job"] = _job(p.job, t, rng)
    t["house"] = _house(p.house, t, rng)
    return _frame(t)


def _age_weights(groups: NDArray[Any], decay: float) -> NDArray[Any]:
    """Weight of each year of age from counts of five-year groups; the last, 85 and over, thins out and ends at 89."""
    weights = np.zeros(OLDEST + 1)
    starts = [YOUNGEST, *range(20, 86, 5)]
    for size, start, end in zip(groups, starts, [*starts[1:], OLDEST], strict=True):
        share = decay ** np.arange(end - start) if start == starts[-1] else np.ones(end - start)
        weights[start:end] = size * share / share.sum()
    return weights


def _cells(p: Any) -> NDArray[Any]:
    """Weights of sex and age, men first."""
    weights = np.r_[_age_weights(p.men, p.decay), _age_weights(p.women, p.decay)]
    return np.asarray(weights / weights.sum())


def _households(p: Any, n: int, population: str, rng: np.random.Generator) -> Columns:
    """Sex, age, marital status and headship, in one draw from the table of their cells."""
    never, former = p.never.ravel(), p.former.ravel()
    shares = [never, 1 - never - former, former]
    leads = [np.tile(p.head_other, 2), np.repeat(p.head_married, OLDEST + 1), np.tile(p.head_other, 2)]
    everybody = np.stack(shares) * _cells(p)
    heads = np.stack([share * lead for share, lead in zip(shares, leads, strict=True)]) * _cells(p)
    cumulated = np.cumsum((heads if population == "heads" else everybody).ravel())
    cell = np.searchsorted(cumulated, rng.random(n) * cumulated[-1], side="right").clip(0, cumulated.size - 1)
    marital, rest = np.divmod(cell, never.size)
    female, age = np.divmod(rest, OLDEST + 1)
    head = np.ones(n, dtype=bool)
    if population == "adults":
        head = rng.random(n) < (heads / np.maximum(everybody, 1e-12)).ravel()[cell]
    return {"age": age, "f": female == 1, "single": marital == 0, "married": marital == 1, "head": head}


def _origin(p: Any, t: Columns, rng: np.random.Generator) -> Columns:
    race = np.searchsorted(np.cumsum(p.race)[:-1], rng.random(t["age"].size))
    return {"race": race, "foreign": rng.random(race.size) < p.foreign[race] * p.foreign_age[t["age"]]}


def _education(country: Country, p: Any, t: Columns, rng: np.random.Generator) -> Columns:
    """Level from 0, its code, and the steps of the code from the middle one."""
    most = np.full(OLDEST + 1, len(p.shares) - 1)
    most[list(p.most_at)] = list(p.most_at.values())
    level = np.minimum(np.searchsorted(_education_cuts(country), _latent_education(p, t, rng)), most[t["age"]])
    return {"level": level, "code": level + p.first, "step": level + p.first - p.middle}


def _latent_education(p: Any, t: Columns, rng: np.random.Generator) -> NDArray[Any]:
    spread = np.where(t["foreign"], p.foreign_sd, 1.0)
    mean = p.cohort[t["age"]] + p.race[t["race"]] + p.female * t["f"] + p.foreign * t["foreign"]
    return np.asarray(mean + spread * rng.standard_normal(spread.size))


@cache
def _education_cuts(country: Country) -> NDArray[Any]:
    """Cut points of the latent education that give the shares of `data/census.yml` among adults of 25 and over."""
    p, rng = parameters(country), noise.generator(CUT_SEED)
    cell = rng.choice(2 * (OLDEST + 1), size=CUT_DRAWS, p=_cells(p.household))
    t = {"age": cell % (OLDEST + 1), "f": cell // (OLDEST + 1)}
    t |= _origin(p.origin, t, rng)
    grown = _latent_education(p.education, t, rng)[t["age"] >= 25]
    return np.asarray(np.quantile(grown, np.cumsum(p.education.shares)[:-1] / np.sum(p.education.shares)))


def _children(p: Any, t: Columns, rng: np.random.Generator) -> NDArray[Any]:
    factor = np.where(t["f"], 1.0, np.where(t["single"], p.men[1], p.men[0]))
    alone = np.where(t["single"], p.never[t["age"]], p.former[t["age"]]) * factor
    mean = np.where(t["married"], p.married[t["age"]], alone)
    mean = mean * np.exp(p.education * t["step"] + p.foreign * t["foreign"])
    return np.asarray(np.minimum(rng.poisson(mean), p.most))


def _family(p: Any, t: Columns, population: str, rng: np.random.Generator) -> NDArray[Any]:
    """Oneself, spouse, children and other relatives."""
    any_other = rng.random(t["age"].size) < np.where(t["foreign"], p.relatives[1], p.relatives[0])
    relatives = np.where(any_other, 1 + rng.poisson(p.more, any_other.size), 0)
    if population == "adults":
        relatives = relatives + np.where(t["head"] | t["married"], 0, rng.poisson(p.hosts, any_other.size))
    return np.asarray(np.minimum(1 + t["married"] + t["kids"] + relatives, p.most))


def _work_odds(p: Any, t: Columns) -> NDArray[Any]:
    odds = np.where(t["f"], logit(p.share[1])[t["age"]], logit(p.share[0])[t["age"]])
    odds = odds + p.education * t["step"] + p.disability * t["disability"]
    wives = p.wife * t["married"] + p.child * np.minimum(t["kids"], FEW)
    return np.asarray(odds + np.where(t["f"], wives, p.husband * t["married"]) + np.where(t["head"], *p.head))


def _hours(p: Any, t: Columns, rng: np.random.Generator) -> NDArray[Any]:
    """Weekly hours if at work: answers heap at the usual week, and at multiples of five."""
    usual = np.where(t["f"], p.mean[1], p.mean[0]) + p.education * t["step"]
    usual = usual - p.old * np.maximum(t["age"] - 60, 0) - p.young * np.maximum(22 - t["age"], 0)
    exact = usual + p.sd * rng.standard_normal(usual.size)
    habit = rng.random(usual.size)
    heaped = (habit < p.heap) & (np.abs(exact - p.legal) < p.near)
    said = np.where(heaped, p.legal, np.where(habit < p.fives, 5 * np.round(exact / 5), np.round(exact)))
    return np.asarray(np.clip(said, *p.range))


def _ownership_odds(p: Any, t: Columns) -> NDArray[Any]:
    log = np.log((np.maximum(t["income"], 0) + 0.2 * p.unit) / p.unit)  # one fifth of the unit keeps it finite
    odds = p.odds[t["age"]] + p.married * t["married"] + p.income * log + p.foreign * t["foreign"]
    return np.asarray(odds + p.race[t["race"]] + p.child * np.minimum(t["kids"], FEW))


def _residence(p: Any, t: Columns, rng: np.random.Generator) -> NDArray[Any]:
    """Whole years in the dwelling or place, at most one's age."""
    since = np.maximum(t["age"] - 20, 0)
    mean = np.where(t["owner"], p.owners[0] + p.owners[1] * since, p.renters[0] + p.renters[1] * since)
    stay = np.floor(mean * rng.standard_exponential(mean.size) ** p.power)
    stay = np.minimum(stay, np.minimum(t["age"], p.most))
    if p.never_moved:
        stay = np.where(rng.random(mean.size) < p.never_moved * ~t["foreign"], t["age"], stay)
    return np.asarray(stay)


def _latent_autos(p: Any, t: Columns, rng: np.random.Generator) -> NDArray[Any]:
    mean = p.base + p.income * np.log1p(np.maximum(t["income"], 0) / p.unit)
    mean = mean + p.married * t["married"] + p.owner * t["owner"] + p.family * np.minimum(t["family"], 6)
    mean = mean - p.old * np.maximum(t["age"] - 62, 0) - p.female * t["f"] - p.foreign * t["foreign"]
    return np.asarray(mean - p.disability * t["disability"] + p.sd * rng.standard_normal(mean.size))


def _job(p: Any, t: Columns, rng: np.random.Generator) -> NDArray[Any]:
    employed = t["works"] & (rng.random(t["age"].size) < p.employed)
    seeking = rng.random(employed.size) < np.where(t["works"], p.unemployed[0], p.unemployed[1])
    return np.where(employed, 1, np.where(seeking, 2, 3))


def _house(p: Any, t: Columns, rng: np.random.Generator) -> NDArray[Any]:
    steps = np.cumsum(np.stack([p.renters, p.owners]), axis=1)[:, :-1]
    above = rng.random(t["age"].size)[:, None] > steps[t["owner"].astype(int)]
    return np.asarray(1 + above.sum(axis=1))


def _frame(t: Columns) -> pd.DataFrame:
    """Name the columns as the papers do, and make whole numbers of them."""
    columns = {
        "age": t["age"],
        "female": t["f"],
        "is_single": t["single"],
        "is_married": t["married"],
        "marital": np.where(t["single"], 1, np.where(t["married"], 2, 3)),
        "education": t["code"],
        "disability": t["disability"],
        "native": ~t["foreign"],
        "hours_per_week": t["hours"],
        "years_residing": t["stay"],
        "owns_dwelling": t["owner"],
        "family_size": t["family"],
        "n_children": t["kids"],
        "n_autos": t["autos"],
        "annual_income": t["income"],
        "race": t["race"] + 1,
        "employment": t["job"],
        "house_type": t["house"],
        "head": t["head"],
    }
    return pd.DataFrame({name: column.astype(np.int32) for name, column in columns.items()})
