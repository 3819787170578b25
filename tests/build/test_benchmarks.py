"""The benchmarks judge rightly: limits, slopes, and whether two sides are alike. What they measure is not run here."""

from functools import cache

import numpy as np
import pytest

import benchmarks
from benchmarks import growth
from benchmarks.peer import __main__ as peer
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import certify
from dpreg.sweeps.splits import CrossValidation
from lib.data.datasets import Dataset
from lib.pages import peer as home


@pytest.mark.parametrize(
    ("found", "asked", "kept"),
    [
        (20.0, "at least 20", True),
        (19.9, "at least 20", False),
        (1.1, "at most 1.1", True),
        (1.2, "at most 1.1", False),
        (np.nan, "at least 20", False),
        (np.nan, "at most 1", False),
        (0.0, "", True),
    ],
)
def test_limits(found, asked, kept, capsys):
    assert benchmarks.kept(found, asked) == kept
    rows = [("first", found, asked, ""), ("second", 1.0, "at least 1", "a remark")]
    if kept:
        benchmarks.report(rows, "")
    else:
        with pytest.raises(SystemExit, match=r"missed: first$"):
            benchmarks.report(rows, "")
    assert "a remark" in capsys.readouterr().out, "a missed limit hides what comes after it"


def test_slope_of_a_power():
    x = [1, 10, 1000]
    assert growth.slope(x, [3 * value**1.5 for value in x]) == pytest.approx(1.5)
    assert growth.slope(x, [7.0, 7.0, 7.0]) == pytest.approx(0.0, abs=1e-12)


def test_the_growing_sweep_is_of_what_it_says(monkeypatch):
    """Two partitions of five folds, and labels only for methods that need them."""
    seen = []
    monkeypatch.setattr(growth, "sweep", lambda X, y, box, methods, *rest, **options: seen.append((rest, options)))
    X, y, signs, box = growth.records(50, 3)
    growth.milliseconds(X, y, box, growth.mechanisms(box, 3), [1.0])
    growth.milliseconds(X, signs, box, growth.labelled(box), [1.0], 7, 2)
    (first, plain), (second, labels) = seen[0], seen[-1]
    assert (first[1], plain["metrics"], plain["jobs"]) == (CrossValidation(2, 5), ("rmse",), 1)
    assert (second[1], labels["metrics"], labels["jobs"]) == (CrossValidation(7, 5), ("misclassified",), 2)
    assert len({method.name for method in growth.mechanisms(box, 3)}) == 3
    assert set(signs) == {-1.0, 1.0}


def test_law_of_the_peer_by_hand():
    """Two predictors have 1 + 2 + 3 sums: squares change by 1, products by 2, and ours is -2 times the linear sum."""
    box = Box([-1, -1], [1, 1], response=(-1, 1))
    found = peer.law(box)
    assert found.M.tolist() == [[6, 12], [12, 6]]
    assert found.v.tolist() == [24, 24]
    assert certify(found, box) <= 1  # it composes the sums one by one, which is never too little


@cache
def linear_data(n=100_000, d=13):
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (n, d))
    y = np.clip(X @ np.linspace(-0.2, 0.2, d) + rng.normal(0, 0.2, n), -1, 1)
    names = tuple(f"x{j}" for j in range(d))
    return Dataset(X, y, names, "y", dict.fromkeys((*names, "y"), (-1.0, 1.0)), "generated")


def p_values(factor, monkeypatch):
    """Of our side against itself with other noise, its scales multiplied."""
    data, protocol = linear_data(), CrossValidation(50, 5)
    box = data.box()
    other = peer.Mechanism(peer.law(box).times(factor))
    monkeypatch.setattr(peer, "no_privacy", lambda name: peer.Method("other", other.fit))
    one, _ = peer.ours(data, box, protocol, peer.law(box))
    twin = (one[2], np.ones_like(one[2], dtype=bool), one[2])
    return peer.compare(one, twin).filter(like="p errors").stack().to_numpy()


@pytest.mark.thorough
def test_two_sides_of_one_law_are_alike_and_a_tenth_more_noise_is_seen(monkeypatch):
    """On the same splits, so only the noise differs: as between us and the peer."""
    alike = p_values(1.0, monkeypatch)
    assert len(alike) == len(peer.EPSILONS)
    assert alike.min() * len(alike) >= peer.CHANCE
    for factor in (0.9, 1.1):
        assert p_values(factor, monkeypatch).min() * len(alike) < peer.CHANCE


def test_a_side_with_fewer_minima_is_seen():
    rng = np.random.default_rng(0)
    shape = (50, 5, len(peer.EPSILONS))
    errors = rng.normal(size=shape)
    every = np.ones(shape, dtype=bool)
    table = peer.compare((errors, every, errors), (errors + 1e-9, rng.random(shape) < 0.9, errors))
    assert (table["p minima"] < 1e-4).all()
    few = peer.compare((errors, every, errors), (errors, rng.random(shape) < 0.05, errors))
    assert few["p errors"].isna().all(), "too few pairs to compare"


@pytest.mark.slow
def test_without_a_package_index_the_peer_is_skipped(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(home, "PEER", tmp_path)
    monkeypatch.setattr(home, "HOME", tmp_path / "peer")
    (tmp_path / "requirements.txt").write_text("a-package-that-cannot-be-had==1\n")
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    peer.main(2, 100)
    assert "skipped" in capsys.readouterr().out
    assert not (tmp_path / "peer" / "ready").exists()
