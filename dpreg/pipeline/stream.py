"""Records that do not fit into memory: Dask arrays, and folders of Parquet files as such arrays.

What adds up over records needs one pass, chunk by chunk: a worker holds the chunks it works on and nothing else. The
chunks alone decide in which order their parts are added, so the number and kind of workers change no digit of the sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import DataError, FloatArray, InputError

CHUNK = 2**18  # records of a chunk: with 13 predictors 30 MB, and long enough that scheduling costs nothing
BATCH = 2**16  # records decoded at a time within a chunk
BUFFER = 2**16  # bytes read ahead in each column; without a limit Parquet reads a whole row group ahead


@checked
def lazy(value: Any) -> bool:
    """Return whether it is a Dask collection, whose entries are not computed yet.

    Examples
    --------
    >>> import dask.array as da
    >>> lazy(da.ones(3)), lazy(np.ones(3))
    (True, False)
    """
    graph = getattr(value, "__dask_graph__", None)
    return callable(graph) and graph() is not None


@checked
def add_up(
    function: Callable[[NDArray[Any], NDArray[Any], int], FloatArray], X: Any, y: Any, d: int, size: int
) -> FloatArray:
    """Return the sum over chunks of `function(rows, target, first)`, one square matrix for each of them.

    It runs where Dask runs: on threads of this process, or on the cluster of the current `distributed.Client`.

    Parameters
    ----------
    function : function of arrays of shape (n, d) and (n,), and of the number of their first row among all
        Returns an array of shape (size, size).
    X, y : Dask arrays of shape (n, d) and (n,)
        Chunks along the columns are joined, and those of `y` follow those of `X`.
    d, size : int
        The number of columns expected, and the size of the sum.

    Raises
    ------
    InputError
        If they are not both Dask arrays of known and matching lengths; and whatever `function` raises.

    Examples
    --------
    >>> import dask.array as da
    >>> X, y = da.ones((10, 2), chunks=3), da.ones(10, chunks=3)
    >>> add_up(lambda rows, target, first: rows.T @ rows, X, y, d=2, size=2).tolist()
    [[10.0, 10.0], [10.0, 10.0]]
    """
    da = checks.needed("dask.array", "scale")
    for name, one in (("X", X), ("y", y)):
        if not isinstance(one, da.Array):
            how = "its to_dask_array, with lengths=True" if lazy(one) else "dask.array.from_array"
            kind = type(one).__name__
            raise InputError(f"{name} is of type {kind}, not a Dask array: pass both as such, {name} by {how}")
        if any(math.isnan(length) for length in one.shape):
            raise InputError(f"{name} does not know how many records it has: ask it to, {name}.compute_chunk_sizes()")
    checks.shapes(X, y, d)
    numbers = da.arange(len(X), chunks=X.chunks[:1])  # a chunk does not know where it stands
    parts = da.blockwise(
        _part, "iab", function, None, X, "ij", y.rechunk(X.chunks[:1]), "i", numbers, "i",
        new_axes={"a": size, "b": size}, adjust_chunks={"i": 1}, concatenate=True, meta=np.empty((0, 0, 0)),
    )  # fmt: skip
    return np.asarray(parts.sum(axis=0).compute())


def _part(function: Callable[..., FloatArray], rows: Any, target: Any, numbers: NDArray[np.int64]) -> FloatArray:
    first = int(numbers[0]) if len(numbers) else 0
    return function(checks.numeric(rows, "X", first), checks.numeric(target, "y", first), first)[None]


@checked
def parquet(folder: str | Path, predictors: Sequence[str], response: str) -> tuple[Any, Any]:
    """Return X and y of a folder of Parquet files as Dask arrays, read when they are used.

    Only the columns asked for are read, and of them a chunk at a time, however long the files and their row groups.

    Parameters
    ----------
    folder : str or Path
        A folder, with or without subfolders, or one file; or the address of one that `pyarrow` can open. On a cluster
        all workers must see it. Files count in the order of their names.
    predictors : sequence of str
        Names of the columns of X, in the order of the domain. A column must be in the files: what stands only in the
        names of subfolders is not read.
    response : str
        Name of the column y.

    Returns
    -------
    X : Dask array of shape (n, d)
    y : Dask array of shape (n,)

    Raises
    ------
    InputError
        If the names are not names, or name a column twice.
    DataError
        At once if there is no such folder, or no Parquet file in it, or a file with records but without one of the
        columns, or with one that is not of numbers or holds nothing. When read: if a value is missing, or a file is
        gone, is broken, or has other lengths than before.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"age": [20, 40, 60], "pay": [1.5, 4.0, 2.5]}).to_parquet(f"{folder}/part.parquet")
    ...     X, y = parquet(folder, ["age"], "pay")
    ...     X.shape, y.compute().tolist()
    ((3, 1), [1.5, 4.0, 2.5])
    """
    checks.instance(predictors, (list, tuple), "predictors")
    columns = [response, *predictors]
    for name in columns:
        checks.instance(name, str, "a column's name")
    if len(set(columns)) != len(columns) or len(columns) == 1:
        raise InputError(f"the columns are {columns}: give a response and at least one predictor, none twice")
    da, delayed = checks.needed("dask.array", "scale"), checks.needed("dask", "scale").delayed
    chunks = [
        da.from_delayed(delayed(_read)(*where, rows, columns), (rows, len(columns)), dtype=np.float64)
        for *where, rows in _slices(folder, columns)
    ]
    if not chunks:
        raise DataError(f"the Parquet files of {folder} hold no records: pass the folder that has them")
    table = da.concatenate(chunks)
    return table[:, 1:], table[:, 0]


def _slices(folder: str | Path, columns: list[str]) -> Iterable[tuple[str, Any, int, int, int, int, int]]:
    """Return file, file system, row group, its length and the rows before it, first row and number of rows of each."""
    arrow, dataset = checks.needed("pyarrow", "scale"), checks.needed("pyarrow.dataset", "scale")
    try:
        source = dataset.dataset(str(folder), format="parquet")
    except FileNotFoundError:
        raise DataError(f"{folder} is not there: pass a folder of Parquet files, or one file") from None
    except (arrow.ArrowInvalid, OSError) as error:
        raise DataError(f"{folder} cannot be read: pass a folder of Parquet files only ({error})") from None
    if not source.files:
        raise DataError(f"{folder} holds no file: pass a folder of Parquet files, or one file")
    for fragment in source.get_fragments():
        try:
            groups = fragment.row_groups if fragment.metadata.num_rows else []
        except (arrow.ArrowInvalid, OSError) as error:
            raise DataError(f"{fragment.path} is not a Parquet file: drop it from the folder ({error})") from None
        if groups:  # without a record, a file need not know the types of its columns
            _check_schema(fragment.path, fragment.physical_schema, columns)
        before = 0
        for group in groups:
            for start in range(0, group.num_rows, CHUNK):
                rows = min(CHUNK, group.num_rows - start)
                yield fragment.path, source.filesystem, group.id, group.num_rows, before, start, rows
            before += group.num_rows


def _check_schema(path: str, schema: Any, columns: list[str]) -> None:
    types = checks.needed("pyarrow", "scale").types
    if missing := [name for name in columns if name not in schema.names]:
        raise DataError(f"{path} has no column {missing[0]!r}: choose from {', '.join(schema.names)}")
    for name in columns:
        kind = schema.field(name).type
        if types.is_null(kind):
            raise DataError(f"column {name!r} of {path} has missing values only: drop or fill such records first")
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise DataError(f"column {name!r} of {path} is of type {kind}: encode it as numbers first")


def _read(
    path: str, filesystem: Any, group: int, length: int, before: int, start: int, rows: int, columns: list[str]
) -> FloatArray:
    """Return rows [start, start + rows) of a row group; the rows before them are decoded, and dropped."""
    table, position, arrow = np.empty((rows, len(columns))), 0, checks.needed("pyarrow", "scale")
    opened = checks.needed("pyarrow.parquet", "scale").ParquetFile
    try:
        with opened(path, filesystem=filesystem, buffer_size=BUFFER, pre_buffer=False) as file:
            if group >= file.num_row_groups or file.metadata.row_group(group).num_rows != length:
                raise DataError(f"{path} has changed since its folder was listed: build the arrays again")
            for batch in file.iter_batches(BATCH, row_groups=[group], columns=columns, use_threads=False):
                first, last = max(start, position), min(start + rows, position + len(batch))
                if first < last:
                    part = batch.slice(first - position, last - first)
                    _copy(part, table[first - start : last - start], columns, path, before + first)
                position += len(batch)
                if position >= start + rows:
                    break
    except FileNotFoundError:
        raise DataError(f"{path} is not there any more, or not for this worker: restore it, or share it") from None
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"{path} is broken: restore it ({error})") from None
    return table


def _copy(batch: Any, table: FloatArray, columns: list[str], path: str, first: int) -> None:
    for j, name in enumerate(columns):
        column = batch.column(name)
        if column.null_count:
            row = first + int(column.is_null().to_numpy(zero_copy_only=False).argmax())
            raise DataError(
                f"column {name!r} of {path} has missing values (first at row {row}): drop or fill such records first"
            )
        table[:, j] = column.to_numpy(zero_copy_only=False)
