"""Writes generated people in the format of an IPUMS extract, to test the reader without a record of IPUMS."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpreg import checks, noise
from dpreg.arguments import checked
from dpreg.checks import DataError, InputError
from dpreg.noise import RandomState
from lib.data.generated_parameters import Country
from lib.data.generated_people import people
from lib.data.ipums_labels import NAMES

NIU, UNKNOWN = "NIU (not in universe)", "Unknown/missing"
RACES: dict[Country, Sequence[tuple[int, str]]] = {
    "US": ((10, "White"), (20, "Black"), (41, "Chinese"), (60, "Other")),
    "BR": ((10, "White"), (20, "Black"), (40, "Asian"), (51, "Brown (Brazil)")),
}
# Of each of the 16 levels of the generator: two pairs of them have one code in EDUCUS.
LEVELS = (
    *((100, "None or preschool"), (200, "Grades 1 to 4"), (300, "Grades 5 to 8"), (300, "Grades 5 to 8")),
    *((400, "Grade 9"), (500, "Grade 10"), (600, "Grade 11"), (701, "Grade 12, no diploma")),
    *((702, "High school graduate or equivalency degree"), (821, "Some college, no degree")),
    *((821, "Some college, no degree"), (824, "Associate degree, type not specified")),
    *((825, "Bachelors degree"), (826, "Masters degree"), (827, "Professional degree"), (828, "Doctorate degree")),
)
UNITS = (
    *((3, "1-family house, detached"), (4, "1-family house, attached"), (5, "2-family building")),
    *((6, "3-4 family building"), (8, "10-19 family building"), (10, "50+ family building")),
    (1, "Mobile home or trailer"),
)


@dataclass(frozen=True)
class _Variable:
    """A column of the file: the attribute it holds, and the code of those who did not answer."""

    name: str
    width: int
    codes: NDArray[Any]
    labels: dict[int, str]
    attribute: str = ""
    unanswered: int | None = None


@checked
def write(
    folder: str | Path,
    country: Country,
    n: int,
    *,
    unanswered: float = 0.03,
    others: float = 0.02,
    random_state: RandomState = 2000,
) -> pd.DataFrame:
    """Return generated people after writing them as `US.xml` and `US.dat.gz`, or `BR`, as IPUMS International would.

    Parameters
    ----------
    folder : str or Path
    country : {"US", "BR"}
    n : int
    unanswered : float
        Share of the people who do not answer one of the questions.
    others : float
        Share of the people who head no household.
    random_state : None, int or SeedSequence

    Returns
    -------
    DataFrame
        As `generated_people.people`, with the column `unanswered`: the attribute that is missing, or an empty text.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = write(folder, "BR", 100, random_state=1)
    ...     sorted(file.name for file in Path(folder).iterdir())
    ['BR.dat.gz', 'BR.xml']
    """
    for share, name in ((unanswered, "unanswered"), (others, "others")):
        if not 0 <= checks.finite(share, name) <= 1:
            raise InputError(f"{name} is {share:g}: give a share between 0 and 1")
    checks.count(n, "n")
    if not Path(folder).is_dir():
        raise DataError(f"folder is {str(folder)!r}, which is not there: make it first, or give another")
    frame = people(country, n, random_state=noise.spawn(random_state, 0))
    rng = noise.spawn(random_state, 1)
    frame["head"] = (rng.random(n) >= others).astype(int)
    variables = _variables(frame, country)
    asked = [one for one in variables if one.unanswered is not None]
    silent = np.where(rng.random(n) < unanswered, rng.integers(len(asked), size=n), -1)
    for k, one in enumerate(asked):
        one.codes[silent == k] = one.unanswered
    _write_codebook(Path(folder), country, variables)
    rows = zip(*([f"{code:0{one.width}d}" for code in one.codes.tolist()] for one in variables), strict=True)
    with gzip.open(Path(folder) / f"{country}.dat.gz", "wt", encoding="ascii", compresslevel=1) as file:
        file.writelines("".join(row) + "\n" for row in rows)
    return frame.assign(unanswered=np.array([one.attribute for one in asked] + [""])[silent])


def _variables(frame: pd.DataFrame, country: Country) -> list[_Variable]:
    t: dict[str, NDArray[Any]] = {str(name): frame[name].to_numpy(dtype=int) for name in frame}
    us = country == "US"
    number, name = (840, "United States") if us else (76, "Brazil")
    yes_no = {0: NIU, 1: "Yes", 2: "No", 9: UNKNOWN}
    hours = np.where(t["hours_per_week"] == 0, 999, t["hours_per_week"])
    stay = t["years_residing"] if us else np.where(t["years_residing"] == t["age"], 99, t["years_residing"])
    stay_labels = {0: "Less than 1 year"} | {k: f"{k}" for k in range(1, 98)} | {98: "Unknown", 99: NIU}
    common = [
        _Variable("COUNTRY", 3, np.full(len(frame), number), {number: name}),
        _Variable("YEAR", 4, np.full(len(frame), 2000), {}),
        _Variable("RELATE", 1, np.where(t["head"] == 1, 1, 3), {1: "Head", 2: "Spouse/partner", 3: "Child"}),
        _Variable("AGE", 3, t["age"], {100: "100+", 999: "Not reported/missing"}, "age", 999),
        _Variable("SEX", 1, t["female"] + 1, {1: "Male", 2: "Female", 9: "Unknown"}, "female", 9),
        _Variable("MARST", 1, t["marital"].copy(), _MARITAL, "marital", 9),
        _Variable("NATIVITY", 1, 2 - t["native"], _NATIVITY, "native", 9),
        _Variable("HRSUSUAL1", 3, hours, {140: "140+ hours", 998: "Unknown", 999: NIU}, "hours_per_week", 998),
        _Variable("OWNERSHIP", 1, 2 - t["owns_dwelling"], _OWNERSHIP, "owns_dwelling", 9),
        _Variable("FAMSIZE", 2, t["family_size"], {1: "1 family member present"}),
        _Variable("NCHILD", 1, t["n_children"], {0: "0 children present", 9: "9+"}),
        # As in the sample of 1980: the number of automobiles is in the label, and the code is another.
        _Variable("AUTOS", 1, t["n_autos"] + 1, _AUTOS, "n_autos", 9),
        _Variable("EMPSTAT", 1, t["employment"].copy(), _EMPLOYMENT, "employment", 9),
        _coded("RACE", 2, t["race"], RACES[country], "race", {99: "Unknown"}),
        _Variable("DISWORK" if us else "DISABLED", 1, 2 - t["disability"], yes_no, "disability", 9),
        _Variable("MIGYRS2" if us else "MIGYRSBR", 2, stay, stay_labels, "years_residing", 98),
        _Variable("INCTOT", 7, t["annual_income"] // (1 if us else 12), {}, "annual_income", 9_999_998),
    ]
    if us:
        units = _coded("UNITSSTR", 2, t["house_type"], UNITS, "house_type", {0: "N/A"})
        return [*common, _coded("EDUCUS", 3, t["education"], LEVELS, "education", {0: NIU}), units]
    years = {0: "None or pre-school", 1: "1 year"} | {k: f"{k} years" for k in range(2, 18)}
    special = {18: "18 years or more", 93: "Some secondary", 98: UNKNOWN, 99: NIU}
    return [*common, _Variable("YRSCHOOL", 2, t["education"], years | special, "education", 93)]


_MARITAL = {
    **{0: NIU, 1: "Single/never married", 2: "Married/in union", 3: "Separated/divorced/spouse absent"},
    **{4: "Widowed", 9: UNKNOWN},
}
_NATIVITY = {0: NIU, 1: "Native-born", 2: "Foreign-born", 9: UNKNOWN}
_OWNERSHIP = {0: NIU, 1: "Owned", 2: "Not owned", 9: "Unknown"}
_AUTOS = {0: NIU, 1: "No automobile"} | {k + 1: f"{k}" for k in range(1, 7)} | {9: UNKNOWN}
_EMPLOYMENT = {0: NIU, 1: "Employed", 2: "Unemployed", 3: "Inactive", 9: UNKNOWN}


def _coded(
    name: str,
    width: int,
    values: NDArray[Any],
    meanings: Sequence[tuple[int, str]],
    attribute: str,
    missing: dict[int, str],
) -> _Variable:
    """Return a variable whose codes stand for the values 1, 2, 3, ..."""
    codes = np.array([code for code, _ in meanings])[values - 1]
    return _Variable(name, width, codes, dict(meanings) | missing, attribute, next(iter(missing)))


def _write_codebook(folder: Path, country: Country, variables: list[_Variable]) -> None:
    """Write the parts of a DDI codebook that the reader looks at, in the places where IPUMS puts them."""
    root = ElementTree.Element("codeBook", {"xmlns": "ddi:codebook:2_5", "version": "2.5"})
    study = ElementTree.SubElement(root, "stdyDscr")
    series = ElementTree.SubElement(ElementTree.SubElement(study, "citation"), "serStmt")
    ElementTree.SubElement(series, "serName", {"abbr": "ipumsi"}).text = "generated people, no data of IPUMS"
    ElementTree.SubElement(series, "serInfo").text = "none"
    info = ElementTree.SubElement(study, "stdyInfo")
    ElementTree.SubElement(info, "notes").text = f"generated: {NAMES[country]} 2000"
    use = ElementTree.SubElement(ElementTree.SubElement(study, "dataAccs"), "useStmt")
    for name in ("citReq", "conditions"):
        ElementTree.SubElement(use, name).text = "none"
    file = ElementTree.SubElement(ElementTree.SubElement(root, "fileDscr"), "fileTxt")
    for name, text in (("fileName", f"{country}.dat"), ("fileCont", "generated people")):
        ElementTree.SubElement(file, name).text = text
    ElementTree.SubElement(file, "fileStrc", {"type": "rectangular"})
    ElementTree.SubElement(file, "fileType", {"charset": "ISO-8859-1"})
    for name, text in (("format", "fixed length fields"), ("filePlac", "none")):
        ElementTree.SubElement(file, name).text = text
    data, start = ElementTree.SubElement(root, "dataDscr"), 1
    for one in variables:
        _describe(data, one, start)
        start += one.width
    ElementTree.ElementTree(root).write(folder / f"{country}.xml", encoding="UTF-8", xml_declaration=True)


def _describe(data: ElementTree.Element, variable: _Variable, start: int) -> None:
    kind = "discrete" if variable.labels else "contin"
    var = ElementTree.SubElement(data, "var", {"ID": variable.name, "name": variable.name, "intrvl": kind, "dcml": "0"})
    place = {"StartPos": start, "EndPos": start + variable.width - 1, "width": variable.width}
    ElementTree.SubElement(var, "location", {key: str(value) for key, value in place.items()})
    for name in ("labl", "txt"):
        ElementTree.SubElement(var, name).text = variable.name
    for code, label in variable.labels.items():
        category = ElementTree.SubElement(var, "catgry")
        ElementTree.SubElement(category, "catValu").text = f"{code:0{variable.width}d}"
        ElementTree.SubElement(category, "labl").text = label
    ElementTree.SubElement(var, "concept").text = "none"
    ElementTree.SubElement(var, "varFormat", {"schema": "other", "type": "numeric"})
