"""Format the code cells of the chapters, narrow enough for the page; with `--check`, only look."""

import re
import subprocess
import sys
from pathlib import Path

BOOK = Path(__file__).resolve().parents[1] / "book"
WIDTH = 94
CELL = re.compile(
    r"(^```\{code-cell\}[^\n]*\n(?:---\n.*?\n---\n|(?::[^\n]*\n)*))(.*?)(^```$)", re.MULTILINE | re.DOTALL
)


def formatted(code):
    options = [f"line-length={WIDTH}", "format.skip-magic-trailing-comma=true"]
    command = ["ruff", "format", *(part for option in options for part in ("--config", option)), "-"]
    done = subprocess.run(command, input=code, capture_output=True, text=True, check=True)
    return done.stdout


def main(check):
    changed = []
    for page in sorted(BOOK.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        new = CELL.sub(lambda cell: cell[1] + formatted(cell[2]) + cell[3], text)
        if new != text:
            changed.append(str(page.relative_to(BOOK.parent)))
            if not check:
                page.write_text(new, encoding="utf-8")
    if changed and check:
        sys.exit("cells to format with `python tools/cells.py`: " + ", ".join(changed))


if __name__ == "__main__":
    main("--check" in sys.argv)
