"""Reads a user's own IPUMS extract into the columns of the generated people.

IPUMS renumbers its codes from sample to sample, and its labels stay. So the labels of the extract's codebook decide
what a code stands for, a number without a label stands for itself where it can, and all else is refused: a guess
would move every number of a figure without a sign. The file is read anew each time; nothing of it is kept or written.
"""

from __future__ import annotations

import importlib
import math
import re
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import yaml

from lib import checks
from lib.census_parameters import Country
from lib.checks import DataError, FloatArray
from lib.ipums_labels import BOTH, MISSING, NAMES, NAN, NUMBER, OWN, Reading

CHUNK = 200_000  # records read at a time
INCOME, INCOME_WIDTH = "INCTOT", 7
INCOME_CODES = {9_999_998: NAN, 9_999_999: NAN}  # unknown, not asked: documented by IPUMS, but not among the labels
SETTINGS: dict[str, Any] = {"income_factor": None, "variables": {}, "codes": {}}


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
        If a file or a variable is missing, or if a code among the heads has no meaning that is known.

    Examples
    --------
    >>> import tempfile
    >>> from lib.ipums_synthetic import write
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
    readers, book = _codebook(place / f"{country}.xml")
    described = {one.name: one for one in book.data_description}
    wanted = {"marital" if name in ("is_single", "is_married") else name for name in columns} | {"age"}
    chosen = {name: _variable(name, country, described, settings["variables"]) for name in sorted(wanted)}
    factor = _income_factor(country, described, settings) if "annual_income" in wanted else 1.0
    subset = [*{variable for variable, _ in chosen.values()}, *_frame_variables(described)]
    labels = {name: {int(code): label for label, code in described[name].codes.items()} for name in subset}
    first = [code for code, label in labels["RELATE"].items() if label.lower().startswith("head")]
    frames, households, samples = [], 0, set()
    for chunk in readers.read_microdata_chunked(book, _data(place, country, book), subset=subset, chunksize=CHUNK):
        samples |= _samples(chunk, labels, country)
        chunk = chunk[chunk["RELATE"].isin(first)]
        households += len(chunk)
        decoded = {
            name: _decode(chunk[variable], labels[variable], reading, settings["codes"].get(variable, {}))
            for name, (variable, reading) in chosen.items()
        }
        frames.append(pd.DataFrame(decoded).dropna())
    if len(samples) != 1:
        raise DataError(
            f"{country}.xml holds {', '.join(sorted(samples)) or 'no record'}: give an extract of one sample"
        )
    frame = _finished(pd.concat(frames, ignore_index=True), factor)
    source = f"user's IPUMS extract ({book.ipums_collection}: {samples.pop()})"
    return frame[list(columns)], f"{source}, {len(frame)} of {households} heads with every answer"


