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
        cell.execution_count = number + 1
        cell.metadata = {"tags": cell.metadata["tags"]} if "tags" in cell.metadata else {}
        for output in cell.outputs:
            for mime in [m for m in output.get("data", {}) if "image/" in m]:
                del output["data"][mime]
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = number + 1
    seconds = round(notebook.metadata["run"]["seconds"])
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "seconds": seconds}
    if target(page).exists():
        old = nbformat.read(target(page), as_version=4)
        if old.cells == notebook.cells:  # another time is no reason for a diff
            return
    target(page).parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target(page))
    print(f"stored {target(page).relative_to(chapters.ROOT)}")


def main(arguments):
    named = {Path(page).resolve() for page in arguments}
    wanted = named | {LEDGER} if named else set(chapters.chapters())  # the ledger's page shows the claims of all
    pages = [page for page in chapters.chapters() if page in wanted]
    if lost := named - set(pages):
        sys.exit("\n".join(f"{page} is no chapter: give a page with code that _toc.yml lists" for page in sorted(lost)))
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
