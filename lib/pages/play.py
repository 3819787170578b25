"""Pictures to play with: Altair charts whose parameters are sliders, switches and lists on the page.

A picture is a Vega-Lite specification with its data. JupyterLab draws it as it stands; the book draws it with the
library that `library` returns; where neither can, its still is shown. No picture asks the network for anything.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import altair as alt
import pandas as pd
import vl_convert

from dpreg import checks, limits
from dpreg.checks import InputError
from lib.pages.plot import COLOURS

MIME = "application/vnd.vegalite.v5+json"  # the newest Vega-Lite that JupyterLab draws; version 6 draws it, too
VERSION = "6.4"  # of Vega-Lite, on the page and for the still: that of Altair
WIDTH, HEIGHT = 560, 300  # of the still; on a page the picture is as wide as its place
DIGITS = 4  # of every number in a specification, so that it is the same on every processor

ABOVE: Any = {"x": 0, "y": -10, "align": "left"}  # where a line of words stands: above the picture
INK, GRID = "currentColor", "#88888855"  # the colour of the page's text, whatever its theme
CONFIG: Any = {
    "background": "transparent",
    "axis": {"labelColor": INK, "titleColor": INK, "tickColor": INK, "domainColor": INK, "gridColor": GRID}
    | {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
    "legend": {"labelColor": INK, "titleColor": INK, "orient": "bottom", "columns": 2, "labelLimit": 0}
    | {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
    "line": {"strokeWidth": 2},
    "mark": {"color": COLOURS[0]},
    "range": {"category": [*COLOURS[:-1], INK]},
    "rule": {"color": INK},
    "text": {"color": INK, "fontSize": 12},
    "title": {"color": INK, "fontSize": 12, "fontWeight": "normal"},
    "view": {"stroke": None},
}


class Picture:
    """A chart as pages show it: in the book's style, with `DIGITS` digits, and a still.

    Parameters
    ----------
    chart : Altair chart, of one view or of layers
    height : int

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [1.0, 2.0], "y": [2 / 3, 3.0], "draw": [1, 2]})
    >>> chart = alt.Chart(frame).mark_point().encode(x="x", y="y").transform_filter("datum.draw == draw")
    >>> picture = Picture(chart.add_params(slider("draw", "the draw", 1, 2)))
    >>> picture.start
    {'draw': 1}
    >>> picture.data[0]["y"].tolist()
    [0.6667, 3.0]
    """

    def __init__(self, chart: alt.Chart | alt.LayerChart, height: int = HEIGHT) -> None:
        if not isinstance(chart, alt.Chart | alt.LayerChart):
            raise InputError(f"chart is of type {type(chart).__name__}: give a chart of one view, or layers")
        made = {"datasets": {}} | chart.to_dict()
        text = json.dumps(made)
        for number, name in enumerate(made["datasets"]):  # a checksum of all digits, which processors differ in
            text = text.replace(name, f"data-{number}")
        spec = json.loads(text, parse_float=_rounded)
        del spec["$schema"]  # the address of one version
        self.spec: dict[str, Any] = spec | {
            "config": CONFIG,
            "width": "container",
            "height": checks.count(height, "height"),
            "autosize": {"type": "fit-x", "contains": "padding"},
        }

    @property
    def data(self) -> list[pd.DataFrame]:
        """Data sets, in the order in which the chart names them."""
        return [pd.DataFrame(rows) for rows in self.spec["datasets"].values()]

    @property
    def start(self) -> dict[str, Any]:
        """Values of the parameters before anybody moves them."""
        return {param["name"]: param["value"] for param in self.spec.get("params", []) if "bind" in param}

    @cached_property
    def still(self) -> bytes:
        """The picture before anybody plays with it, as PNG, on white."""
        spec = self.spec | {"width": WIDTH, "config": CONFIG | {"background": "white"}}
        return _png(spec)

    def __repr__(self) -> str:
        start = ", ".join(f"{name} = {json.dumps(value)}" for name, value in self.start.items())
        rows = sum(map(len, self.spec["datasets"].values()))
        # Stands for every number of the picture where outputs are compared.
        checksum = zlib.crc32(json.dumps(list(self.spec["datasets"].values())).encode())
        return f"A picture to play with; it starts with {start}. Rows of data: {rows}. Their checksum: {checksum:08x}."

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {MIME: self.spec, "image/png": self.still, "text/plain": repr(self)}


def slider(
    name: str, label: str, low: float, high: float, step: float = 1, start: float | None = None
) -> alt.Parameter:
    """Return a parameter that a slider moves, with the mouse or the arrow keys; it starts at the low end unless told.

    Parameters
    ----------
    name, label : str
        In expressions, and beside the slider.
    low, high, step, start : float

    Examples
    --------
    >>> slider("k", "iteration", 1, 5).to_dict()
    {'expr': 'k'}
    """
    checks.positive(step, "step")
    if not low < high:
        raise InputError(f"low is {low:g} and high {high:g}: give the smaller one first")
    value = low if start is None else start
    if not low <= value <= high:
        raise InputError(f"start is {value:g}: give a number from {low:g} to {high:g}")
    return alt.param(name=name, value=value, bind=alt.binding_range(min=low, max=high, step=step, name=f"{label} "))


def switch(name: str, label: str, start: bool = False) -> alt.Parameter:
    """Return a parameter that is on or off.

    Examples
    --------
    >>> switch("ridge", "add the ridge").to_dict()
    {'expr': 'ridge'}
    """
    return alt.param(name=name, value=start, bind=alt.binding_checkbox(name=f"{label} "))


def choice(name: str, label: str, options: Sequence[Any]) -> alt.Parameter:
    """Return a parameter that is chosen from a list, and starts with the first.

    Examples
    --------
    >>> choice("country", "census of", ["US", "Brazil"]).to_dict()
    {'expr': 'country'}
    """
    if len(options) < 2:
        raise InputError(f"options has {len(options)} entries: give at least two")
    return alt.param(name=name, value=options[0], bind=alt.binding_select(options=list(options), name=f"{label} "))


def chosen(frame: pd.DataFrame, controls: Sequence[alt.Parameter]) -> alt.Chart:
    """Return a chart of the rows in which each column that a control is named after has the control's value.

    Examples
    --------
    >>> chosen(pd.DataFrame({"k": [1, 2], "x": [3.0, 4.0]}), [slider("k", "k", 1, 2)]).transform[0].filter
    'datum.k === k'
    """
    names = [control.name for control in controls]
    limits.has(frame, names, "frame")
    return alt.Chart(frame).transform_filter(" && ".join(f"datum.{name} === {name}" for name in names))


def numbers(picture: Picture, data: int = 0, **where: Any) -> pd.DataFrame:
    """Return what a picture holds in one of its data sets, read back from its specification, for its table.

    Further keywords are values of columns: only rows that have them all are returned, without these columns.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [1.0, 2.0], "y": [2 / 3, 3.0], "draw": [1, 2]})
    >>> numbers(Picture(alt.Chart(frame).mark_point().encode(x="x", y="y")), draw=1).to_dict("list")
    {'x': [1.0], 'y': [0.6667]}
    """
    frames = picture.data
    if not 0 <= data < len(frames):
        raise InputError(f"data is {data}: give a number from 0 to {len(frames) - 1}")
    frame = frames[data]
    limits.has(frame, list(where), "where")
    for column, value in where.items():
        frame = frame[frame[column] == value]
    if frame.empty:
        raise InputError(f"no row has {where}: give values that the data have")
    return frame.drop(columns=list(where)).reset_index(drop=True)


def library() -> str:
    """Return the JavaScript that draws pictures on a page: Vega, Vega-Lite and Vega-Embed in one script.

    Examples
    --------
    >>> len(library()) < 1_000_000
    True
    """
    return f"(() => {{{vl_convert.javascript_bundle('window.vegaEmbed = vegaEmbed;', vl_version=VERSION)}}})();\n"


def _png(spec: dict[str, Any]) -> bytes:
    """Draw in another process: the engine of vl_convert keeps two hundred megabytes as long as its process lives."""
    draw = f"vl_convert.vegalite_to_png(json.load(sys.stdin), vl_version={VERSION!r}, scale=1.5)"
    code = f"import json, sys, vl_convert; sys.stdout.buffer.write({draw})"
    return subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(spec).encode(), stdout=subprocess.PIPE, check=True
    ).stdout


def _rounded(text: str) -> float:
    return float(f"{float(text):.{DIGITS}g}") + 0.0
