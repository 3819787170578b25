"""Bad input for dpreg.pipeline.stream."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpreg import checks
from dpreg.pipeline import objective, stream
from dpreg.pipeline.domain import Box

BOX = Box([-1, -1], [1, 1], (-1, 1))
X, Y = da.zeros((20, 2), chunks=(5, 2)), da.zeros(20, chunks=5)
TEXT = X.astype(str)
GAPS = np.zeros((20, 2), dtype=object)
GAPS[12, 1] = None


class Frame:
    """What a Dask data frame shows of itself."""

    def __dask_graph__(self):
        return {}


def moments(X: Any = X, Y: Any = Y) -> Callable[[], Any]:
    return lambda: objective.moments(X, Y, BOX)


def folder(names: Any = ("a",), response: Any = "y", **files: Any) -> Callable[[], Any]:
    """Read a folder of these files: tables, or bytes."""

    def read() -> Any:
        with tempfile.TemporaryDirectory() as place:
            for name, content in files.items():
                path = Path(place) / f"{name}.parquet"
                path.write_bytes(content) if isinstance(content, bytes) else pq.write_table(pa.table(content), path)
            rows, target = stream.parquet(place, names, response)
            return rows.compute(), target.compute()

    return read


GOOD = {"a": [1.0, 2.0], "y": [0.0, 1.0], "word": ["u", "v"]}
TYPES = {
    "string": ["1", "2"],
    "timestamp": np.array([1, 2], dtype="M8[us]"),
    "list": [[1.0], [2.0]],
    "decimal": pa.array([1, 2], pa.decimal128(5, 2)),
    "dictionary": pa.array(["u", "v"]).dictionary_encode(),
}

CASES = {
    "checks.shapes": [
        ("X has 3 columns but the domain has 2: pass", lambda: checks.shapes(np.ones((4, 3)), np.ones(4), 2)),
        ("y has shape .*: give", lambda: checks.shapes(np.ones((4, 3)), np.ones((4, 1)))),
    ],
    "stream.add_up": [
        ("y is of type ndarray, not a Dask array: pass both", moments(Y=np.zeros(20))),
        ("X is of type ndarray.* X by dask.array.from_array", moments(X=np.zeros((20, 2)))),
        ("X is of type Frame.* X by its to_dask_array", moments(X=Frame())),
        ("y is of type Frame.* y by its to_dask_array", moments(Y=Frame())),
        (r"X does not know how many records it has: .*X.compute_chunk_sizes\(\)", moments(X=X[X[:, 0] == 0])),
        (r"y does not know how many records it has: .*y.compute_chunk_sizes\(\)", moments(Y=Y[Y == 0])),
        ("X has 1 columns but the domain has 2: pass", moments(X=X[:, :1])),
        (r"X has shape \(20,\): give", moments(X=Y)),
        (r"y has shape \(20, 1\): give .*ravel", moments(Y=Y[:, None])),
        ("X has 20 records and y has 19: give", moments(Y=Y[:-1])),
        ("X has entries of type <U", moments(X=TEXT)),
        ("y has entries of type <U", moments(Y=TEXT[:, 0])),
        ("X has entries of type complex", moments(X=X + 1j)),
        ("X has entries of type datetime", moments(X=X.astype("M8[s]"))),
        (r"X holds nan \(first at row \d+\)", moments(X=X * np.nan)),
        (r"y holds inf \(first at row \d+\)", moments(Y=Y + np.inf)),
        (r"X has a missing value \(first at row 12, column 1\): drop", moments(X=da.from_array(GAPS, chunks=(5, 2)))),
        (r"y has a missing value \(first at row 12\): drop", moments(Y=da.from_array(GAPS[:, 1], chunks=5))),
    ],
    "stream.parquet": [
        ("nowhere is not there: pass a folder", lambda: stream.parquet("nowhere", ["a"], "y")),
        ("folder is of type NoneType: give", lambda: stream.parquet(None, ["a"], "y")),
        ("holds no file: pass a folder", folder()),
        ("cannot be read: pass a folder of Parquet files only", folder(a=b"no Parquet, but long enough to be read")),
        ("cannot be read: pass a folder of Parquet files only", folder(a=b"")),
        ("b.parquet is not a Parquet file: drop it", folder(a=GOOD, b=b"no Parquet, but long enough to be read")),
        ("hold no records: pass", folder(a={"a": np.zeros(0), "y": np.zeros(0)})),
        ("a.parquet has no column 'b': choose from a, y, word", folder(["a", "b"], a=GOOD)),
        ("b.parquet has no column 'y': choose from a", folder(a=GOOD, b={"a": [1.0]})),
        ("column 'word' of .*a.parquet is of type string: encode", folder(["word"], a=GOOD)),
        *((rf"column 'a' of .* is of type {kind}.*: encode", folder(a=GOOD | {"a": TYPES[kind]})) for kind in TYPES),
        ("column 'a' of .*b.parquet is of type string: encode", folder(a=GOOD, b=GOOD | {"a": ["1", "2"]})),
        (r"column 'a' of .*a.parquet has missing values \(first at row 1\): drop", folder(a=GOOD | {"a": [1.0, None]})),
        (r"column 'y' of .*a.parquet has missing values \(first at row 1\): drop", folder(a=GOOD | {"y": [1, None]})),
        ("column 'a' of .*a.parquet has missing values only: drop or fill", folder(a=GOOD | {"a": pa.nulls(2)})),
        ("column 'y' of .*b.parquet has missing values only: drop", folder(a=GOOD, b=GOOD | {"y": pa.nulls(2)})),
        ("hold no records: pass", folder(a={"a": pa.nulls(0), "y": pa.nulls(0)})),
        ("hold no records: pass", folder(a={"other": ["x"][:0]})),
        ("predictors is of type str: give list", folder("a", a=GOOD)),
        ("an entry of predictors is of type int: give str", folder([0], a=GOOD)),
        ("response is of type NoneType: give str", folder(response=None, a=GOOD)),
        (r"the columns are \['y', 'a', 'a'\]: give", folder(["a", "a"], a=GOOD)),
        (r"the columns are \['y', 'a', 'y'\]: give", folder(["a", "y"], a=GOOD)),
        (r"the columns are \['y'\]: give", folder([], a=GOOD)),
    ],
}
EXEMPT = {"stream.lazy": "any object will do"}
