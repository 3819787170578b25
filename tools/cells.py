"""Format the code cells of the chapters, narrow enough for the page; with `--check`, only look."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

BOOK = Path(__file__).resolve().parents[1] / "book"
WIDTH = 94
CELL = re.compile(
    r"(^```\{code-cell\}[^\n]*\n(?:---\n.*?\n---\n|(?::[^\n]*\n)*))(.*?)(^```$)", re.MULTILINE | re.DOTALL
)
# The ruff of this Python, with these settings and no others: neither a file nor a path of the caller's counts.
RUFF = [sys.executable, "-I", "-m", "ruff", "format", "--isolated", "--no-cache"]
RUFF += ["--target-version=py311", f"--line-length={WIDTH}", "--config=format.skip-magic-trailing-comma=true"]
RUFF += ["--config=lint.isort.split-on-trailing-comma=false"]  # else it warns that the two disagree


def formatted(cells):
    """Format all (page, code) in one go, which takes a second and not a minute."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{number}-{page.stem}.py") for number, (page, _) in enumerate(cells)]
        for file, (_, code) in zip(files, cells, strict=True):
            file.write_text(code, encoding="utf-8")
        names = [file.name for file in files]
        if names and subprocess.run([*RUFF, *names], cwd=folder, stdout=subprocess.DEVNULL).returncode:
            sys.exit("cells of the pages named above cannot be read")
        return [file.read_text(encoding="utf-8") for file in files]


def pages():
    """Every page; a hidden folder holds copies that an editor made."""
    found = sorted(BOOK.rglob("*.md"))
    return [page for page in found if not any(part.startswith(".") for part in page.relative_to(BOOK).parts)]


def main(check):
    texts = {page: page.read_text(encoding="utf-8") for page in pages()}
    new = iter(formatted([(page, cell[2]) for page, text in texts.items() for cell in CELL.finditer(text)]))
    changed = []
    for page, text in texts.items():
        tidy = CELL.sub(lambda cell: cell[1] + next(new) + cell[3], text)
        if tidy != text:
            changed.append(str(page.relative_to(BOOK.parent)))
            if not check:
                page.write_text(tidy, encoding="utf-8")
    if changed and check:
        sys.exit("cells to format with `python tools/cells.py`: " + ", ".join(changed))


if __name__ == "__main__":
    main("--check" in sys.argv)
