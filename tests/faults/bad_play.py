"""Bad input for lib.pages.play."""

import altair as alt
import pandas as pd

from lib.pages import play

FRAME = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]})
POINTS = alt.Chart(FRAME).mark_point().encode(x="x", y="y")

CASES = {
    "play.Picture": [
        ("chart is of type HConcatChart: give", lambda: play.Picture(POINTS | POINTS)),
        ("chart is of type DataFrame: give", lambda: play.Picture(FRAME)),
        ("height is 0: give", lambda: play.Picture(POINTS, height=0)),
    ],
    "play.slider": [
        ("low is 2 and high 1: give", lambda: play.slider("k", "k", 2, 1)),
        ("low is 1 and high 1: give", lambda: play.slider("k", "k", 1, 1)),
        ("start is 3: give", lambda: play.slider("k", "k", 1, 2, start=3)),
        ("step is 0: give", lambda: play.slider("k", "k", 1, 2, 0)),
    ],
    "play.choice": [("options has 1 entries: give", lambda: play.choice("k", "k", ["one"]))],
    "play.chosen": [("frame has no column 'k'", lambda: play.chosen(FRAME, [play.slider("k", "k", 1, 2)]))],
    "play.numbers": [
        ("data is 1: .*give", lambda: play.numbers(play.Picture(POINTS), 1)),
        ("data is -1: .*give", lambda: play.numbers(play.Picture(POINTS), -1)),
        ("where has no column 'z'", lambda: play.numbers(play.Picture(POINTS), z=1)),
        (r"no row has \{'x': 7\}: give", lambda: play.numbers(play.Picture(POINTS), x=7)),
    ],
}

EXEMPT = {
    "play.switch": "Altair checks it",
    "play.library": "takes nothing",
}
