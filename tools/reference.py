"""Run the chapters and store their outputs, without pictures, in tests/reference/.

Read the diff before committing it: these become the numbers that `pytest --nbval` expects.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
BOOK, REFERENCE = ROOT / "book", ROOT / "tests" / "reference"


def store(path):
    notebook = jupytext.read(path)
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    target = REFERENCE / path.relative_to(BOOK).with_suffix(".ipynb")
    if not notebook.cells:
        target.unlink(missing_ok=True)
        return
    where = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=1200, record_timing=False, coalesce_streams=True, resources=where).execute()
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        cell.metadata = {"tags": cell.metadata["tags"]} if "tags" in cell.metadata else {}
        for output in cell.outputs:
            for mime in [m for m in output.get("data", {}) if "image/" in m]:
                del output["data"][mime]
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"]}
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)
    print(f"stored {target.relative_to(ROOT)}")


if __name__ == "__main__":
    pages = [Path(page).resolve() for page in sys.argv[1:]] or sorted(BOOK.rglob("*.md"))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(store, pages))