def _settings(file: Path) -> dict[str, Any]:
    """Return what the user says about the extract."""
    try:
        said = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
        if unknown := said.keys() - SETTINGS.keys():
            raise ValueError(f"it has {', '.join(sorted(map(str, unknown)))}")
        settings = SETTINGS | said
        codes = {
            variable: {int(code): NAN if value is None else float(value) for code, value in one.items()}
            for variable, one in settings["codes"].items()
        }
        return settings | {"codes": codes, "variables": dict(settings["variables"])}
    except (yaml.YAMLError, AttributeError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{file.name} is unusable ({reason}): give {', '.join(SETTINGS)} as in ipums.heads") from error


def _codebook(file: Path) -> tuple[Any, Any]:
    """Return the reader, an optional package, and the codebook of a file with one record per person."""
    try:
        readers = importlib.import_module("ipumspy.readers")
    except ImportError:
        raise DataError(
            "an IPUMS extract is read with ipumspy, which is not here: add it, pip install ipumspy"
        ) from None
    if not file.is_file():
        raise DataError(f"{file.name} is missing from {file.parent.name}/: give the codebook (DDI) of your extract")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a request to cite IPUMS, which the data set's source repeats
        try:
            book = readers.read_ipums_ddi(file)
        except (ElementTree.ParseError, AttributeError, KeyError, TypeError, ValueError, NotImplementedError) as error:
            raise DataError(f"{file.name} is no codebook of IPUMS ({error}): give the DDI of your extract") from error
    if book.file_description.structure != "rectangular":
        raise DataError(f"{file.name} is of a hierarchical extract: make a rectangular one, with one record per person")
    return readers, book


def _variable(name: str, country: Country, described: dict[str, Any], told: dict[str, str]) -> tuple[str, Reading]:
    """Return the variable an attribute is read from, and how."""
    readings = (BOTH | OWN[country])[name]
    candidates = [told[name]] if name in told else list(readings)
    for variable in candidates:
        if variable in described:
            return variable, readings.get(variable, Reading(()))
    raise DataError(f"{country}.xml has no {' or '.join(candidates)} for {name}: add it to your extract")


def _frame_variables(described: dict[str, Any]) -> list[str]:
    """Return the variables that say who is a head, and which sample it is."""
    if "RELATE" not in described or not any(label.lower().startswith("head") for label in described["RELATE"].codes):
        raise DataError("the extract has no RELATE with a label for the head of a household: add it to your extract")
    return [name for name in ("RELATE", "COUNTRY", "YEAR") if name in described]


def _income_factor(country: Country, described: dict[str, Any], settings: dict[str, Any]) -> float:
    """Return by what to multiply income for a year of it; the codes for no income are added to the settings."""
    income = described[INCOME]
    codes = settings["codes"]
    if INCOME not in codes and income.end - income.start != INCOME_WIDTH:
        raise DataError(
            f"{INCOME} has {income.end - income.start} digits, not {INCOME_WIDTH}: say in {country}.yml, under codes, "
            "which of its numbers mean no answer (null)"
        )
    settings["codes"] = codes | {INCOME: INCOME_CODES | codes.get(INCOME, {})}
    factor = settings["income_factor"]
    if factor is None and country == "BR":
        raise DataError(
            f"{country}.yml is missing or has no income_factor: give 12 if {INCOME} is a month's income, 1 if it is a "
            "year's, as your codebook says"
        )
    return checks.positive(1.0 if factor is None else factor, "income_factor")


def _data(folder: Path, country: Country, book: Any) -> Path:
    """Return the file of records that belongs to the codebook."""
    stems = (country, Path(book.file_description.filename).name.split(".")[0])
    names = [f"{stem}{end}" for stem in stems for end in (".dat.gz", ".dat", ".csv.gz", ".csv")]
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise DataError(f"the data of {country}.xml are missing from {folder.name}/: give one of {', '.join(names)}")


def _samples(chunk: pd.DataFrame, labels: dict[str, dict[int, str]], country: Country) -> set[str]:
    """Return country and year of the records, as far as the extract has them."""
    place = "country unknown"
    if "COUNTRY" in chunk:
        found = {labels["COUNTRY"].get(int(code), str(code)) for code in chunk["COUNTRY"].unique()}
        if found != {NAMES[country]}:
            raise DataError(f"{country}.xml holds {', '.join(sorted(found))}: give an extract of {NAMES[country]} only")
        place = NAMES[country]
    years = chunk["YEAR"].unique() if "YEAR" in chunk else ["of an unknown year"]
    return {f"{place} {year}" for year in years}


def _decode(codes: pd.Series, labels: dict[int, str], reading: Reading, told: dict[int, float]) -> FloatArray:
    """Return the values of codes: as the user says, else as the label says, else the number; NaN for no answer."""
    numbers = codes.to_numpy(dtype=float, na_value=NAN)
    unique, place = np.unique(numbers, return_inverse=True)
    return np.array([_value(code, labels, reading, told, str(codes.name)) for code in unique], dtype=float)[place]


def _value(code: float, labels: dict[int, str], reading: Reading, told: dict[int, float], name: str) -> float:
    if math.isnan(code):
        return NAN
    if code in told:
        return told[int(code)]
    label = labels.get(int(code), "").lower()
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
