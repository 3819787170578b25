"""The status page: every chapter with its time and memory, and sums that keep their limits."""

import importlib.util
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "_build" / "html" / "book"
PAGE = BOOK / "practice" / "status.html"


@pytest.fixture(scope="module")
def execution():
    spec = importlib.util.spec_from_file_location("execution", ROOT / "_ext" / "execution.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hold(megabytes, seconds):
    return f"import time; x = b'x' * {megabytes} * 10**6; time.sleep({seconds}); y = len(x)"


def watched(code):
    """Return the peak that is seen of a child that runs `code`, and of its own children."""
    child = f"child = subprocess.Popen([sys.executable, '-c', {code!r}])"
    whole = f"""
import subprocess, sys
from tools import chapters
ours = b"x" * 300_000_000
{child}
with chapters.Watch(lambda: [child.pid]) as watch:
    child.wait()
print(watch.peak)
"""
    done = subprocess.run([sys.executable, "-c", whole], cwd=ROOT, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.thorough
def test_memory_is_that_of_the_kernel_and_its_workers_at_their_peak():
    """A worker of the child holds 150 MB; ours do not count."""
    worker = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {hold(150, 3)!r}], check=True)"
    assert 150e6 < watched(worker) < 200e6


@pytest.mark.thorough
def test_memory_of_a_process_that_has_ended_is_nothing():
    assert watched("") < 50e6


@pytest.mark.parametrize(("seconds", "size", "over"), [(380, 1.2e9, ""), (390, 1.2e9, "s"), (380, 1.6e9, "MB")])
def test_what_is_over_its_limit_is_marked(execution, seconds, size, over):
    """Two chapters at a time: the first two overlap for 100 s, and the third comes after a pause."""
    begun = [(1000.0, 200.0, 1e9), (1100.0, 100.0 + seconds - 300, size), (5000.0, 100.0, 1e6)]
    ran = [{"begun": begin, "seconds": took, "memory": memory} for begin, took, memory in begun]
    limit = execution.SECONDS
    _, (_, time_, memory) = execution.summary([*ran, {"begun": 9000.0, "seconds": limit - 385.0, "memory": 1}], 0.9e9)
    assert time_ == f"{limit + seconds - 385} of {limit} s" + (", over the limit" if over == "s" else "")
    assert memory.startswith(f"{size / 1e6:,.0f} of 1,500 MB")
    assert ("over the limit" in memory) == (over == "MB")


class Cells(HTMLParser):
    """The rows of the page's table, each a list of texts, and the links in it."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.links, self.inside = [], [], False
        self.feed(text[text.index("<table") : text.index("</table>")])

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "a":
            self.links.append(dict(attrs)["href"])

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()


@pytest.fixture(scope="module")
def table():
    if not PAGE.exists():
        pytest.skip("the book is not built: run `make book`")
    return Cells(PAGE.read_text(encoding="utf-8"))


def number(text):
    return float(re.match(r"[\d,.]+", text)[0].replace(",", ""))


@pytest.mark.browser
def test_the_page_lists_every_chapter_that_runs_in_the_order_of_the_book(table):
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [toc["root"], *(chapter["file"] for part in toc["parts"] for chapter in part["chapters"])]
    run = [file for file in files if "{code-cell}" in (ROOT / f"{file}.md").read_text(encoding="utf-8")]
    found = [(PAGE.parent / link).resolve().relative_to(BOOK.parent).with_suffix("").as_posix() for link in table.links]
    assert found == run


@pytest.mark.browser
def test_the_sums_are_of_the_chapters(table):
    _, *chapters, sphinx, total = table.rows
    seconds, sizes = ([number(row[k]) for row in chapters] for k in (1, 2))
    assert min(seconds) > 0
    assert min(sizes) > 50
    assert max(seconds) - 1 < number(total[1]) < sum(seconds) + 1
    assert number(total[2]) == pytest.approx(max(sizes), abs=1.5)
    assert number(sphinx[2]) > 50


@pytest.mark.browser
def test_every_chapter_keeps_the_memory_limit(table):
    """The time is shown and marked only: how long a chapter takes is up to the computer and its load."""
    assert "over the limit" not in table.rows[-1][2]
