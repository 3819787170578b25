"""A decimal number in an alt text is one that the table below its figure shows."""

import json
import re
from functools import cache

import jupytext
import pytest

from tools import chapters, reference

DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?!\w)")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)")
ROUGH = {"fig-allocation-share": {0.1}, "fig-linear-parabola": {0.1}}  # "near", "within": read off an axis


@cache
def figures(page):
    """Name and alt text of each figure of a chapter, and what the next cell prints."""
    path = reference.target(page)
    outputs = [cell["outputs"] for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    cells = chapters.code_cells(jupytext.read(page, fmt="md:myst"))
    headers = [cell.metadata.get("mystnb", {}) for cell in cells]
    return [
        (header["figure"]["name"], header["image"]["alt"], shown(below))
        for header, below in zip(headers, [*outputs[1:], []], strict=True)
        if "figure" in header
    ]


def shown(outputs):
    text = "\n".join("".join(o.get("data", {}).get("text/plain", o.get("text", ""))) for o in outputs)
    return {float(number) for number in NUMBER.findall(text)}


def lost(name, alt, table):
    return {float(number) for number in DECIMAL.findall(alt)} - table - ROUGH.get(name, set())


@pytest.mark.parametrize("page", chapters.chapters(), ids=lambda page: page.stem)
def test_decimals_are_those_of_the_table(page):
    found = {name: lost(name, alt, table) for name, alt, table in figures(page)}
    assert {name: numbers for name, numbers in found.items() if numbers} == {}


def test_an_edited_number_is_noticed():
    (page,) = (page for page in chapters.chapters() if page.stem == "zhang" and page.parent.name == "experiments")
    edited = [
        lost(name, alt.replace(number, number + "0091", 1), table)
        for name, alt, table in figures(page)
        for number in DECIMAL.findall(alt)
    ]
    assert len(edited) > 20
    assert all(edited)
