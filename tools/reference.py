"""Run the chapters and store their outputs, without pictures, in tests/reference/.

Read the diff before committing it: these become the numbers that `pytest --nbval` expects.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in the book and in the tests
os.environ["TQDM_DISABLE"] = "1"  # progress bars are for readers

import jupytext
import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
BOOK, REFERENCE = ROOT / "book", ROOT / "tests" / "reference"
LEDGER = BOOK / "verdicts" / "ledger.md"


def target(page):
    return REFERENCE / page.relative_to(BOOK).with_suffix(".ipynb")


def store(page):
    if "{code-cell}" not in page.read_text(encoding="utf-8"):
        target(page).unlink(missing_ok=True)
        return
    notebook = jupytext.read(page, fmt="md:myst")
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    where = {"metadata": {"path": str(page.parent)}}
    NotebookClient(notebook, timeout=1200, record_timing=False, coalesce_streams=True, resources=where).execute()
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        cell.metadata = {"tags": cell.metadata["tags"]} if "tags" in cell.metadata else {}
        for output in cell.outputs:
            if output.get("name") == "stderr":
                sys.exit(f"{page.name}, cell {number} writes to stderr: {output['text'].strip()}")
            for mime in [m for m in output.get("data", {}) if "image/" in m]:
                del output["data"][mime]
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"]}
    target(page).parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target(page))
    print(f"stored {target(page).relative_to(ROOT)}")


def main(arguments):
    named = {Path(page).resolve() for page in arguments}
    pages = sorted(named | {LEDGER} if named else BOOK.rglob("*.md"))  # the ledger's page shows the claims of all
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(store, pages))
    if not arguments:
        for orphan in set(REFERENCE.rglob("*.ipynb")) - {target(page) for page in pages}:
            orphan.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
