"""Let `pytest --nbval` collect the chapters, and hold them against the outputs stored in tests/reference/.

A run that does not ask for a selection fails unless every cell of every chapter was run and compared. With `--kept` the
chapters are not run again: what `make book` has just shown is compared.
"""

import os
import re
from collections import Counter
from unittest import mock

import jupytext
import nbformat
import pytest
from hypothesis import settings
from nbval import plugin as nbval
from xdist.scheduler import LoadFileScheduling

from tools import chapters
from tools.chapters import BOOK, REFERENCE, ROOT, code_cells, pages

chapters.isolate()  # before numpy and matplotlib are imported
FEW = {"max_examples": 10} if "VERSIONS" in os.environ else {}  # versions differ in what they accept, not in rare cases
settings.register_profile("same every time", derandomize=True, deadline=None, **FEW)
settings.load_profile("same every time")

LONG = ("test_versions.py", "test_portable.py")  # minutes for a single test
ANYWHERE = (
    "test_versions.py::test_fast_tests_pass",
    "test_mutants.py::test_the_sound_copy_passes",
    "test_mutants.py::test_mutant_is_killed",
    "test_machinery.py::test_sabotage_turns_the_suite_red",
)
# nbval skips PNG and JPEG already; of a picture to play with, the text beside it has a checksum.
NOT_COMPARED = ("image/svg+xml", "application/papermill.record/image/png", "application/vnd.vegalite.v5+json")
SELECTION = re.compile(r"-[km].*|--(lf|last-failed|sw|stepwise|co|collect-only)")


def contents(cells):
    return [(cell.source, cell.metadata.get("tags", [])) for cell in cells]


def header(page):
    text = page.read_text(encoding="utf-8")
    return text.split("\n---\n")[0] if text.startswith("---\n") else ""


def count_cells(page):
    """How many code cells the text has, whether or not jupytext sees them."""
    return len(re.findall(r"^\s*[`:]{3,}\{code-cell\}", page.read_text(encoding="utf-8"), re.MULTILINE))


def unchecked(cell):
    """Tags and comments for which nbval does not run a cell, or does not compare it."""
    tags = set(cell.metadata.get("tags", [])) & set(nbval.metadata_tags)
    return sorted(tags) + [comment for comment in nbval.comment_markers if comment in cell.source]


class KeptCell(nbval.IPyNbCell):
    """Compares what a cell printed for the book."""

    def runtest(self):
        ran = self.parent.kept
        if ran is None:
            self.raise_cell_error("The chapter has not run since something changed: `make book` runs it")
        if not self.compare_outputs(ran.cells[self.cell_num].outputs, self.cell.outputs):
            self.raise_cell_error("Cell outputs differ", "\n".join(self.comparison_traceback))


class Chapter(nbval.IPyNbFile):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.skip_compare += NOT_COMPARED
        self.again = not self.config.option.kept  # whether it runs
        self.kept = None

    def collect(self):
        if not count_cells(self.path):
            return []
        if "format_name: myst" not in header(self.path):
            raise self.CollectError(f"{self.path.name} has code but no jupytext header, so the book would not run it")
        chapter = jupytext.read(self.path, fmt="md:myst")
        cells = code_cells(chapter)
        if self.path.resolve() not in pages():
            raise self.CollectError(f"{self.path.name} is not in _toc.yml, so the book would not show it")
        path = REFERENCE / self.path.relative_to(BOOK).with_suffix(".ipynb")
        name = path.relative_to(ROOT)
        if not path.exists():
            raise self.CollectError(f"{name} is missing: run `make reference`")
        stored = code_cells(nbformat.read(path, as_version=4))
        if contents(cells) != contents(stored):
            raise self.CollectError(f"{name} does not match the chapter's cells and tags: run `make reference`")
        for cell, reference in zip(cells, stored, strict=True):
            if reference.execution_count is None:  # nbval would then compare nothing
                raise self.CollectError(f"{name} holds a cell that was never run: run `make reference`")
            if unchecked(cell):
                raise self.CollectError(f"{name}: a cell would not be checked, because of {unchecked(cell)}")
            cell.outputs, cell.execution_count = reference.outputs, reference.execution_count
        with mock.patch.object(nbval.nbformat, "read", return_value=chapter):
            found = list(super().collect())
        if self.again:
            return found
        parts = ("name", "cell_num", "cell", "options")
        return [KeptCell.from_parent(self, **{part: getattr(cell, part) for part in parts}) for cell in found]

    # A line of lib that only a chapter runs is not covered: no test says what it should do.
    def setup(self):
        if not self.again:
            self.kept = chapters.outputs(self.path)
            return
        quiet = mock.patch.dict(os.environ, TQDM_DISABLE="1")  # progress bars are for readers
        with quiet, mock.patch.object(nbval, "setup_coverage"):
            super().setup()

    def teardown(self):
        with mock.patch.object(nbval, "teardown_coverage"):
            super().teardown()


