"""Run the chapters and store their outputs, without pictures, in tests/reference/.

Read the diff before committing it: these become the numbers that `pytest --nbval` expects.
"""

import sys
from pathlib import Path

import nbformat

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools import chapters

LEDGER = chapters.BOOK / "verdicts" / "ledger.md"


def target(page):
    return (chapters.REFERENCE / chapters.name(page)).with_suffix(".ipynb")


def store(page):
    notebook = chapters.outputs(page)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        cell.metadata = {"tags": cell.metadata["tags"]} if "tags" in cell.metadata else {}
        for output in cell.outputs:
            for mime in [m for m in output.get("data", {}) if "image/" in m]:
                del output["data"][mime]
    seconds = round(notebook.metadata["run"]["seconds"])
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "seconds": seconds}
    target(page).parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target(page))
    print(f"stored {target(page).relative_to(chapters.ROOT)}")


def main(arguments):
    named = {Path(page).resolve() for page in arguments}
    wanted = named | {LEDGER} if named else set(chapters.chapters())  # the ledger's page shows the claims of all
    pages = [page for page in chapters.chapters() if page in wanted]
    try:
        chapters.run(pages)
    except chapters.ChapterError as error:
        sys.exit(str(error))
    for page in pages:
        store(page)
    if not named:
        for orphan in set(chapters.REFERENCE.rglob("*.ipynb")) - {target(page) for page in pages}:
            orphan.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
