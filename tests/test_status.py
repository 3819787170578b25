"""The status page: every chapter with its time and memory, and sums that keep their limits."""

import importlib.util
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "_build" / "html" / "book"
PAGE = BOOK / "practice" / "status.html"


@pytest.fixture(scope="module")
def execution():
    spec = importlib.util.spec_from_file_location("execution", ROOT / "_ext" / "execution.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hold(megabytes, seconds):
    return f"import time; x = b'x' * {megabytes} * 10**6; y = len(x); del x; time.sleep({seconds})"


def watched(code):
    """Return the peak that is seen while `code` runs, in a process of its own: this one may have children already."""
    whole = f"import sys; sys.path.insert(0, '_ext'); import subprocess, time, execution\n{code}\nprint(watch.peak)"
    done = subprocess.run([sys.executable, "-c", whole], cwd=ROOT, capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_memory_is_that_of_the_children_and_theirs_at_their_peak():
    """A worker of the child holds 150 MB and gives them back at once; neither ours nor a child before counts."""
    worker = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {hold(150, 1)!r}], check=True)"
    peak = watched(
        f"""
subprocess.run([sys.executable, "-c", {hold(400, 0)!r}], check=True)
ours = b"x" * 300_000_000
with execution.Watch() as watch:
    subprocess.run([sys.executable, "-c", {worker!r}], check=True)
"""
    )
    assert 150e6 < peak < 200e6


def test_memory_of_nothing_is_nothing():
    assert watched("with execution.Watch() as watch:\n    time.sleep(0.3)") == 0


@pytest.mark.parametrize(("seconds", "size", "over"), [(440, 2e9, ""), (460, 2e9, "s"), (440, 3.2e9, "MB")])
def test_a_sum_over_its_limit_is_marked(execution, seconds, size, over):
    ran = [{"runtime": 449.0, "memory": 1e9}, {"runtime": seconds, "memory": size}, {"runtime": 1.0, "memory": None}]
    _, (_, time_, memory) = execution.summary(ran, 0.9e9)
    assert time_ == f"{450 + seconds} of 900 s" + (", over the limit" if over == "s" else "")
    assert memory.startswith(f"{size / 1e6 + 900:,.0f} of 4,000 MB")
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
    files = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    run = [file for file in files if "{code-cell}" in (ROOT / f"{file}.md").read_text(encoding="utf-8")]
    found = [(PAGE.parent / link).resolve().relative_to(BOOK.parent).with_suffix("").as_posix() for link in table.links]
    assert found == run


@pytest.mark.browser
def test_the_sums_are_of_the_chapters(table):
    _, *chapters, sphinx, total = table.rows
    seconds, sizes = ([number(row[k]) for row in chapters] for k in (1, 2))
    assert min(seconds) > 0
    assert min(sizes) > 50
    assert number(total[1]) == pytest.approx(sum(seconds), abs=0.5 + 0.05 * len(chapters))
    assert number(total[2]) == pytest.approx(max(sizes) + number(sphinx[2]), abs=1.5)


@pytest.mark.browser
def test_all_chapters_together_keep_the_memory_limit(table):
    """The sum of times is shown and marked only: how long a chapter takes is up to the computer and its load."""
    assert "over the limit" not in table.rows[-1][2]
