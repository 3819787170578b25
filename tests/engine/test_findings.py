"""A report says what was found, and never that a claim holds."""

import dataclasses
import importlib

import matplotlib
import numpy as np
import pytest

from dpreg.audit.findings import Finding, Report
from dpreg.checks import DataError

matplotlib.use("agg")

SMALL = Finding("black box", "fit", "a <record> far out", "coef_[0] is above 1", 1.0, 0.83, 0.95, 1000, 400, 150)
LARGE = dataclasses.replace(SMALL, found=1.4, hits_other=60, delta=1e-6)
EXACT = Finding("budget algebra", "fit", "", "two halves", 2.0, 2.0)
ENDLESS = dataclasses.replace(EXACT, found=np.inf, claimed=3.0)


def test_what_refutes():
    assert [one.refuted for one in (SMALL, LARGE, EXACT, ENDLESS)] == [False, True, False, True]
    assert not dataclasses.replace(EXACT, found=2.0 * (1 + 1e-12)).refuted  # rounding
    report = Report((SMALL, LARGE, EXACT, ENDLESS), 1, 2.0)
    assert report.refuted == (LARGE, ENDLESS)
    assert report.worst == ENDLESS
    assert Report((EXACT, LARGE), 1, 2.0).worst == LARGE


def test_what_is_said():
    said = str(Report((SMALL, SMALL), 1, 2.0))
    assert said == (
        "Not refuted at epsilon = 1: the largest lower bound is 0.83: black box, fit; a <record> far out; "
        "coef_[0] is above 1 (2 attempts, seen in 400 and 150 of 1,000 draws, confidence 95 % over all, seed 1)"
    )
    assert str(Report((LARGE,), None, 2.0)).startswith(
        "REFUTED at epsilon = 1, delta = 1e-06: the largest lower bound is 1.4"
    )
    assert "no seed" in str(Report((LARGE,), None, 2.0))
    assert "draws" not in str(Report((EXACT,), 1, 2.0))
    assert str(Report((), 1, 2.0)) == "Nothing was tried."
    for report in (Report((SMALL,), 1, 2.0), Report((EXACT,), 1, 2.0), Report((), 1, 2.0)):
        assert not {"verified", "proved", "private", "safe", "holds"} & set(str(report).lower().split())
    assert str(SMALL).endswith("seen in 400 and 150 of 1,000)")


def test_tables():
    report = Report((SMALL, LARGE, EXACT), 1, 2.0)
    frame = report.to_frame()
    assert frame.found.tolist() == [1.4, 2.0, 0.83]  # the worst first: furthest above its claim
    assert frame.refuted.tolist() == [True, False, False]
    assert Report((EXACT, ENDLESS), 1, 2.0).to_frame().found.tolist() == [np.inf, 2.0]
    close = dataclasses.replace(EXACT, found=2.0 * (1 + 1e-15), subject="other")
    assert Report((EXACT, close), 1, 2.0).to_frame().subject.tolist() == ["fit", "other"]  # as tried: a tie
    page = report._repr_html_()
    assert "<table" in page
    assert "a &lt;record&gt; far out" in page
    assert "<record>" not in page
    assert len(Report((), 1, 2.0).to_frame()) == 0
    assert "Nothing" in Report((), 1, 2.0)._repr_html_()


def test_figures():
    ax = Report((SMALL, LARGE), 1, 2.0).plot()
    bounds, claims = ax.lines
    assert bounds.get_xdata().tolist() == [1.4, 0.83]
    assert list(bounds.get_ydata()) == [1, 0]
    assert claims.get_xdata().tolist() == [1.0, 1.0]
    assert Report((), 1, 2.0).plot(ax) is ax
    matplotlib.pyplot.close("all")


def test_figures_need_matplotlib(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(DataError, match="matplotlib is not installed: add it"):
        Report((SMALL,), 1, 2.0).plot()
