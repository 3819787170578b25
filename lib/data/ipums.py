"""Reads a user's own IPUMS extract into the columns of the generated people.

IPUMS renumbers its codes from sample to sample, and its labels stay. So the labels of the extract's codebook decide
what a code stands for, a number without a label stands for itself where it can, and all else is refused: a guess
would move every number of a figure without a sign. The file is read anew each time; nothing of it is kept or written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import DataError, FloatArray
from lib.data import ipums_files
from lib.data.generated_parameters import Country
from lib.data.ipums_labels import BOTH, MISSING, NAMES, NAN, NUMBER, OWN, Reading

CHUNK = 200_000  # records read at a time
SAMPLES = ("SAMPLE", "DATANUM")  # what tells samples of one country and year apart, now and in older extracts
INCOME, INCOME_WIDTH = "INCTOT", 7
INCOME_CODES = {9_999_998: NAN, 9_999_999: NAN}  # unknown, not asked: documented by IPUMS, but not among the labels
FRAME = ("RELATE", "COUNTRY", "YEAR", *SAMPLES)  # who is a head, and in which sample
SETTINGS: dict[str, Any] = {"income_factor": None, "variables": {}, "codes": {}}


@checked
def heads(folder: str | Path, country: Country, columns: Collection[str]) -> tuple[pd.DataFrame, str]:
    """Return the heads of households who answered all that is asked for, and a sentence on where they come from.

    Parameters
    ----------
    folder : str or Path
        Holds the codebook `US.xml` or `BR.xml` and, under the same name or the one the codebook gives, its data: `.dat`
        or `.csv`, perhaps `.gz`. Beside them may stand `US.yml` or `BR.yml`, with `income_factor` (by what to multiply
        INCTOT for a year's income), `variables` (attribute: variable) and `codes` (variable: {code: value}).
    country : {"US", "BR"}
    columns : collection of str
        Names as in `census.bounds`, or "annual_income".

    Raises
    ------
    DataError
        If a file is missing or broken, if it holds more than one sample, or if a variable is missing, or the meaning of
        a code among the heads.

    Examples
    --------
    >>> import tempfile
    >>> from lib.data.ipums_synthetic import write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write(folder, "US", 1000, random_state=1)
    ...     frame, source = heads(folder, "US", ["age", "is_married"])
    >>> list(frame.columns), source.split(",")[0]
    (['age', 'is_married'], "user's IPUMS extract (ipumsi: United States 2000)")
    """
    checks.choice(country, ("US", "BR"), "country")
    known = {*BOTH, *OWN[country], "is_single", "is_married"}
    for name in columns:
        checks.choice(name, tuple(sorted(known)), "column")
    place = Path(folder)
    settings = _settings(place / f"{country}.yml")
    readers, book, labels = ipums_files.codebook(place / f"{country}.xml")
    described = {one.name: one for one in book.data_description}
    wanted = {"marital" if name in ("is_single", "is_married") else name for name in columns} | {"age"}
    chosen = {name: _variable(name, country, described, settings["variables"]) for name in sorted(wanted)}
    factor = (
        _income_factor(country, chosen["annual_income"][0], described, settings) if "annual_income" in wanted else 1.0
    )
    subset = list(dict.fromkeys([*(variable for variable, _ in chosen.values()), *FRAME]))
    subset = [name for name in subset if name in described]
    meant = {name: ipums_files.meanings(labels, name, f"{country}.xml") for name in subset}
    first = [code for code, label in meant.get("RELATE", {}).items() if label.lower().startswith("head")]
    _check_frame(country, first, subset, book)
    frames, households = [], 0
    samples: dict[str, str] = {}
    file = ipums_files.data(place / f"{country}.xml", book)
    for chunk in ipums_files.records(readers, book, file, subset, CHUNK):
        samples |= _samples(chunk, meant, country)
        if len(samples) > 1:
            break
        chunk = chunk[chunk["RELATE"].isin(first)]
        households += len(chunk)
        decoded = {
            name: _decode(chunk[variable], meant[variable], reading, settings["codes"].get(variable, {}))
            for name, (variable, reading) in chosen.items()
        }
        frames.append(pd.DataFrame(decoded).dropna())
    if len(samples) > 1:
        raise DataError(f"{country}.xml holds {', '.join(sorted(samples))}: give an extract of one sample")
    frame = _finished(pd.concat(frames, ignore_index=True), factor)
    source = f"user's IPUMS extract ({book.ipums_collection}: {samples.popitem()[1]})"
    return frame[list(columns)], f"{source}, {len(frame)} of {households} heads with every answer"


def _settings(file: Path) -> dict[str, Any]:
    """Return what the user says about the extract."""
    try:
        said = yaml.safe_load(file.read_text(encoding="utf-8")) or {} if file.is_file() else {}
        if unknown := said.keys() - SETTINGS.keys():
            raise ValueError(f"it has {', '.join(sorted(map(str, unknown)))}")
        settings = SETTINGS | said
        codes = {
            variable: {int(code): NAN if value is None else float(value) for code, value in one.items()}
            for variable, one in settings["codes"].items()
        }
        for variable in settings["variables"].values():
            checks.instance(variable, str, "a variable")
        if settings["income_factor"] is not None:
            checks.positive(settings["income_factor"], "income_factor")
        return settings | {"codes": codes}
    except (yaml.YAMLError, AttributeError, OSError, OverflowError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{file.name} is unusable ({reason}): give {', '.join(SETTINGS)} as in ipums.heads") from error


def _variable(name: str, country: Country, described: dict[str, Any], told: dict[str, str]) -> tuple[str, Reading]:
    """Return the variable an attribute is read from, and how."""
    readings = (BOTH | OWN[country])[name]
    candidates = [told[name]] if name in told else list(readings)
    for variable in candidates:
        if variable in described:
            return variable, readings.get(variable, Reading(()))
    raise DataError(f"{country}.xml has no {' or '.join(candidates)} for {name}: add it to your extract")


def _check_frame(country: Country, first: list[int], subset: list[str], book: Any) -> None:
    """Raise `DataError` unless the extract says who is a head, and which sample it is."""
    if not first:
        raise DataError(f"{country}.xml has no RELATE with a label for the head of a household: add it to your extract")
    listed = sorted(set(book.samples_description))
    if len(listed) > 1 and not set(SAMPLES) & set(subset):
        raise DataError(
            f"{country}.xml is of the samples {', '.join(listed)}, and has no SAMPLE to tell them apart: give an "
            "extract of one sample"
        )


def _income_factor(country: Country, variable: str, described: dict[str, Any], settings: dict[str, Any]) -> float:
    """Return by what to multiply income for a year of it; the codes for no income are added to the settings."""
    codes, digits = settings["codes"], described[variable].end - described[variable].start
    if variable == INCOME and INCOME not in codes and digits != INCOME_WIDTH:
        raise DataError(
            f"{INCOME} has {digits} digits, not {INCOME_WIDTH}: say in {country}.yml, under codes, which of its "
            "numbers mean no answer (null)"
        )
    settings["codes"] = codes | {INCOME: INCOME_CODES | codes.get(INCOME, {})}
    factor = settings["income_factor"]
    if factor is None and country == "BR":
        raise DataError(
            f"{country}.yml is missing or has no income_factor: give 12 if {INCOME} is a month's income, 1 if it is a "
            "year's, as your codebook says"
        )
    return 1.0 if factor is None else float(factor)


def _samples(chunk: pd.DataFrame, meant: dict[str, dict[int, str]], country: Country) -> dict[str, str]:
    """Return the samples among the records, as far as the extract tells them apart: full name, and country and year."""
    kinds = [name for name in ("COUNTRY", "YEAR", *SAMPLES) if name in chunk]
    countries, samples = set(), {}
    for codes in chunk[kinds].drop_duplicates().to_dict("records") if kinds else [{}]:
        said = {str(kind): meant[str(kind)].get(code) or f"{code}" for kind, code in codes.items()}
        countries.add(said.get("COUNTRY", NAMES[country]))
        name = f"{said.get('COUNTRY', 'country unknown')} {said.get('YEAR', 'of an unknown year')}"
        # The code too: two samples may have one label.
        own = [f" ({kind} {codes[kind]}: {said[kind]})" for kind in SAMPLES if kind in said]
        samples[name + "".join(own)] = name
    if countries - {NAMES[country]}:
        raise DataError(f"{country}.xml holds {', '.join(sorted(countries))}: give an extract of {NAMES[country]} only")
    return samples


def _decode(codes: pd.Series, labels: dict[int, str], reading: Reading, told: dict[int, float]) -> FloatArray:
    """Return the values of codes: as the user says, else as the label says, else the number; NaN for no answer."""
    numbers = codes.to_numpy(dtype=float, na_value=NAN)
    unique, place = np.unique(numbers, return_inverse=True)
    return np.array([_value(code, labels, reading, told, str(codes.name)) for code in unique], dtype=float)[place]


def _value(code: float, labels: dict[int, str], reading: Reading, told: dict[int, float], name: str) -> float:
    if math.isnan(code):
        return NAN
    if code in told:
        return told[code]  # type: ignore[index]  # a float equal to a whole number finds its key
    label = labels.get(code, "").lower()  # type: ignore[call-overload]  # a code with decimals is none of them
    if not label and reading.limits and reading.limits[0] <= code <= reading.limits[1]:
        return code
    for pattern, meaning in (*reading.labels, *MISSING):
        if label and re.search(pattern, label):
            return float(re.sub(r"\D.*", "", label)) if meaning == NUMBER else float(meaning)
    shown = f"labelled {label!r}" if label else "without a label"
    raise DataError(
        f"{name} has code {code:g}, {shown}, whose meaning is unknown: say it in the .yml beside the codebook, under "
        "codes (null for no answer)"
    )


def _finished(frame: pd.DataFrame, factor: float) -> pd.DataFrame:
    """Return the frame with the attributes that are made of others."""
    if "marital" in frame:
        frame = frame.assign(is_single=frame["marital"] == 1, is_married=frame["marital"] == 2)
    if "years_residing" in frame:  # nobody lives longer at a place than at all; those born there have no bound but this
        frame["years_residing"] = frame[["years_residing", "age"]].min(axis=1)
    if "annual_income" in frame:
        frame["annual_income"] *= factor
    return frame.astype(float)
