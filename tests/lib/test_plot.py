"""What `drawn` returns is what is on the axes, so a figure that draws something else changes its table."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib import colors

from dpreg.sweeps.experiment import summarise
from lib.pages import plot


@pytest.fixture
def axes():
    fig, (axes,) = plot.figure()
    yield axes
    plt.close(fig)


@pytest.fixture
def summary():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        [
            (method, epsilon, repeat, 0, "rmse", rng.uniform(1, 2))
            for method, grid in (("fm", (4.0, 0.5, 1.0)), ("none", (np.inf,)), ("other", (1.0, 2.0)))
            for epsilon in grid
            for repeat in range(20)
        ],
        columns=["method", "epsilon", "repeat", "fold", "metric", "value"],
    )
    return summarise(frame)


def series(table, name):
    part = table[table["series"] == name]
    return part["x"].tolist(), part["y"].tolist()


def test_bands_draw_medians_bands_and_level_lines(axes, summary):
    plot.bands(axes, summary)
    table = plot.drawn(axes, points=100)
    for method in ("fm", "other"):
        part = summary[summary["method"] == method].sort_values("epsilon")
        assert series(table, method) == (part["epsilon"].tolist(), part["median"].tolist())
    none = summary[summary["method"] == "none"]["median"].tolist()
    assert set(series(table, "none")[1]) == set(none)
    for method in ("fm", "other"):
        part = summary[summary["method"] == method].sort_values("epsilon")
        for edge in ("low", "high"):
            assert series(table, f"{method} {edge}") == (part["epsilon"].tolist(), part[edge].tolist())
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["fm", "none", "other"]


def test_bands_of_another_column_have_no_band(axes, summary):
    plot.bands(axes, summary, value="variance", label="variance", log=False)
    table = plot.drawn(axes, points=100)
    part = summary[summary["method"] == "fm"].sort_values("epsilon")
    assert series(table, "fm") == (part["epsilon"].tolist(), part["variance"].tolist())
    assert not table["series"].str.endswith(("low", "high")).any()
    assert axes.get_yscale() == "linear"
    assert axes.get_ylabel() == "variance"


@pytest.mark.parametrize("x", ["epsilon", "rate"])
def test_panels_draw_each_summary_under_its_title(summary, x):
    fig, axes = plot.figure(2)
    halves = {title: summary[summary["method"] == title].rename(columns={"epsilon": x}) for title in ("fm", "other")}
    plot.panels(axes, halves, x=x, log=False, ylabel="error", ylim=(0, 3))
    for axis, (title, part) in zip(axes, halves.items(), strict=True):
        part = part.sort_values(x)
        assert series(plot.drawn(axis), title) == (part[x].tolist(), part["median"].tolist())
        assert axis.get_title() == title
        assert (axis.get_xscale(), axis.get_yscale()) == ("log" if x == "epsilon" else "linear", "linear")
        assert (axis.get_xlabel(), axis.get_ylim()) == (r"$\varepsilon$" if x == "epsilon" else "rate", (0, 3))
    assert [axis.get_ylabel() for axis in axes] == ["error", ""]
    plt.close(fig)


def test_panels_draw_another_column_without_its_band(summary):
    fig, pair = plot.figure(2)
    parts = {name: summary[summary["method"].isin([name, "none"])] for name in ("fm", "other")}
    plot.panels(pair, parts, value="mean", log=False)
    for panel, part in zip(pair, parts.values(), strict=True):
        alone, (single,) = plot.figure()
        plot.bands(single, part, value="mean", log=False)
        assert plot.drawn(panel).equals(plot.drawn(single))
        plt.close(alone)
    with pytest.raises(ValueError, match="shorter"):
        plot.panels(pair, {"fm": parts["fm"]})
    plt.close(fig)


def test_curves_draw_every_series(axes):
    x = np.linspace(0, 1, 9)
    plot.curves(axes, x, {"square": x**2, "cube": list(x**3)}, xlabel="x", ylabel="y")
    table = plot.drawn(axes, points=9)
    assert series(table, "square") == (x.tolist(), (x**2).tolist())
    assert series(table, "cube") == (x.tolist(), (x**3).tolist())
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "y")


def test_curves_draw_every_point_under_its_name(axes):
    """Tables show a few points of each curve, and no legend."""
    x = np.linspace(0.0, 1.0, 101)
    series = {"up": x**2, "down": 1 - x, "flat": np.ones(101)}
    plot.curves(axes, x, series, xlabel="x", ylabel="y")
    legend = axes.get_legend()
    for line, handle, text, name in zip(axes.lines, legend.get_lines(), legend.get_texts(), series, strict=True):
        assert line.get_xdata().tolist() == x.tolist()
        assert line.get_ydata().tolist() == series[name].tolist()
        assert text.get_text() == line.get_label() == name
        assert (handle.get_color(), handle.get_linestyle()) == (line.get_color(), line.get_linestyle())


def test_bars_are_read_back(axes):
    axes.bar([1.0, 2.0, 4.0], [3.0, 5.0, -7.0], width=0.3, label="bars")
    assert series(plot.drawn(axes), "bars") == (pytest.approx([1.0, 2.0, 4.0]), [3.0, 5.0, -7.0])


def test_a_long_series_is_sampled_evenly_with_its_ends(axes):
    x = np.arange(101.0)
    plot.curves(axes, x, {"line": 10 * x}, xlabel="x", ylabel="y")
    for points in (2, 6, 11):
        found, values = series(plot.drawn(axes, points), "line")
        assert len(found) == points
        assert (found[0], found[-1]) == (0, 100)
        assert np.ptp(np.diff(found)) <= 1
        assert values == [10 * k for k in found]


@pytest.mark.parametrize("factor", [1.001, -1.0])
def test_a_figure_that_scales_its_data_shows_in_its_table(axes, summary, factor, monkeypatch):
    """Were `drawn` to read the data and not the figure, a wrong figure would have a right table."""
    plot.bands(axes, summary)
    honest = plot.drawn(axes)
    fig, (other,) = plot.figure()
    original = type(other).plot

    def scaled(self, x, y, **look):
        return original(self, x, np.asarray(y) * factor, **look)

    monkeypatch.setattr(type(other), "plot", scaled)
    plot.bands(other, summary, log=False)
    plt.close(fig)
    found = plot.drawn(other)
    np.testing.assert_allclose(series(found, "fm")[1], factor * np.array(series(honest, "fm")[1]))


def test_an_empty_figure_has_an_empty_table(axes):
    assert plot.drawn(axes).empty
    axes.plot([], [], label="nothing")
    assert plot.drawn(axes).empty


def test_series_differ_in_colour_marker_and_dash():
    looks = [plot.style(k) for k in range(len(plot.COLOURS))]
    for key in ("color", "marker", "linestyle"):
        assert len({look[key] for look in looks}) == len(looks)
    assert plot.style(len(looks)) == looks[0]


def contrast(colour):
    """WCAG's contrast ratio against white."""
    channel = np.array(colors.to_rgb(colour))
    light = np.where(channel <= 0.04045, channel / 12.92, ((channel + 0.055) / 1.055) ** 2.4)
    return 1.05 / (float(light @ [0.2126, 0.7152, 0.0722]) + 0.05)


