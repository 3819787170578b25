"""Run the chapters and store their outputs, without pictures, in tests/reference/.

Read the diff before committing it: these become the numbers that `pytest --nbval` expects.
With `--records`, no chapter is run: what stored outputs show of the claims' records is written anew.
"""

import re
import sys
from pathlib import Path

import nbformat
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from lib.pages import claims, report, verdicts
from tools import chapters


def target(page):
    return (chapters.REFERENCE / chapters.name(page)).with_suffix(".ipynb")


def store(page):
    notebook = chapters.outputs(page)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        cell.execution_count = number + 1
        cell.metadata = {"tags": cell.metadata["tags"]} if "tags" in cell.metadata else {}
        for output in cell.outputs:
            for mime in [m for m in output.get("data", {}) if "image/" in m or "vega" in m]:
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


EVIDENCE = re.compile(r"^([A-Z0-9-]+) \([a-z, ]+\): ", re.M)
SHOWN = re.compile(r"(claims|verdicts)\.\w+\(.*\)|report\.table\((claims|verdicts)\.\w+\(.*\)\)")


def records():
    known = claims.load()
    pd.set_option("display.max_columns", 20, "display.width", 80)  # as in a kernel
    for path in sorted(chapters.REFERENCE.rglob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
            show = SHOWN.fullmatch(cell.source.strip())
            for output in cell.outputs:
                if "text" in output:
                    output.text = EVIDENCE.sub(lambda found: f"{found[1]} ({known[found[1]].verdict}): ", output.text)
                elif show and output.output_type == "execute_result":
                    value = eval(cell.source, {"claims": claims, "report": report, "verdicts": verdicts})
                    output.data = {"text/html": value._repr_html_(), "text/plain": repr(value)}
        nbformat.write(notebook, path)


def main(arguments):
    if arguments == ["--records"]:
        return records()
    named = {Path(page).resolve() for page in arguments}
    shown = {page for page in chapters.chapters() if page.parent.name == "verdicts"}  # they show the claims of all
    wanted = named | shown if named else set(chapters.chapters())
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
