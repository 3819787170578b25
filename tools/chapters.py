"""Run the chapters: each in a kernel of its own, two at a time, the longest first; keep what went well.

One run serves the book, `make test`, `make reference` and `make portable`. What a chapter printed is kept in
`_build/chapters/`, under a name that stands for all it depends on. A chapter that failed, drew a broken figure, or
wrote to stderr is not kept, so it runs again the next time.
"""

import argparse
import ast
import asyncio
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.metadata import distributions
from itertools import count
from pathlib import Path

import ipykernel.kernelspec
import jupytext
import nbformat
import psutil
import yaml
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from traitlets import default

ROOT = Path(__file__).resolve().parents[1]
BOOK, REFERENCE = ROOT / "book", ROOT / "tests" / "reference"
KEPT = ROOT / "_build" / "chapters"
READ = ("dpreg/**/*.py", "lib/**/*.py", "data/**/*", "book/verdicts/**/*.yml")  # what chapters read
AT_ONCE = 2  # each has workers of its own, and the largest two must fit into four gigabytes
TIMEOUT = 1800  # seconds for a cell: there only to end what hangs
READERS = re.compile(r"MPL.*|MATPLOTLIBRC|MATPLOTLIBDATA|JUPYTER.*|IPYTHON.*|PYTHON.*|CENSUS_EXTRACTS|LC_.*|LANG.*")


class ChapterError(Exception):
    """A chapter did not go well; the message says which, where and how."""


def settings(place=ROOT / "_build" / "settings"):
    """Return the environment for kernels and their workers: this checkout's library, and nobody's own settings.

    A reader's matplotlibrc, IPython profile, Jupyter kernels, locale or PYTHONPATH must not change a page.
    """
    env = {name: value for name, value in os.environ.items() if not READERS.fullmatch(name)}
    for name in ("matplotlib", "ipython", "jupyter"):
        (place / name).mkdir(parents=True, exist_ok=True)
    return (
        {"OPENBLAS_NUM_THREADS": "1"}
        | env
        | {  # the workers are the parallelism
            "MPLCONFIGDIR": str(place / "matplotlib"),
            "IPYTHONDIR": str(place / "ipython"),
            "JUPYTER_CONFIG_DIR": str(place / "jupyter"),
            "JUPYTER_DATA_DIR": str(place / "jupyter"),
            "JUPYTER_RUNTIME_DIR": str(place / "jupyter"),
            "PYTHONPATH": str(ROOT),
            "PYTHONHASHSEED": "0",
            "LC_ALL": "C.UTF-8",
            "TQDM_DISABLE": "1",  # progress bars are for readers
        }
    )


def isolate():
    """Give this process the settings of the kernels, but for progress bars: it imports what they do."""
    ours = settings()
    del ours["TQDM_DISABLE"]
    for variable in set(os.environ) - set(ours):
        del os.environ[variable]
    os.environ.update(ours)


class ThisPython(KernelSpecManager):
    """Knows one kernel, whatever else is installed: the Python that runs this."""

    def get_kernel_spec(self, kernel_name):
        return self.kernel_spec_class(
            resource_dir=ipykernel.kernelspec.RESOURCES, **ipykernel.kernelspec.get_kernel_dict()
        )


class Manager(AsyncKernelManager):
    """Starts that kernel."""

    @default("kernel_spec_manager")
    def _this_python(self):
        return ThisPython(parent=self)