def test_the_first_three_colours_are_seen_on_white():
    for colour in plot.COLOURS[:3]:
        assert contrast(colour) >= 3


def test_panels_share_one_legend():
    fig, panels = plot.figure(2)
    for panel, extra in zip(panels, ({}, {"other": [2.0, 1.0]}), strict=True):
        plot.curves(panel, [0, 1], {"FM": [1.0, 2.0]} | extra, xlabel="x", ylabel="y")
    panels[0].axhline(1.5, label="base")
    plot.legend(fig, 2)
    (shared,) = fig.legends
    assert [text.get_text() for text in shared.get_texts()] == ["FM", "base", "other"]
    assert [panel.get_legend() for panel in panels] == [None, None]
    first = panels[0].get_lines()[0]
    assert shared.get_lines()[0].get_color() == first.get_color()


def test_figures_share_an_axis_on_request():
    fig, axes = plot.figure(2, share_y=True, height=3.0)
    axes[0].set_ylim(0, 7)
    assert axes[1].get_ylim() == (0, 7)
    assert fig.get_size_inches().tolist() == [7.0, 3.0]
    plt.close(fig)


def test_numbers_puts_series_side_by_side(axes, summary):
    plot.bands(axes, summary[summary["method"] != "other"])  # its grid differs
    table = plot.numbers(axes, points=100)
    fm = summary[summary["method"] == "fm"].sort_values("epsilon")
    assert table["privacy budget ε"].tolist() == fm["epsilon"].tolist()
    assert table["fm"].tolist() == fm["median"].tolist()
    assert table["fm high"].tolist() == fm["high"].tolist()
    assert set(table["none"]) == set(summary[summary["method"] == "none"]["median"])


