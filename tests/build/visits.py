"""The built book in headless Chromium: where it is, how a page is opened, and what went wrong on the way."""

from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tools import publish

HTML = Path(__file__).resolve().parents[2] / "_build" / "html"
CHROMIUM = publish.chromium()
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
HANGS = 600_000  # milliseconds; nothing here waits as long unless it hangs
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}

MISSING = []
if not HTML.is_dir():
    MISSING.append("the book is not built: run `make book`")
if CHROMIUM is None:
    MISSING.append("there is no Chromium to look at the pages with: on Debian, `apt-get install chromium`")

FOUND = sorted(path.relative_to(HTML).as_posix() for path in HTML.rglob("*.html") if "_static" not in path.parts)
PAGES = [page for page in FOUND if page != "index.html"]  # that one sends the reader on, and has a test of its own
CHAPTERS = [page for page in PAGES if page.startswith("book/")]

# A picture of the gallery waits to be seen, and its decode() for ever: so it is asked for first.
IMAGES = r"""
async () => {
  for (const image of document.images) image.loading = 'eager';
  const loaded = (image) => image.complete || new Promise((done) => { image.onload = image.onerror = done; });
  await Promise.all([...document.images].map(loaded));
  await Promise.allSettled([...document.images].map((image) => image.decode()));
}
"""

# Contrast of a colour with what is behind the element, as WCAG 2 defines it.
CONTRAST = r"""
([selector, pseudo]) => {
  const parse = (text) => (text.match(/[\d.]+/g) || []).map(Number);
  const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour.length === 3 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll(selector)].map((element) => {
    const [a, b] = [parse(getComputedStyle(element, pseudo).color), behind(element)].map(light);
    return [element.textContent, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
  });
}
"""

UNFOLD = "() => { for (const fold of document.querySelectorAll('details')) fold.open = true; }"


@pytest.fixture(scope="module")
def browser():
    """One browser for all pages, closed with the module: its event loop must not outlive it in this process."""
    if MISSING:  # a desk may do without; with CI=true `test_there_are_pages_and_a_browser` fails for that
        pytest.skip("; ".join(MISSING))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


class Visit:
    """A page in the browser, and everything that went wrong on the way."""

    def __init__(self, browser, base, viewport=DESK):
        self.base, self.wrong = base, []
        self.context = browser.new_context(viewport=viewport, color_scheme="light")
        self.context.route("**/*", self.gate)
        self.context.set_default_timeout(HANGS)
        self.tab = self.context.new_page()
        self.tab.on("requestfailed", self.failed)
        self.tab.on("response", lambda r: self.wrong.append(f"{r.status}: {r.url[-100:]}") if r.status >= 400 else None)
        self.tab.on("console", lambda m: self.wrong.append(m.text) if m.type in ("error", "warning") else None)
        self.tab.on("pageerror", lambda error: self.wrong.append(f"script error: {error}"))

    def failed(self, request):
        if request.failure != "net::ERR_ABORTED":  # the icon of a page that was left before it came
            self.wrong.append(f"request failed: {request.url[-100:]} {request.failure}")

    def gate(self, route):
        if route.request.url.startswith((self.base, "data:", "blob:")):
            route.continue_()
        else:
            self.wrong.append(f"request to another place: {route.request.url[:100]}")
            route.abort()

    def open(self, page):
        self.tab.goto(f"{self.base}/{page}", wait_until="load")
        # Mathematics arrives after the page; a page without it has no MathJax to wait for.
        self.tab.evaluate(
            "async () => { if (document.querySelector('.math')) await window.MathJax?.startup?.promise; }"
        )
        self.tab.evaluate(IMAGES)
        return self.tab

    def close(self):
        self.context.close()


@pytest.fixture
def visit(browser):
    """A visit to the book as files on the disk."""
    made = Visit(browser, HTML.as_uri())
    yield made
    made.close()


def switch(tab, theme):
    tab.add_style_tag(content="* { transition: none !important; }")
    tab.evaluate("(theme) => { Object.assign(document.documentElement.dataset, { theme, mode: theme }); }", theme)
