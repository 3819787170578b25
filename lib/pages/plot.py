"""One look for every figure, and one function per kind of figure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cycler import cycler
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cbook import boxplot_stats
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from dpreg import checks

# Okabe and Ito's palette, told apart in any colour vision; markers and dashes carry the same difference in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))

BOX = "box"  # mark of the lines that make up box plots: `drawn` reads them together
PARTS = ("boxes", "medians", "caps", "fliers")

STYLE: Any = {
    "figure.figsize": (7.0, 4.2),
    "figure.dpi": 110,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.bbox": "tight",
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=COLOURS),
    "grid.color": "#dddddd",
    "font.size": 11,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
}


def figure(columns: int = 1, rows: int = 1, *, height: float = 4.2, share_y: bool = False) -> tuple[Figure, list[Axes]]:
    """Return a figure in the book's style and its axes, row by row.

    From here on matplotlib has its own defaults and this style, whatever a matplotlibrc says: a notebook draws when a
    cell ends, and legends and lines are made after this call.

    Parameters
    ----------
    columns, rows : int
        Of panels.
    height : float
        In inches.
    share_y : bool
        One vertical axis for all panels.

    Examples
    --------
    >>> fig, axes = figure(2)
    >>> len(axes)
    2
    """
    # Not rc_context: a notebook's backend turns interactive with the first figure, the context would undo that when it
    # ends, and every later figure would stay unseen.
    plt.style.use(["default", STYLE])
    fig, axes = plt.subplots(rows, columns, figsize=(7.0, height), layout="constrained", squeeze=False, sharey=share_y)
    return fig, list(axes.flat)


def style(index: int) -> dict[str, Any]:
    """Return colour, marker and dash of the series with this index."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[index % len(DASHES)],
    }


def bands(
    axes: Axes, summary: pd.DataFrame, *, value: str = "median", label: str = "test RMSE", log: bool = True
) -> None:
    """Draw each method against epsilon, with its band; methods without privacy as level lines.

    Parameters
    ----------
    axes : matplotlib axes
    summary : frame from `experiment.summarise`, one metric only
    value : str
        The column to draw. The band, `low` to `high`, goes with the median only.
    label : str
        Of the vertical axis.
    log : bool
        Logarithmic vertical axis.
    """
    series(axes, summary, x="epsilon", value=value, log=log)
    axes.set_xscale("log")
    axes.set_xlabel(r"privacy budget $\varepsilon$ (smaller is more private)")
    axes.set_ylabel(label)


def series(
    axes: Axes,
    summary: pd.DataFrame,
    *,
    x: str,
    value: str = "median",
    xlabel: str = "",
    ylabel: str = "",
    log: bool = True,
) -> None:
    """Draw each method against a column of the summary, with its band; where that is infinite, as a level line.

    Parameters
    ----------
    axes : matplotlib axes
    summary : frame from `experiment.summarise`, one metric only
    x : str
        The column that goes across, such as a dimension or a sampling rate.
    value : str
        The column to draw. The band, `low` to `high`, goes with the median only.
    xlabel, ylabel : str
    log : bool
        Logarithmic vertical axis.

    Examples
    --------
    >>> fig, (axes,) = figure()
    >>> part = {"median": [3.0, 2.0], "low": [2.0, 1.0], "high": [4.0, 3.0]}
    >>> series(axes, pd.DataFrame({"method": "FM", "rate": [0.1, 1.0], **part}), x="rate", xlabel="rate")
    >>> numbers(axes).to_dict("list")["FM"]
    [3.0, 2.0]
    """
    for index, (method, part) in enumerate(summary.groupby("method", sort=False)):
        look = style(index)
        if np.isinf(part[x]).all():
            axes.axhline(float(part[value].iloc[0]), color=look["color"], linestyle=look["linestyle"], label=method)
            continue
        part = part.sort_values(x)
        axes.plot(part[x], part[value], label=method, **look)
        if value == "median":
            band = {"color": look["color"], "alpha": 0.15, "linewidth": 0, "label": f"_{method}"}
            axes.fill_between(part[x], part["low"], part["high"], **band)
    axes.set_yscale("log" if log else "linear")
    axes.yaxis.set_major_formatter("{x:g}")
    if log:
        low, high = axes.get_ylim()
        if 5 <= high / low < 100:
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_minor_formatter("{x:g}" if high / low < 5 else NullFormatter())
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.legend()


