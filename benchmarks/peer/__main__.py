"""`python -m benchmarks.peer`: the linear sweep of 001 beside the same sweep with IBM's diffprivlib and scikit-learn.

Both sides fit the same mechanism to the same training sets of the same generated census records. The peer fits each
from its rows, on rows that are scaled already: only our time includes scaling. Its environment is made on the first
run, from `requirements.txt`, in `_build/peer`; that takes a package index, and without one this says so and stops.

Ends with an error if the peer is less than 20 times slower, or if the errors are not the same: a tenth more noise, or
less, would be seen.
"""

import argparse
import json
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from benchmarks import EPSILONS, report
from dpreg import noise
from dpreg.checks import DataError, FloatArray
from dpreg.pipeline import release, solve
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import Scales, certify
from dpreg.pipeline.objective import Quadratic
from dpreg.sweeps.experiment import no_privacy, sweep
from dpreg.sweeps.methods import Method
from dpreg.sweeps.splits import CrossValidation
from lib.data import census
from lib.data.datasets import Dataset
from lib.pages import peer

HERE = Path(__file__).resolve().parent
FOLDS, SEED = 5, 11
FEWEST = 20  # pairs of errors; fewer are not compared
CHANCE = 0.001  # that two sides alike are called different, in all tests together

# Errors of shape (repeats, folds, budgets), where there was a minimum, and the same errors without privacy.
Side = tuple[FloatArray, NDArray[np.bool_], FloatArray]


def law(box: Box) -> Scales:
    """Return diffprivlib's noise at epsilon one, for rows and responses in [-1, 1] and without its intercept.

    `_construct_regression_obj` splits epsilon evenly over 1 + p + p (p + 1) / 2 sums: of t^2, of x t, and of the upper
    triangle of x x'. Each gets Laplace noise for a sensitivity of its own: 1 for a square, 2 for a product. Our linear
    coefficient is -2 times its sum.
    """
    p = box.p
    shares = 1 + p + p * (p + 1) / 2
    return Scales(shares * (2 * np.ones((p, p)) - np.eye(p)), np.full(p, 4 * shares))


class Mechanism:
    """diffprivlib's linear regression as the `fit` of a method, which notes whether there is anything to minimise.

    The peer folds noisy squares at zero, and starts a descent whatever the objective. Where that has no minimum the
    descent goes nowhere in particular, and the two sides are not compared.
    """

    def __init__(self, law: Scales) -> None:
        self.law = law
        self.bounded: list[NDArray[np.bool_]] = []

    def fit(self, train: Quadratic, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        noisy = release.perturb(train, self.law.times(1 / epsilons), rng)
        M, diagonal = noisy.M.copy(), np.arange(noisy.p)
        M[..., diagonal, diagonal] = np.abs(M[..., diagonal, diagonal])
        self.bounded.append(np.linalg.eigvalsh(M)[..., 0] > 0)
        return solve.asymmetric_closed_form(replace(noisy, M=M))


def ours(data: Dataset, box: Box, protocol: CrossValidation, scales: Scales) -> tuple[Side, dict[str, float]]:
    """Return our side and its seconds, with privacy and without."""
    mechanism, results, seconds = Mechanism(scales), [], {}
    for method in (Method("private", mechanism.fit), no_privacy("plain")):
        start = time.perf_counter()
        frame = sweep(data.X, data.y, box, [method], EPSILONS, protocol, random_state=SEED, progress=False)
        seconds[method.name] = time.perf_counter() - start
        results.append(frame["value"].to_numpy().reshape(protocol.repeats, FOLDS, -1))
    return (results[0], np.array(mechanism.bounded), results[1]), seconds


def theirs(python: Path, data: Dataset, box: Box, protocol: CrossValidation) -> tuple[Side, dict[str, float]]:
    """Return the peer's side on the same splits, and its seconds."""
    labels = [protocol.labels(data.n, noise.spawn(SEED, repeat, 0)) for repeat in range(protocol.repeats)]
    rows, target = box.scale(data.X, data.y)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for key, array in {"X": rows, "y": target, "labels": np.array(labels)}.items():
            np.save(folder / f"{key}.npy", array)
        (folder / "budgets.json").write_text(json.dumps(EPSILONS))
        subprocess.run([python, HERE / "obvious.py", folder], check=True)
        with np.load(folder / "private.npz") as private, np.load(folder / "plain.npz") as plain:
            side = private["errors"] * box.half_width, private["bounded"], plain["errors"] * box.half_width
        return side, json.loads((folder / "seconds.json").read_text())


def compare(a: Side, b: Side) -> pd.DataFrame:
    """Return for each budget the shares with a minimum, the medians, and the p-values that the sides are alike.

    Given a split, the two errors are independent draws of one law, so their difference is symmetric about zero: its
    signed ranks are tested, where both sides have a minimum. Whether they have one is tested by Fisher's exact test.
    """
    rows = []
    for k, epsilon in enumerate(EPSILONS):
        x, y = a[1][..., k], b[1][..., k]
        one, other = a[0][..., k][x & y], b[0][..., k][x & y]
        row = {"epsilon": epsilon, "our minima": x.mean(), "their minima": y.mean()}
        row["p minima"] = stats.fisher_exact([[x.sum(), (~x).sum()], [y.sum(), (~y).sum()]]).pvalue
        enough = len(one) >= FEWEST
        row |= {"our error": np.median(one), "their error": np.median(other)} if enough else {}
        row["p errors"] = stats.wilcoxon(one, other).pvalue if enough else np.nan
        rows.append(row)
    return pd.DataFrame(rows)


def main(repeats: int, records: int) -> None:
    """Run both sides, print what they found and took, and fail if they differ or the ratio is missed."""
    try:
        python = peer.environment()
    except DataError as error:
        print(f"skipped: {error}")
        return
    data, protocol = census.census("US", records, attributes=14), CrossValidation(repeats, FOLDS)
    box = data.box()
    scales = law(box)
    mine, fast = ours(data, box, protocol, scales)
    other, slow = theirs(python, data, box, protocol)
    table = compare(mine, other)
    print(f"{records:,} generated records, {box.d} predictors, {repeats} x {FOLDS} folds, {len(EPSILONS)} budgets;")
    print("shares of fits that have a minimum, median errors (dollars) of those, p-values that the sides are alike:\n")
    print(table.to_string(index=False, float_format="{:.4g}".format))
    p_values = table.filter(like="p ").stack().dropna()
    times = {name: f"{fast[name]:.2f} s against {slow[name]:.1f} s" for name in fast}
    rows = [
        ("diffprivlib refitted, against ours", slow["private"] / fast["private"], "at least 20", times["private"]),
        ("scikit-learn refitted, without privacy", slow["plain"] / fast["plain"], "", times["plain"]),
        ("budgets at which errors are compared", table["p errors"].count(), "at least 4", ""),
        ("smallest p-value times their number", p_values.min() * len(p_values), f"at least {CHANCE}", ""),
        ("largest relative difference without privacy", np.abs(mine[2] / other[2] - 1).max(), "at most 1e-9", ""),
        ("epsilon of the noise at epsilon 1, as we certify it", certify(scales, box), "at most 1", ""),
    ]
    report(rows, "")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--records", type=int, default=370_000)
    arguments = parser.parse_args()
    main(arguments.repeats, arguments.records)