class EveryCell:
    """Turns a run red that was asked for all chapters and has not run all their cells."""

    def __init__(self, config):
        self.config, self.ran, self.missing = config, Counter(), []

    def expected(self):
        if any(SELECTION.fullmatch(arg) for arg in self.config.invocation_params.args):
            return []
        if self.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            places = [ROOT]
        else:
            here = self.config.invocation_params.dir
            places = [(here / arg).resolve() for arg in self.config.args if "::" not in arg]
        return [page for page in pages() if any(page.is_relative_to(place) for place in places)]

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and not report.skipped:
            self.ran[(self.config.rootpath / report.nodeid.partition("::")[0]).resolve()] += 1

    def pytest_sessionfinish(self, session, exitstatus):
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            self.missing = [page for page in self.expected() if self.ran[page] < count_cells(page)]
            if self.missing:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        for page in self.missing:
            ran = f"{self.ran[page]} of {count_cells(page)} cells were run"
            terminalreporter.write_line(f"FAILED {page.relative_to(ROOT)}: {ran}", red=True)


def nbval_is_on(config):
    return config.option.nbval or config.option.nbval_lax


class ByFile(LoadFileScheduling):
    """A worker gets the tests of a whole file, and so their fixtures; but long ones go wherever there is room.

    The marks `xdist_group` would say so as well, but xdist 3.8 puts them where pytest 9.2 no longer looks.
    """

    def _split_scope(self, nodeid):
        return nodeid if nodeid.partition("[")[0].endswith(ANYWHERE) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return ByFile(config, log)


def pytest_collection_modifyitems(config, items):
    for item in items:  # the tracer makes these a fifth slower, and the limit is kept without them
        if item.path.parent.name == "chapters":
            item.add_marker("no_cover")
    if "audit" not in config.option.markexpr:  # an hour of one processor: `make audit` asks for them
        left = [item for item in items if item.get_closest_marker("audit")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not item.get_closest_marker("audit")]
    items.sort(key=lambda item: item.path.name not in LONG)  # stable: no worker is left with one of these at the end


def pytest_addoption(parser):
    parser.addoption("--kept", action="store_true", help="compare what `make book` has run, and run no chapter again")


def pytest_configure(config):
    import dpreg
    import lib

    for package in (dpreg, lib):
        if not (ROOT / package.__name__).samefile(os.path.dirname(package.__file__)):
            raise pytest.UsageError(
                f"these are the tests of {ROOT}, but Python imports {package.__file__}: run pytest from {ROOT}"
            )
    if nbval_is_on(config) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(EveryCell(config))


def pytest_collect_file(file_path, parent):
    if nbval_is_on(parent.config) and file_path.suffix == ".md" and file_path.resolve().is_relative_to(BOOK):
        return Chapter.from_parent(parent, path=file_path)
    return None
