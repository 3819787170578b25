"""Opens the files of an IPUMS extract: the codebook with every one of its labels, and the records from end to end.

Whatever is broken in them is a `DataError` that names the file, so that half a download is never taken for a sample.
"""

from __future__ import annotations

import csv
import gzip
import importlib
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from dpreg.arguments import checked
from dpreg.checks import DataError

# A file that cannot be read to its end, and one whose text is not what the codebook describes.
BROKEN = (EOFError, OSError, UnicodeError, LookupError, zlib.error, csv.Error)
FOREIGN = (ArithmeticError, AttributeError, TypeError, ValueError)

Labels = dict[str, list[tuple[str, str]]]  # of each variable, the codes as they are written, and their labels


@checked
def codebook(file: Path) -> tuple[Any, Any, Labels]:
    """Return the reader, an optional package, the codebook of a file with one record per person, and its labels."""
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
            book, labels = readers.read_ipums_ddi(file), _labels(file)
        except (ElementTree.ParseError, NotImplementedError, *BROKEN, *FOREIGN) as error:
            raise DataError(f"{file.name} is no codebook of IPUMS ({error}): give the DDI of your extract") from error
    if book.file_description.structure != "rectangular":
        raise DataError(f"{file.name} is of a hierarchical extract: make a rectangular one, with one record per person")
    return readers, book, labels


def _labels(file: Path) -> Labels:
    """Return all codes and labels; ipumspy looks codes up by label, and so keeps one of several with the same."""
    return {
        variable.attrib["name"]: [
            (one.findtext("{*}catValu", ""), " ".join(one.findtext("{*}labl", "").split()))
            for one in variable.iterfind("{*}catgry")
        ]
        for variable in ElementTree.parse(file).getroot().iterfind("{*}dataDscr/{*}var")
    }


@checked
def meanings(labels: Labels, name: str, file: str) -> dict[int, str]:
    """Return the label of every code of a variable, or raise `DataError` if a code is no number or has two labels."""
    if name not in labels:
        raise DataError(f"labels of {file} have no name {name!r}: choose one of {', '.join(labels)}")
    found: dict[int, str] = {}
    for code, label in labels[name]:
        try:
            number = int(code)
        except ValueError:
            raise DataError(f"{name} of {file} has the code {code!r}: leave it out, or give numbers") from None
        if found.setdefault(number, label) != label:
            raise DataError(
                f"{name} of {file} labels code {number} both {found[number]!r} and {label!r}: give the codebook as "
                "IPUMS made it"
            )
    return found


@checked
def data(codebook: Path, book: Any) -> Path:
    """Return the file of records that belongs to the codebook."""
    stems = (codebook.stem, Path(book.file_description.filename or "").name.split(".")[0])
    names = [f"{stem}{end}" for stem in stems for end in (".dat.gz", ".dat", ".csv.gz", ".csv")]
    for name in names:
        if (codebook.parent / name).is_file():
            return codebook.parent / name
    place = codebook.parent.name
    raise DataError(f"the data of {codebook.name} are missing from {place}/: give one of {', '.join(names)}")


@checked
def records(readers: Any, book: Any, file: Path, columns: list[str], size: int) -> Iterator[pd.DataFrame]:
    """Return the records, so many at a time, of a file that is whole.

    Parameters
    ----------
    readers, book
        As `codebook` returns them.
    file : Path
    columns : list of str
        Variables to read.
    size : int
    """
    try:
        _check_lines(book, file, columns)
        found = 0
        for chunk in readers.read_microdata_chunked(book, file, subset=columns, chunksize=size):
            found += len(chunk)
            yield chunk
    except BROKEN as error:
        raise DataError(f"{file.name} is broken ({error}): restore it, or make the extract again") from error
    except FOREIGN as error:
        # What it cannot read is part of a record, so only the traceback shows it.
        raise DataError(
            f"{file.name} does not hold the numbers that its codebook describes: give two files of one extract"
        ) from error
    if not found:
        raise DataError(f"{file.name} holds no record: restore it, or make the extract again")


def _check_lines(book: Any, file: Path, columns: list[str]) -> None:
    """Read the file to its end, and raise `DataError` for a line that is not of the length it should be.

    The reader would take the fields that are not there for answers not given.
    """
    opened: Any = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding=book.file_description.encoding) as lines:
        if ".csv" in file.suffixes:
            rows = csv.reader(lines)
            header = next(rows, [])
            if missing := [name for name in columns if name not in header]:
                raise DataError(f"{file.name} has no column {missing[0]}: add it to your extract")
            bad = next((rows.line_num for row in rows if row and len(row) != len(header)), None)
        else:
            width = max(one.end for one in book.data_description)
            bad = next((k for k, line in enumerate(lines, 1) if 0 < len(line.rstrip("\r\n")) < width), None)
    if bad is not None:
        raise DataError(f"line {bad} of {file.name} is not as long as its codebook says: restore the file")