def pages():
    """Every page of the table of contents, in order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    entries = [{"file": toc["root"]}]
    for part in toc.get("parts", [toc]):
        entries += part.get("chapters", [])
    return [ROOT / f"{entry['file']}.md" for entry in entries]


def has_code(page):
    return "{code-cell}" in page.read_text(encoding="utf-8")


def chapters():
    """Every page with code, in order."""
    return [page for page in pages() if has_code(page)]


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def read(page):
    """Return the code cells of a chapter, as a notebook."""
    notebook = jupytext.read(page, fmt="md:myst")
    notebook.cells = code_cells(notebook)
    return notebook


def computes(path):
    """Return the bytes of a file; of a module, its syntax tree without docstrings, which no number depends on."""
    content = path.read_bytes()
    if path.suffix != ".py":
        return content
    try:
        tree = ast.parse(content)
    except SyntaxError:
        return content
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree).encode()


@cache
def fingerprint(root=ROOT):
    """A name for the library, the data, the claims, and the Python and packages in use."""
    packages = sorted({f"{package.name}=={package.version}" for package in distributions()})  # some are found twice
    digest = hashlib.sha256("\n".join([sys.version, *packages]).encode())
    for path in sorted({p for pattern in READ for p in Path(root).glob(pattern) if p.is_file()}):
        if "__pycache__" not in path.parts:
            content = hashlib.sha256(computes(path)).hexdigest()
            digest.update(f"\n{path.relative_to(root)} {content}".encode())
    if extracts := os.environ.get("CENSUS_EXTRACTS"):  # the user's own data, which may be large: its files and dates
        for path in sorted(Path(root, extracts).glob("*")):
            digest.update(f"\n{path} {path.stat().st_size} {path.stat().st_mtime_ns}".encode())
    return digest.hexdigest()[:16]


def name(page):
    """Return the name of a page without folder and ending, such as `mechanisms/linear`."""
    return page.resolve().relative_to(BOOK).with_suffix("").as_posix()


def kept(page, key):
    """Return where the outputs of a chapter are kept: a new place for each text of its cells."""
    cells = [(cell.source, cell.metadata.get("tags", [])) for cell in read(page).cells]
    return KEPT / key / f"{name(page)}-{hashlib.sha256(repr(cells).encode()).hexdigest()[:16]}.ipynb"


def outputs(page, key=None):
    """Return the chapter with its outputs, as `run` has left it, or None."""
    path = kept(page, key or fingerprint())
    return nbformat.read(path, as_version=4) if path.exists() else None


def share(process):
    """Return the bytes a process holds, its part of what it shares with others; where the system does not say, all."""
    try:
        return 1024 * int(re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{process.pid}/smaps_rollup").read_text(), re.M)[1])
    except (OSError, TypeError):  # no Linux, or the process has just ended
        return process.memory_info().rss


class Watch(threading.Thread):
    """Looks each second, at first ten times as often, at what a kernel and its workers hold, and remembers the most.

    A share takes the system long to find, and is no more than the resident size. It is asked for where all of these
    exceed the most so far, and differ by a hundredth from when it was last asked for, or ten looks have passed.

    Parameters
    ----------
    tops : function without arguments, returning the numbers of the processes to count, each with all its children
    """

    def __init__(self, tops):
        super().__init__(daemon=True)
        self.tops, self.peak, self.over = tops, 0, threading.Event()

    def run(self):
        last, asked = 0, 0
        for look in count():
            if self.over.wait(0.1 if look < 30 else 1):  # a short chapter may be over within a second
                break
            resident = self.total(lambda process: process.memory_info().rss)
            if resident > self.peak and (abs(resident - last) > resident / 100 or look >= asked + 10):
                self.peak = max(self.peak, self.total(share))
                last, asked = resident, look

    def total(self, held):
        found = 0
        for pid in self.tops():
            try:
                top = psutil.Process(pid)
                found += sum(held(process) for process in [top, *top.children(recursive=True)])
            except psutil.Error:  # it has just ended
                continue
        return found

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.over.set()
        self.join()


def execute(page, env):
    """Run one chapter, and return it with its outputs; when, seconds and bytes are in its metadata."""
    notebook = read(page)
    client = NotebookClient(notebook, kernel_manager_class=Manager, timeout=TIMEOUT, coalesce_streams=True)
    client.resources = {"metadata": {"path": str(page.parent)}}

    def kernel():
        pid = getattr(client.km and client.km.provisioner, "pid", None)
        return [pid] if pid else []

    begun, start = time.time(), time.perf_counter()
    with Watch(kernel) as watch:
        asyncio.run(client.async_execute(env=env))  # `execute` leaves its event loop open
    notebook.metadata["run"] = {"begun": begun, "seconds": time.perf_counter() - start, "memory": watch.peak}
    return notebook


def faults(notebook):
    """Return what is wrong with outputs although every cell ended well, one line each."""
    found = []
    for number, cell in enumerate(code_cells(notebook)):
        for output in cell.outputs:
            if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", []):
                found.append(
                    f"cell {number} shows an error: {output.ename}: {output.evalue}"
                )  # as a broken figure does
            if output.get("name") == "stderr":
                found.append(f"cell {number} writes to stderr: {output.text.strip()}")
    return found


def attempt(page, env):
    """Run a chapter, and return it with its outputs.

    Raises
    ------
    ChapterError
    """
    try:
        notebook = execute(page, env)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise ChapterError(f"{page.relative_to(ROOT)}: {error}") from error
    if found := faults(notebook):
        raise ChapterError("\n".join(f"{page.relative_to(ROOT)}, {line}" for line in found))
    return notebook


def run_all(todo, act):
    """Call `act(page)` for chapters, two at a time, those that take longest first.

    Returns the messages of all that failed, in order.
    """
    known = costs()
    order = sorted(todo, key=lambda page: -known.get(name(page), 0))
    messages = {}

    def one(page):
        try:
            act(page)
        except ChapterError as error:
            messages[page] = str(error)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(one, order))
    return [messages[page] for page in todo if page in messages]


def warm(env):
    """Let matplotlib look for fonts once, before any chapter draws: the first time, it may say so on stderr."""
    subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], env=env, stderr=subprocess.DEVNULL)


def costs():
    """Return the seconds each chapter took when its expected outputs were stored: what is long is long anywhere."""
    found = {path: json.loads(path.read_text(encoding="utf-8"))["metadata"] for path in REFERENCE.rglob("*.ipynb")}
    return {
        path.relative_to(REFERENCE).with_suffix("").as_posix(): metadata.get("seconds", 0)
        for path, metadata in found.items()
    }


def run(todo=None, say=print):
    """Run those chapters whose outputs are not kept yet.

    Raises
    ------
    ChapterError
        With the messages of all chapters that failed. The others are kept.
    """
    key, env = fingerprint(), settings()
    if extracts := os.environ.get("CENSUS_EXTRACTS"):
        env["CENSUS_EXTRACTS"] = extracts
    if KEPT.exists():
        for old in KEPT.iterdir():
            if old.name != key:
                shutil.rmtree(old)
    todo = [page for page in (chapters() if todo is None else todo) if not kept(page, key).exists()]
    if todo:
        warm(env)

    def act(page):
        notebook, path = attempt(page, env), kept(page, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        for other in path.parent.glob(f"{page.stem}-????????????????.ipynb"):
            other.unlink()  # outputs of an earlier text
        part = path.with_suffix(".part")
        nbformat.write(notebook, part)
        part.replace(path)  # so that an interrupted run leaves nothing half written
        ran = notebook.metadata["run"]
        say(f"{name(page)}: {ran['seconds']:.0f} s, {ran['memory'] / 1e6:,.0f} MB")

    if messages := run_all(todo, act):
        raise ChapterError("\n\n".join(messages))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", nargs="*", type=Path, help="chapters; by default all that are not up to date")
    named = [page.resolve() for page in parser.parse_args().page]
    try:
        run(named or None)
    except ChapterError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
