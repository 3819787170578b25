"""Let `pytest --nbval` collect the chapters, and hold them against the outputs stored in tests/reference/."""

import os
from pathlib import Path
from unittest import mock

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the workers are the parallelism

import jupytext
import nbformat
import pytest
import yaml
from nbval import plugin as nbval

ROOT = Path(__file__).parent
BOOK = ROOT / "book"
REFERENCE = ROOT / "tests" / "reference"
NOT_COMPARED = ("image/svg+xml", "application/papermill.record/image/png")  # nbval skips PNG and JPEG already


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def contents(cells):
    return [(cell.source, cell.metadata.get("tags", [])) for cell in cells]


def chapters():
    """Every page of the table of contents that has code."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    entries = [{"file": toc["root"]}]
    for part in toc.get("parts", [toc]):
        entries += part.get("chapters", [])
    pages = [ROOT / f"{entry['file']}.md" for entry in entries]
    return [page for page in pages if has_code(page)]


def has_code(page):
    return "```{code-cell}" in page.read_text(encoding="utf-8")


class Chapter(nbval.IPyNbFile):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.skip_compare += NOT_COMPARED

    def collect(self):
        chapter = jupytext.read(self.path)
        cells = code_cells(chapter)
        if not cells:
            if has_code(self.path):
                raise self.CollectError(f"{self.path.name} has code cells but no jupytext header, so none would run")
            return []
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
            if {"nbval-skip", "nbval-ignore-output", "raises-exception"} & set(cell.metadata.get("tags", [])):
                raise self.CollectError(f"{self.path.name} has a cell that is not checked: remove the tag")
            cell.outputs, cell.execution_count = reference.outputs, reference.execution_count
        with mock.patch.object(nbval.nbformat, "read", return_value=chapter):
            return list(super().collect())


def nbval_is_on(config):
    return config.option.nbval or config.option.nbval_lax


def pytest_collect_file(file_path, parent):
    if nbval_is_on(parent.config) and file_path.suffix == ".md" and file_path.is_relative_to(BOOK):
        return Chapter.from_parent(parent, path=file_path)
    return None


def pytest_collection_finish(session):
    """A bare run must have found every chapter of the table of contents."""
    config = session.config
    bare = config.args_source is not pytest.Config.ArgsSource.ARGS
    if nbval_is_on(config) and bare and not config.option.markexpr and not config.option.keyword:
        missing = {page.resolve() for page in chapters()} - {item.path.resolve() for item in session.items}
        if missing:
            raise pytest.UsageError(f"chapters not collected: {sorted(str(p.relative_to(ROOT)) for p in missing)}")
