"""Run tests of a copy of the library, each time in a new fork of a process that has imported all but that library.

What a short run of pytest takes are the imports. The process is the fork server of multiprocessing, one for each worker
of xdist. No run sees what another has done to NumPy or to pytest, as the server itself runs nothing.
"""

import ast
import gc
import multiprocessing.forkserver
import os
import signal
import sys
import traceback
from functools import cache
from pathlib import Path
from unittest import mock

import pytest
from joblib.externals.loky import get_reusable_executor

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("dpreg", "lib", "tests")
HANGS = 3600  # seconds
OPTIONS = ["-x", "-q", "--tb=line", "--no-header", "-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin"]
FAST = ["-m", "not slow and not browser and not audit"]
# A process of several threads cannot be forked: OpenBLAS would start one per core, the allocator of pyarrow another.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}


def foreign(files):
    """Return the modules of other packages that these files import anywhere; some names are of no module."""
    names = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                names.update([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
    ours = {*PARTS, "tools", "benchmarks", *(file.stem for file in files)}
    return sorted(name for name in names if name.partition(".")[0] not in ours | sys.stdlib_module_names)


@cache
def server():
    """Start the fork server, with the imports of lib and of its tests: those that fail are left to the tests."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(foreign([file for part in PARTS for file in (ROOT / part).rglob("*.py")]))
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("COV", "PYTEST"))}
    with mock.patch.dict(os.environ, clean | ONE_THREAD, clear=True):
        multiprocessing.forkserver.ensure_running()
    return context


def prepare(folder, log):
    """Make the fork a process that prints to the log and imports what is in the folder, its own workers included."""
    gc.freeze()  # nothing of the server is garbage, so no collection needs to look
    os.setsid()  # a group of its own, to end it with its workers
    with open(log, "w", encoding="utf-8") as file:
        os.dup2(file.fileno(), sys.stdout.fileno())
        os.dup2(file.fileno(), sys.stderr.fileno())
    threads = Path(f"/proc/{os.getppid()}/task")  # on Linux
    assert not threads.exists() or len(list(threads.iterdir())) == 1, "the server has threads"
    assert not {"dpreg", "lib"} & set(sys.modules), "the server has a library"
    sys.path[:] = [
        str(folder),
        *(place for place in sys.path if Path(place) not in (ROOT, *(ROOT / "tests").iterdir())),
    ]
    sys.dont_write_bytecode = True
    os.environ.update(PYTHONPATH=str(folder), PYTHONDONTWRITEBYTECODE="1", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    os.chdir(folder / "tests")


def fork(folder, log, options):
    """Run pytest as a program would, and end with its code."""
    try:
        prepare(folder, log)
        code = pytest.main(options)
        if multiprocessing.active_children():  # workers of joblib: their process waits until they end by themselves
            get_reusable_executor(reuse=True).shutdown(kill_workers=True)
    except BaseException:  # Python's code for it is that of a test that failed
        traceback.print_exc()
        code = pytest.ExitCode.INTERNAL_ERROR
    sys.exit(int(code))


def run(folder, tests):
    """Run tests of `folder/tests`, chosen as on the command line; return the code of pytest and what it printed."""
    file, *choice = tests
    (path,) = (folder / "tests").rglob(file)
    log = folder / "printed.txt"
    process = server().Process(target=fork, args=(folder, log, [*OPTIONS, *FAST, str(path), *choice]))
    process.start()
    process.join(HANGS)
    code = process.exitcode
    if code is None:
        os.killpg(process.pid, signal.SIGKILL)  # with all it has started
        process.join()
        pytest.fail(f"{tests}: still running after {HANGS} s, so something hangs; no load explains that")
    process.close()
    return code, log.read_text(encoding="utf-8")
