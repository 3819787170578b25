"""`python -m benchmarks.stream [records]`: peak memory of the moments of more records than memory holds.

By default 100 million generated records of 13 predictors: 11 GB that never exist at once. They are added up on the
threads of this process, and again on a cluster of two worker processes, which must give the same digits. A tenth of
them is written to Parquet files in a temporary folder and read back. Memory is the resident memory of this process and
of all it started, added up, every 20 milliseconds. Ends with an error if it passes the limit.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster

from dpreg import noise
from dpreg.pipeline import objective, stream
from dpreg.pipeline.domain import Box
from dpreg.pipeline.stream import CHUNK

RECORDS, D, SEED = 100_000_000, 13, 1
LIMIT = 1500.0  # MB
BOX = Box(np.full(D, -1.0), np.full(D, 1.0), response=(-1.0, 1.0), intercept=True)
NAMES = ["y", *(f"x{j}" for j in range(D))]


class Peak:
    """The most resident memory that this process and its descendants have held together, in MB."""

    def __init__(self) -> None:
        self.value = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Peak":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        me = psutil.Process()
        while not self._stop.wait(0.02):
            held = 0
            for process in (me, *me.children(recursive=True)):
                try:
                    held += process.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            self.value = max(self.value, held / 1e6)


def block(block_id: tuple[int, int], rows: tuple[int, ...]) -> np.ndarray:
    """Return the records (y, x) of one chunk: they depend on the seed and on its number alone."""
    rng, number = noise.spawn(SEED, block_id[0]), block_id[0]
    table = rng.uniform(-1.0, 1.0, (rows[number], D + 1))
    table[:, 0] = 0.5 * table[:, 1] - 0.25 * table[:, 2] + 0.25 * table[:, 0]
    return table


def generated(n: int) -> tuple[Any, Any]:
    """Return X and y of n records as Dask arrays, nothing of which exists yet."""
    rows = (*[CHUNK] * (n // CHUNK), *([n % CHUNK] if n % CHUNK else []))
    table = da.map_blocks(block, rows=rows, chunks=(rows, (D + 1,)), dtype=np.float64, meta=np.empty((0, 0)))
    return table[:, 1:], table[:, 0]


def write(folder: Path, n: int, files: int = 8) -> None:
    """Write n of the records to Parquet files, in the row groups that pyarrow makes by default."""
    rows = generated(n)[1].chunks[0]
    schema = pa.schema([(name, pa.float64()) for name in NAMES])
    for part, chunks in enumerate(np.array_split(np.arange(len(rows)), files)):
        with pq.ParquetWriter(folder / f"part-{part}.parquet", schema) as writer:
            for number in chunks:
                table = block((int(number), 0), rows)
                writer.write_table(pa.table({name: table[:, j] for j, name in enumerate(NAMES)}))


@contextmanager
def cluster() -> Iterator[Client]:
    """Start two workers, each a process of one thread, for the duration."""
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**settings) as workers, Client(workers) as client:
        yield client


def measured(name: str, run: Callable[[], Any]) -> Any:
    """Return what the run returns, print time and memory, and fail if it took too much of that."""
    start = time.perf_counter()
    with Peak() as peak:
        result = run()
    seconds = time.perf_counter() - start
    print(f"{name:58}{seconds:8.1f} s{peak.value:8.0f} MB, at most {LIMIT:.0f}", flush=True)
    if peak.value > LIMIT:
        sys.exit(f"missed: {name}")
    return result


def main(n: int = RECORDS) -> None:
    def moments(X: Any, y: Any) -> np.ndarray:
        return objective.moments(X, y, BOX)

    def on_cluster() -> np.ndarray:
        with cluster():
            return moments(*generated(n))

    few = n // 10
    with dask.config.set(num_workers=2):
        threads = measured(f"{n:,} x {D} on two threads", lambda: moments(*generated(n)))
        workers = measured(f"{n:,} x {D} on a cluster of two workers", on_cluster)
        assert threads[1, 1] == n
        assert np.array_equal(threads, workers), "the cluster adds up other digits than the threads"
        with tempfile.TemporaryDirectory() as name:
            write(Path(name), few)
            size = sum(file.stat().st_size for file in Path(name).iterdir()) / 1e6
            what = f"{few:,} x {D} from {size:,.0f} MB of Parquet files"
            read = measured(what, lambda: moments(*stream.parquet(name, NAMES[1:], NAMES[0])))
        direct = moments(*generated(few))
        assert np.allclose(read, direct, rtol=1e-12, atol=1e-12 * few), (
            "the files give other moments than their records"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
