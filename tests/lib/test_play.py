"""A picture to play with holds the numbers it was given, rounded, and is drawn by page, notebook and still."""

import json
import struct

import altair as alt
import numpy as np
import pandas as pd
import pytest
import vl_convert

from lib.pages import play

LAB = "5.8"  # of Vega-Lite: older than that of the JupyterLab of tools/jupyter/requirements.txt


@pytest.fixture
def frame():
    return pd.DataFrame({"k": [1, 1, 2, 2], "x": [0.0, 1.0, 0.0, 1.0], "y": [2 / 3, -1e-9 / 3, np.nan, 12345.6]})


@pytest.fixture
def chart(frame):
    controls = [
        play.slider("k", "which", 1, 2),
        play.switch("log", "logarithm"),
        play.choice("c", "colour", ["a", "b"]),
    ]
    points = alt.Chart(frame).mark_point().encode(x="x", y="y").transform_filter("datum.k == k")
    return points.add_params(*controls)


def test_numbers_are_rounded_and_nothing_else_of_the_data_changes(chart):
    picture = play.Picture(chart)
    assert picture.spec["datasets"] == {
        "data-0": [
            {"k": 1, "x": 0.0, "y": 0.6667},
            {"k": 1, "x": 1.0, "y": -3.333e-10},
            {"k": 2, "x": 0.0, "y": None},
            {"k": 2, "x": 1.0, "y": 12350.0},
        ]
    }
    assert picture.spec["data"] == {"name": "data-0"}


def test_the_last_bits_of_a_processor_do_not_show(frame, chart):
    moved = frame.assign(y=frame["y"] * (1 + 1e-12))
    assert moved["y"][0] != frame["y"][0]
    other = play.Picture(chart.properties(data=moved))
    assert other.spec == play.Picture(chart).spec
    assert repr(other) == repr(play.Picture(chart))


def test_zero_has_no_sign():
    points = alt.Chart(pd.DataFrame({"x": [-0.0]})).mark_point().encode(x="x")
    assert json.dumps(play.Picture(points).spec["datasets"]) == '{"data-0": [{"x": 0.0}]}'


def test_the_text_beside_it_stands_for_every_number(frame, chart):
    text = repr(play.Picture(chart))
    assert text.startswith('A picture to play with; it starts with k = 1, log = false, c = "a". Rows of data: 4.')
    assert repr(play.Picture(chart.properties(data=frame.assign(y=frame["y"] + 0.1)))) != text


def test_a_formula_needs_no_data():
    made = alt.Chart(alt.sequence(0, 3)).mark_line().encode(x="data:Q", y="data:Q")
    assert play.Picture(made).data == []


def test_data_sets_come_in_the_order_of_the_layers(frame):
    first, second = frame.iloc[:1], frame.iloc[1:]
    layers = alt.Chart(first).mark_point().encode(x="x") + alt.Chart(second).mark_line().encode(x="x")
    assert [len(data) for data in play.Picture(layers).data] == [1, 3]
    assert play.numbers(play.Picture(layers), data=1, k=2)["x"].tolist() == [0.0, 1.0]


def test_numbers_are_those_of_the_picture(chart):
    table = play.numbers(play.Picture(chart), k=1)
    assert table.columns.tolist() == ["x", "y"]
    assert table["y"].tolist() == [0.6667, -3.333e-10]
    assert len(play.numbers(play.Picture(chart))) == 4


@pytest.mark.thorough
def test_all_controls_choose_together(frame):
    controls = [play.slider("k", "k", 1, 2), play.slider("x", "x", 0, 1)]
    rows = play.chosen(frame.fillna(1.0), controls).mark_point().encode(x="x", y="y")
    spec = play.Picture(rows.add_params(*controls)).spec | {"width": play.WIDTH}
    drawn = vl_convert.vegalite_to_svg(spec, vl_version=play.VERSION)
    assert drawn.count('aria-roledescription="point"') == 1
    assert "x: 0; y: 0.6667" in drawn


@pytest.mark.thorough
def test_what_a_notebook_gets(chart):
    bundle = play.Picture(chart)._repr_mimebundle_()
    assert list(bundle) == [play.MIME, "image/png", "text/plain"]
    assert bundle["image/png"].startswith(b"\x89PNG")
    width, height = struct.unpack(">II", bundle["image/png"][16:24])
    assert (width, height) >= (play.WIDTH, play.HEIGHT)
    json.dumps(bundle[play.MIME], allow_nan=False)


def test_a_height_is_kept(chart):
    assert play.Picture(chart, height=123).spec["height"] == 123


def test_controls_start_where_they_are_told():
    assert play.slider("k", "k", 1, 5, start=3).param.value == 3
    assert play.slider("k", "k", 1, 5).param.value == 1
    assert play.switch("k", "k", start=True).param.value is True
    assert play.choice("k", "k", ["b", "a"]).param.value == "b"


def test_a_parameter_without_a_control_has_no_start(chart):
    assert play.Picture(chart.add_params(alt.param(name="fixed", value=3))).start == {"k": 1, "log": False, "c": "a"}


@pytest.mark.parametrize("version", [LAB, play.VERSION])
def test_both_versions_draw_it(chart, version):
    marks = vl_convert.vegalite_to_svg(play.Picture(chart).spec | {"width": play.WIDTH}, vl_version=version)
    assert marks.count('aria-roledescription="point"') == 2


def test_the_style_is_what_the_page_draws(chart):
    drawn = vl_convert.vegalite_to_svg(play.Picture(chart).spec | {"width": play.WIDTH}, vl_version=play.VERSION)
    assert "currentColor" in drawn
    assert "#0072B2" in drawn


def test_the_still_is_on_white(chart, monkeypatch):
    given = {}
    monkeypatch.setattr(play, "_png", lambda spec: given.update(spec) or b"")
    assert play.Picture(chart).still == b""
    assert (given["config"]["background"], given["width"]) == ("white", play.WIDTH)


@pytest.mark.thorough
def test_the_library_is_one_script_that_leaves_only_its_names_behind():
    script = play.library()
    assert script.startswith("(() => {")
    assert script.endswith("})();\n")
    assert "window.vegaEmbed=" in script
    assert "import.meta" not in script