def panels(
    axes: Sequence[Axes],
    summaries: Mapping[str, pd.DataFrame],
    *,
    x: str = "epsilon",
    value: str = "median",
    log: bool = True,
    **settings: Any,
) -> None:
    """Draw a panel for each summary, by `series`, with its name above; only those on the left have a vertical label.

    Further keywords, such as `ylabel` and `ylim`, are set on every panel, as matplotlib's `Axes.set` takes them.

    Parameters
    ----------
    axes : matplotlib axes, one for each summary
    summaries : dict from title to a frame from `experiment.summarise`, one metric only
    x : str
        The column that goes across, and the label below it. Epsilon has a logarithmic axis.
    value : str
        The column to draw. The band, `low` to `high`, goes with the median only.
    log : bool
        Logarithmic vertical axis.

    Examples
    --------
    >>> fig, axes = figure(2)
    >>> part = pd.DataFrame({"method": "FM", "rate": [0.1, 1.0], "median": [3.0, 2.0], "low": 1.0, "high": 4.0})
    >>> panels(axes, {"US": part, "Brazil": part}, x="rate", ylabel="error")
    >>> [(axis.get_title(), axis.get_xlabel(), axis.get_ylabel()) for axis in axes]
    [('US', 'rate', 'error'), ('Brazil', 'rate', '')]
    """
    for axis, (title, summary) in zip(axes, summaries.items(), strict=True):
        series(axis, summary, x=x, value=value, xlabel=x, log=log)
        if x == "epsilon":
            axis.set(xscale="log", xlabel=r"$\varepsilon$")
        axis.set(title=title, **settings)
        if (place := axis.get_subplotspec()) and not place.is_first_col():
            axis.set_ylabel("")


def curves(axes: Axes, x: object, series: dict[str, object], *, xlabel: str, ylabel: str) -> None:
    """Draw several functions of one variable, told apart by colour and dash.

    Parameters
    ----------
    axes : matplotlib axes
    x : array of shape (k,)
    series : dict from label to array of shape (k,)
    xlabel, ylabel : str
    """
    for index, (label, values) in enumerate(series.items()):
        look = style(index)
        axes.plot(np.asarray(x), np.asarray(values), label=label, color=look["color"], linestyle=look["linestyle"])
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.legend()


def legend(figure: Figure, columns: int = 3) -> None:
    """Show one legend below all panels in place of theirs; a name that several panels draw stands in it once.

    Parameters
    ----------
    figure : matplotlib figure
    columns : int

    Examples
    --------
    >>> fig, panels = figure(2)
    >>> for panel in panels:
    ...     curves(panel, [0, 1], {"FM": [1.0, 2.0]}, xlabel="x", ylabel="y")
    >>> legend(fig)
    >>> [text.get_text() for text in fig.legends[0].get_texts()], panels[0].get_legend()
    (['FM'], None)
    """
    named: dict[str, Artist] = {}
    for panel in figure.axes:
        if own := panel.get_legend():
            own.remove()
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    figure.legend(list(named.values()), list(named), loc="outside lower center", ncols=columns)


def drawn(axes: Axes, points: int = 6) -> pd.DataFrame:
    """Return the numbers a figure shows, read back from its lines, bands, bars and boxes, for its table.

    Reading them from the figure and not from the data means that the checked table is of what is drawn.

    Parameters
    ----------
    axes : matplotlib axes
    points : int
        At most so many points of each series, evenly spaced in order, first and last included.

    Returns
    -------
    DataFrame with columns series, x, y, one row per point; bands add low or high to the name.

    Examples
    --------
    >>> fig, (axes,) = figure()
    >>> curves(axes, [0, 1], {"line": [2.0, 3.0]}, xlabel="x", ylabel="y")
    >>> drawn(axes)["y"].tolist()
    [2.0, 3.0]
    """
    checks.count(points, "points", 2)
    rows: list[tuple[str, float, float]] = []
    for line in (line for line in axes.lines if line.get_gid() != BOX):
        rows += _sampled(str(line.get_label()), np.asarray(line.get_xdata()), np.asarray(line.get_ydata()), points)
    for number, band in enumerate(c for c in axes.collections if isinstance(c, FillBetweenPolyCollection)):
        label = str(band.get_label()).lstrip("_")
        name = f"band {number + 1}" if label.startswith(("child", "nolegend")) else label
        corners = band.get_paths()[0].vertices
        frame = pd.DataFrame(np.asarray(corners), columns=["x", "y"]).groupby("x")["y"].agg(["min", "max"])
        for edge, column in (("low", "min"), ("high", "max")):
            rows += _sampled(f"{name} {edge}", frame.index.to_numpy(), frame[column].to_numpy(), points)
    for container in (c for c in axes.containers if isinstance(c, BarContainer)):
        bars = container.patches
        centres = np.array([bar.get_x() + bar.get_width() / 2 for bar in bars])
        rows += _sampled(str(container.get_label()), centres, np.array([bar.get_height() for bar in bars]), points)
    for name, x, y in _boxes(axes):
        rows += _sampled(name, x, y, points)
    return pd.DataFrame(rows, columns=["series", "x", "y"])