def test_numbers_of_series_with_different_x_stay_long(axes):
    plot.curves(axes, [0, 1, 2], {"a": [1, 2, 3]}, xlabel="", ylabel="")
    plot.curves(axes, [0, 1, 3], {"b": [1, 2, 3]}, xlabel="", ylabel="")
    pd.testing.assert_frame_equal(plot.numbers(axes), plot.drawn(axes))


def test_numbers_of_equal_labels_are_not_merged(axes):
    plot.curves(axes, [0, 1], {"a": [1, 2]}, xlabel="", ylabel="")
    plot.curves(axes, [0, 1], {"a": [3, 4]}, xlabel="", ylabel="")
    assert plot.numbers(axes)["a"].tolist() == [1.0, 2.0, 3.0, 4.0]


def test_boxes_are_those_of_the_values(axes):
    rng = np.random.default_rng(1)
    values = {
        0.1: np.r_[rng.uniform(1, 2, 49), 40.0],
        1.0: rng.uniform(1, 2, 50),
        10.0: np.r_[0.001, rng.uniform(1, 2, 19)],
    }
    frame = pd.concat(pd.DataFrame({"epsilon": epsilon, "value": v}) for epsilon, v in values.items())
    plot.boxes(axes, frame, label="error")
    table = plot.numbers(axes)
    assert table.iloc[:, 0].tolist() == pytest.approx(list(values))
    for row, v in zip(table.to_dict("records"), values.values(), strict=True):
        low, middle, high = np.quantile(v, [0.25, 0.5, 0.75])
        inside = v[(v >= low - 1.5 * (high - low)) & (v <= high + 1.5 * (high - low))]
        assert row["lower quartile"] == pytest.approx(low)
        assert row["median"] == pytest.approx(middle)
        assert row["upper quartile"] == pytest.approx(high)
        assert (row["lower whisker"], row["upper whisker"]) == pytest.approx((inside.min(), inside.max()))
        assert row["outliers"] == plot.outliers(pd.Series(v)) == len(v) - len(inside)
        assert row["largest"] == v.max()
    assert table["outliers"].tolist() == [1, 0, 1]
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_boxes_beside_lines(axes):
    plot.curves(axes, [1.0], {"line": [5.0]}, xlabel="x", ylabel="y")
    plot.boxes(axes, pd.DataFrame({"epsilon": [1.0, 1.0, 1.0], "value": [1.0, 2.0, 3.0]}))
    table = plot.drawn(axes)
    assert series(table, "line") == ([1.0], [5.0])
    assert series(table, "median") == ([1.0], [2.0])
    assert set(table["series"]) == {"line", "median", "outliers", "largest", "lower whisker", "upper whisker"} | {
        "lower quartile",
        "upper quartile",
    }