def numbers(axes: Axes, points: int = 6) -> pd.DataFrame:
    """Return what `drawn` reads back as a table: x down, series across; level lines fill their column.

    Series with different x stay in the long form of `drawn`.

    Examples
    --------
    >>> fig, (axes,) = figure()
    >>> curves(axes, [0, 1], {"line": [2.0, 3.0], "other": [4.0, 5.0]}, xlabel="x", ylabel="y")
    >>> numbers(axes).to_dict("list")
    {'x': [0.0, 1.0], 'line': [2.0, 3.0], 'other': [4.0, 5.0]}
    """
    found = drawn(axes, points)
    level = {  # of lines across the whole figure, x is not in the units of the axis
        str(line.get_label())
        for line in axes.lines
        if not line.get_transform().contains_branch_seperately(axes.transData)[0]
    }
    series = dict(list(found.groupby("series", sort=False)))
    across = [part["x"].to_numpy() for name, part in series.items() if name not in level]
    if not across or not all(np.array_equal(x, across[0]) for x in across):
        return found
    columns = {name: part["y"].iloc[0] if name in level else part["y"].to_numpy() for name, part in series.items()}
    return pd.DataFrame({_plain(axes.get_xlabel()): across[0]} | columns)


def _plain(label: str) -> str:
    """Return an axis label as a heading: no TeX, and nothing in brackets."""
    for tex, text in {r"\varepsilon": "ε", r"\theta": "θ", r"\lambda": "λ"}.items():
        label = label.replace(tex, text)
    return re.sub(r"\s*\(.*\)", "", label.replace("$", "")).strip() or "x"


def _sampled(label: str, x: np.ndarray, y: np.ndarray, points: int) -> list[tuple[str, float, float]]:
    keep = np.unique(np.linspace(0, len(x) - 1, min(points, len(x))).round().astype(int))
    return [(label, float(x[k]), float(y[k])) for k in keep]


def boxes(axes: Axes, frame: pd.DataFrame, *, label: str = "test RMSE") -> None:
    """Draw a box for each epsilon: quartiles, median, whiskers, and outliers as points.

    Whiskers end at the furthest values within one and a half lengths of the box; what lies beyond is an outlier.

    Parameters
    ----------
    axes : matplotlib axes
    frame : frame from `experiment.sweep`, one method and one metric only
    label : str
        Of the vertical axis.

    Examples
    --------
    >>> fig, (axes,) = figure()
    >>> boxes(axes, pd.DataFrame({"epsilon": 1.0, "value": [1.0, 2.0, 3.0, 4.0, 90.0]}))
    >>> numbers(axes)[["median", "outliers", "largest"]].values.tolist()
    [[3.0, 1.0, 90.0]]
    """
    groups = dict(list(frame.groupby("epsilon")["value"]))
    grid = np.array(list(groups))
    look = {"color": COLOURS[0]}
    drawn = axes.bxp(
        boxplot_stats([values.to_numpy() for values in groups.values()]),
        positions=grid,
        widths=grid / 2,
        manage_ticks=False,
        boxprops=look,
        whiskerprops=look,
        capprops=look,
        medianprops={"color": COLOURS[1], "linewidth": 2.2},
        flierprops={"marker": "o", "markersize": 4, "markeredgecolor": COLOURS[0], "alpha": 0.6},
    )
    for part, lines in drawn.items():
        for line in lines:
            line.set(gid=BOX, label=f"_{part}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(r"privacy budget $\varepsilon$ (smaller is more private)")
    axes.set_ylabel(label)


def outliers(values: pd.Series) -> int:
    """Return how many points `boxes` draws beyond the whiskers of one box.

    Examples
    --------
    >>> outliers(pd.Series([1.0, 2.0, 3.0, 4.0, 90.0]))
    1
    """
    return len(boxplot_stats(values.to_numpy())[0]["fliers"])


def _boxes(axes: Axes) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Return each number of the box plots on the axes, as (name, x, y) with one entry per box."""
    lines: dict[str, list[Any]] = {part: [] for part in PARTS}
    for line in (line for line in axes.lines if line.get_gid() == BOX):
        lines.setdefault(str(line.get_label()).lstrip("_"), []).append(line)
    if not lines["boxes"]:
        return []
    heights = {part: [np.asarray(line.get_ydata(), dtype=float) for line in found] for part, found in lines.items()}
    caps = np.array([height[0] for height in heights["caps"]]).reshape(-1, 2)
    ends = np.array([[height.min(), height.max()] for height in heights["boxes"]])
    x = np.array([np.mean(np.unique(line.get_xdata())) for line in lines["medians"]])
    columns = {
        "lower whisker": caps[:, 0],
        "lower quartile": ends[:, 0],
        "median": np.array([height[0] for height in heights["medians"]]),
        "upper quartile": ends[:, 1],
        "upper whisker": caps[:, 1],
        "outliers": np.array([float(len(height)) for height in heights["fliers"]]),
        "largest": np.array([max([cap, *beyond]) for cap, beyond in zip(caps[:, 1], heights["fliers"], strict=True)]),
    }
    return [(name, x, y) for name, y in columns.items()]
