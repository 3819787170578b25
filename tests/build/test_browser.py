"""Every built page, opened in headless Chromium: self-contained, rendered, readable in both themes and on a phone."""

import json
import os
import threading
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest
from playwright.sync_api import sync_playwright
from scipy import stats

from dpreg.pipeline import repair
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import certify, functional, unit_scales
from dpreg.pipeline.objective import linear
from dpreg.pipeline.release import perturb
from lib.pages import claims
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

pytestmark = pytest.mark.browser
every_page = pytest.mark.parametrize("page", PAGES)
every_chapter = pytest.mark.parametrize("page", CHAPTERS)

# Runs in the page: what a reader sees that should not be there. Code, mathematics and scripts are left out.
FAULTS = r"""
() => {
  const faults = [];
  for (const m of document.querySelectorAll('.math')) {
    if (!m.querySelector('mjx-container')) faults.push('mathematics not rendered: ' + m.textContent.slice(0, 60));
  }
  for (const m of document.querySelectorAll('mjx-merror, [data-mjx-error]')) {
    faults.push('mathematics in error: ' + (m.getAttribute('data-mjx-error') || m.textContent).slice(0, 60));
  }
  const tex = /\\[(\[]|\$\$|\\[a-zA-Z]{2,}/;
  const markup = /<Figure size|\{(?:glue|eq|numref|ref|cite|doc|prf|term|claim|times)[:}a-z]|:::|```|%s|\]\(|\(eq-/;
  const raw = (text) => tex.test(text) || markup.test(text);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const outside = !node.parentElement.closest('pre, code, script, style, noscript, mjx-container');
    if (outside && raw(node.data)) faults.push('markup left over: ' + node.data.trim().slice(0, 80));
  }
  if (raw(document.title)) faults.push('markup left over in the title: ' + document.title);
  for (const image of document.images) {
    const name = image.getAttribute('src');
    if (!image.complete || !image.naturalWidth) faults.push('image not loaded: ' + name);
    if (image.closest('.navbar-brand')) continue;  // the theme's logo stands beside the title it repeats
    const alt = image.getAttribute('alt') || '';
    const named = /\.(?:png|svg|jpe?g|gif)$/i.test(alt);
    if (named || alt.length < 10) faults.push(`image ${name} has the alt text "${alt}"`);
  }
  return faults;
}
"""

# A picture of the gallery waits to be seen, and its decode() for ever: so it is asked for first.
IMAGES = r"""
async () => {
  for (const image of document.images) image.loading = 'eager';
  const loaded = (image) => image.complete || new Promise((done) => { image.onload = image.onerror = done; });
  await Promise.all([...document.images].map(loaded));
  await Promise.allSettled([...document.images].map((image) => image.decode()));
}
"""

WORDS = "article :is(p, li, td, th, dt, h1, h2, h3, figcaption, summary, pre, pre span, a:not(.headerlink))"

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


def test_there_are_pages_and_a_browser():
    """The one test that stands for the others where they cannot run."""
    if MISSING and os.environ.get("CI") == "true":
        pytest.fail("; ".join(MISSING))
    if MISSING:
        pytest.skip("; ".join(MISSING))
    assert CHAPTERS


@pytest.fixture(scope="module")
def browser():
    """One browser for all pages, closed with the module: its event loop must not outlive it in this process."""
    if MISSING:
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


@every_page
def test_page_from_disk(visit, page):
    tab = visit.open(page)
    faults = tab.evaluate(FAULTS)
    assert not visit.wrong + faults + broken_links(page)


@every_chapter
def test_page_on_a_phone(visit, page):
    tab = visit.open(page)
    tab.set_viewport_size(PHONE)
    width = tab.evaluate("() => document.scrollingElement.scrollWidth")
    assert width <= PHONE["width"] + 1, f"the page is {width} wide on a phone: {too_wide(tab)}"


@every_chapter
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_page_is_legible(visit, page, theme):
    tab = visit.open(page)
    switch(tab, theme)
    faint = [(text[:40], contrast) for text, contrast in tab.evaluate(CONTRAST, [WORDS, None]) if contrast < 4.5]
    assert not faint
    images = "[...document.querySelectorAll('article img')]"
    grounds = tab.evaluate(f"() => {images}.map((image) => getComputedStyle(image).backgroundColor)")
    assert all(ground == "rgb(255, 255, 255)" for ground in grounds), "figures need a white ground"


def switch(tab, theme):
    tab.add_style_tag(content="* { transition: none !important; }")
    tab.evaluate("(theme) => { Object.assign(document.documentElement.dataset, { theme, mode: theme }); }", theme)


def too_wide(tab):
    """The outermost elements that stick out and do not scroll inside a box of their own."""
    return tab.evaluate(
        """() => {
          const out = (e) => e.getBoundingClientRect().right > innerWidth + 1;
          const boxed = (e) => { for (let p = e.parentElement; p && p !== document.body; p = p.parentElement)
            if (getComputedStyle(p).overflowX !== 'visible') return true; return false; };
          return [...document.querySelectorAll('article *')].filter((e) => out(e) && !boxed(e)).slice(0, 5)
            .map((e) => `<${e.tagName.toLowerCase()} class="${e.className}"> ${e.textContent.trim().slice(0, 60)}`);
        }"""
    )


# Folds

TALLEST = 15_000  # pixels of a page at a desk, with all that folds folded
TALLER: dict[str, str] = {}  # pages that may be, with the reason


@every_page
def test_page_is_not_tall(visit, page):
    tab = visit.open(page)
    tall = tab.evaluate("() => document.scrollingElement.scrollHeight") > TALLEST
    assert tall == (page in TALLER), "fold what a first reading does not need: see `_ext/folding.py`"


OPEN = (
    "(id) => [...document.querySelectorAll('details')].every((d) => d.open || !d.contains(document.getElementById(id)))"
)


@pytest.mark.parametrize(
    ("page", "place"),
    [
        ("mechanisms/allocation", "claim-ba-fm"),  # below a line `{rest}`
        ("verdicts/ledger", "fm-s"),
        ("reference/pipeline", "dpreg.pipeline.domain.Box.clip"),  # in the entry of its class
    ],
)
def test_a_link_opens_what_is_folded(visit, page, place):
    tab = visit.open(f"book/{page}.html")
    tab.evaluate("(id) => { window.location.hash = id; }", place)
    tab.wait_for_function(OPEN, arg=place)
    assert tab.evaluate("(id) => document.getElementById(id).checkVisibility()", place)
    visit.open(f"book/{page}.html#{place}")
    assert tab.evaluate(OPEN, place)


def test_a_link_to_a_claim_shows_what_happened(visit):
    tab = visit.open("book/verdicts/ledger.html#fm-s")
    assert tab.evaluate("() => document.querySelector('#fm-s details').open")


def test_a_key_opens_a_fold_and_shuts_it(visit):
    tab = visit.open("book/mechanisms/linear.html")
    first = tab.locator("details.fold").first
    first.locator("summary").focus()
    for opened in (True, False):
        tab.keyboard.press("Enter")
        assert first.evaluate("(fold) => fold.open") == opened


def test_print_shows_what_is_folded(visit):
    shut = "() => [...document.querySelectorAll('details')].filter((fold) => !fold.open).length"
    tab = visit.open("book/mechanisms/linear.html")
    before = tab.evaluate(shut)
    tab.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    assert before
    assert tab.evaluate(shut) == 0
    tab.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate(shut) == before


def test_what_is_folded_is_found(visit):
    tab = visit.open("search.html?q=Banach")  # a word of one proof
    tab.wait_for_selector("#search-results li a[href*='foundations/regression']")


# Links


class Anchors(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.ids = [], set()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids |= {value for name in ("id", "name") if (value := attributes.get(name))}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])


@cache
def anchors(path):
    parser = Anchors()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser


def broken_links(page):
    here = HTML / page
    broken = []
    for link in anchors(here).links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or link == "#":
            continue
        there = (here.parent / unquote(parts.path)).resolve() if parts.path else here
        if not there.is_file():
            broken.append(f"link to a missing file: {link}")
        elif parts.fragment and there.suffix == ".html" and unquote(parts.fragment) not in anchors(there).ids:
            broken.append(f"link to a missing place: {link}")
    return broken


# The whole book


@pytest.fixture(scope="module")
def server():
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=HTML)) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()
        thread.join()


def test_all_pages_from_a_server_ask_nobody_else(browser, server):
    visit = Visit(browser, server)
    for page in PAGES:
        visit.open(page)
    visit.close()
    assert not visit.wrong


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_verdicts_can_be_read(visit, theme):
    tab = visit.open("book/verdicts/ledger.html")
    switch(tab, theme)
    words = tab.evaluate(CONTRAST, [".verdict", None])
    assert words
    assert all(contrast >= 4.5 for _, contrast in words), words
    signs = tab.evaluate(CONTRAST, [".verdict", "::before"])
    assert all(contrast >= 3 for _, contrast in signs), signs


def shown(tab):
    rows = "[...document.querySelectorAll('table.ledger tbody tr')]"
    return tab.evaluate(f"() => {rows}.filter((row) => row.offsetParent).map((row) => row.id)")


def test_claims_are_filtered_and_found(visit):
    known = claims.load()
    tab = visit.open("book/verdicts/ledger.html")
    assert sorted(shown(tab)) == sorted(name.lower() for name in known)
    tab.locator(".claims-filter select[name=source]").select_option("001")
    tab.locator(".claims-filter select[name=verdict]").select_option("false")
    wanted = [k.lower() for k, v in known.items() if (v.source, v.verdict) == ("001", "false")]
    assert sorted(shown(tab)) == sorted(wanted)
    assert tab.locator(".claims-filter output").inner_text() == f"{len(wanted)} of {len(known)} claims"
    tab.locator(".claims-filter input").fill("stone weierstrass")
    assert shown(tab) == ["fm-sw"]
    tab.evaluate("() => { window.location.hash = '#fm-ex'; }")
    tab.wait_for_function("() => document.getElementById('fm-ex').offsetParent")
    assert "fm-ex" in shown(tab)
    assert not visit.wrong


def test_claims_are_a_plain_table_without_scripts(browser):
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(HANGS)
    tab = context.new_page()
    tab.goto(f"{HTML.as_uri()}/book/verdicts/ledger.html")
    assert tab.locator("table.ledger tbody tr").count() == len(claims.load())
    assert tab.locator(".claims-filter").count() == 0
    context.close()


def test_claims_can_be_downloaded():
    records = json.loads((HTML / "book" / "verdicts" / "ledger.json").read_text(encoding="utf-8"))
    assert {record["id"]: record["verdict"] for record in records} == {k: v.verdict for k, v in claims.load().items()}
    assert (HTML / "book" / "verdicts" / "ledger.csv").is_file()


def test_ledger_is_stacked_on_a_phone(visit):
    tab = visit.open("book/verdicts/ledger.html")
    tab.set_viewport_size(PHONE)
    lefts = tab.evaluate(
        "() => [...document.querySelectorAll('.ledger tbody tr:first-child td')].map((c) => c.offsetLeft)"
    )
    assert len(set(lefts)) == 1, "the cells of a claim stand below each other"


def test_names_lead_to_the_reference_and_back(visit):
    tab = visit.open("book/mechanisms/linear.html")
    tab.locator("a[href$='#dpreg.pipeline.laws.certify']").first.evaluate("link => link.click()")
    tab.wait_for_url("**/reference/pipeline.html#dpreg.pipeline.laws.certify")
    entry = tab.locator("dl:has(> dt[id='dpreg.pipeline.laws.certify'])")
    assert entry.locator("p:has-text('Called in') a[href$='mechanisms/linear.html']").count() == 1


def test_root_leads_to_the_book(visit):
    visit.tab.goto(f"{visit.base}/index.html")
    visit.tab.wait_for_url("**/book/index.html")
    assert not visit.wrong


def test_keyboard_reaches_the_text(visit):
    tab = visit.open("book/index.html")
    tab.keyboard.press("Tab")
    assert "skip" in tab.evaluate("() => document.activeElement.textContent").lower()
    tab.keyboard.press("Enter")
    for _ in range(3):
        tab.keyboard.press("Tab")
    assert tab.evaluate("() => document.activeElement.closest('main') !== null")


@pytest.mark.parametrize(
    ("words", "page", "snippet"),
    [
        ("confidence interval", "practice/uncertainty", "interval"),
        ("Wishart difference", "mechanisms/best", "differen"),  # the place of one of the words
        ("functional mechanism", "mechanisms/linear", "functional"),
        ("DPBA", "mechanisms/allocation", "DPBA"),
    ],
)
def test_search_shows_where_words_stand(visit, words, page, snippet):
    tab = visit.open(f"search.html?q={words.replace(' ', '+')}")
    entry = tab.locator(f"#search-results li:has(> a[href*='{page}.html']):has(p.context)").first
    entry.wait_for()
    assert snippet.lower() in entry.locator("p.context").text_content().lower()
    assert not visit.wrong


def test_search_works_from_disk(visit):
    tab = visit.open("search.html?q=privacy")
    tab.wait_for_selector("#search-results li a")
    link = tab.get_attribute("#search-results li a", "href")
    assert (HTML / link.partition("#")[0].partition("?")[0]).is_file()
    assert not visit.wrong


# Pictures to play with

PLAYED = [page for page in CHAPTERS if "vnd.vegalite" in (HTML / page).read_text(encoding="utf-8")]
every_played = pytest.mark.parametrize("page", PLAYED)
LEAST = 5  # pictures in the book
HEAVY = 1_000_000  # bytes of the library, as it is sent without packing
UNFOLD = "() => { for (const fold of document.querySelectorAll('details')) fold.open = true; }"
READY = "() => [...document.querySelectorAll('div.play')].every((place) => place.view)"
KEYS = {"range": ("ArrowRight", "ArrowLeft"), "checkbox": ("Space", "Space"), "select-one": ("ArrowDown", "ArrowUp")}


def play(visit, page):
    """The pictures of a page, once they are drawn."""
    tab = visit.open(page)
    tab.evaluate(UNFOLD)
    tab.wait_for_function(READY)
    return tab, tab.locator("div.play").all()


SEEN = r"""
async (place) => {
  await place.view.runAsync();
  const traits = ['d', 'transform', 'x2', 'y2', 'width', 'height', 'fill', 'stroke', 'opacity'];
  return [...place.querySelectorAll('svg :is(path, line, rect, text)')]
    .map((mark) => [mark.tagName, ...traits.map((trait) => mark.getAttribute(trait)), mark.textContent].join())
    .sort();
}
"""
AGAIN = "(place) => { place.start ??= place.view.getState(); place.view.setState(place.start); }"


def seen(picture):
    """The marks of a picture; settled, because a view draws when its data are through."""
    return picture.evaluate(SEEN)


def test_there_are_pictures_to_play_with():
    if not MISSING:
        spec = 'script type="application/vnd.vegalite'
        assert sum((HTML / page).read_text(encoding="utf-8").count(spec) for page in PLAYED) >= LEAST


@every_played
def test_every_control_takes_the_keyboard(visit, page):
    """Each of them changes the picture, and back again."""
    _, pictures = play(visit, page)
    for picture in pictures:
        controls = picture.locator("form :is(input, select)").all()
        assert controls, "there is nothing to play with"
        for control in controls:
            name, before = control.get_attribute("name"), seen(picture)
            there, back = KEYS[control.evaluate("(control) => control.type")]
            control.focus()
            control.press(there)
            if seen(picture) == before:  # it stood at its end
                there, back = back, there
                control.press(there)
            assert seen(picture) != before, f"{name} changes nothing"
            control.press(back)
            assert seen(picture) == before, f"{name} does not come back"
    assert not visit.wrong


@every_played
def test_every_control_takes_the_mouse(visit, page):
    _, pictures = play(visit, page)
    for picture in pictures:
        for control in picture.locator("form :is(input, select)").all():
            picture.evaluate(AGAIN)
            before, kind = seen(picture), control.evaluate("(control) => control.type")
            if kind == "select-one":  # its list is not part of the page
                control.select_option(index=1)
            elif kind == "checkbox":
                control.click()
            else:
                box, value = control.bounding_box(), control.input_value()
                low, high = (float(control.get_attribute(end)) for end in ("min", "max"))
                share = 0.15 if float(value) > (low + high) / 2 else 0.85
                control.click(position={"x": share * box["width"], "y": box["height"] / 2})
            assert seen(picture) != before, control.get_attribute("name")
    assert not visit.wrong


@every_played
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_take_the_colours_of_the_page(visit, page, theme):
    tab, pictures = play(visit, page)
    switch(tab, theme)
    for picture in pictures:
        words = picture.evaluate(
            "(place) => [...place.querySelectorAll('svg text')].map((t) => [getComputedStyle(t).fill, t.textContent])"
        )
        ink = picture.evaluate("(place) => getComputedStyle(place).color")
        assert {fill for fill, text in words if text} <= {ink}
        label = picture.locator("svg").get_attribute("aria-label")
        assert label == picture.locator("xpath=..").locator("img").get_attribute("alt")
    faint = tab.evaluate(CONTRAST, ["div.play label, p.play-help", None])
    assert all(contrast >= 4.5 for _, contrast in faint), faint


@every_played
def test_pictures_fit_a_phone(browser, page):
    visit = Visit(browser, HTML.as_uri(), PHONE)
    tab, pictures = play(visit, page)
    for picture in pictures:
        outer, drawn = picture.bounding_box(), picture.locator("svg").bounding_box()
        for words in picture.locator("svg .role-mark text").all():
            said = words.bounding_box()
            assert said["x"] + said["width"] <= drawn["x"] + drawn["width"] + 1, words.text_content()
        for part in [picture.locator("svg"), *picture.locator("form label").all()]:
            inner = part.bounding_box()
            assert inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1
    assert tab.evaluate("() => document.scrollingElement.scrollWidth") <= PHONE["width"] + 1
    visit.close()


@every_played
def test_in_print_and_without_scripts_there_are_stills(browser, visit, page):
    tab, pictures = play(visit, page)
    stills = tab.locator("img.still")
    assert stills.count() == len(pictures)
    assert not any(still.is_visible() for still in stills.all())
    tab.emulate_media(media="print")
    assert all(still.is_visible() for still in stills.all())
    assert not any(picture.is_visible() for picture in pictures)
    context = browser.new_context(java_script_enabled=False)
    bare = context.new_page()
    bare.goto(f"{visit.base}/{page}")
    bare.evaluate(UNFOLD)
    specs = bare.locator("script[type^='application/vnd.vegalite']")
    shown = [spec.locator("xpath=..").locator("img").is_visible() for spec in specs.all()]
    assert shown == [True] * len(pictures)
    context.close()


# What a picture computes by itself, held to the engine and to scipy.

HELD = """
(place, field) => {
  const names = Object.keys(place.view.getState({ data: () => true, signals: () => false }).data);
  const rows = new Set(names.flatMap((name) => place.view.data(name)));
  return [...rows].filter((row) => row?.[field] !== undefined);
}
"""


def played(visit, page, figure, **settings):
    """A function that gives the rows which hold a field, once the controls are set."""
    tab = visit.open(page)
    tab.evaluate(UNFOLD)
    tab.wait_for_function(READY)
    picture = tab.locator(f"#{figure} div.play")
    picture.evaluate(
        "(place, values) => { for (const [k, v] of Object.entries(values)) place.view.signal(k, v); }", settings
    )
    seen(picture)
    return lambda field: picture.evaluate(HELD, field)


@pytest.mark.parametrize(("exponent", "draw", "ridge"), [(0, 1, False), (0.5, 3, True), (2, 5, False)])
def test_the_parabolas_are_the_objectives(visit, exponent, draw, ridge):
    held = played(visit, "book/mechanisms/linear.html", "fig-linear-play", exponent=exponent, draw=draw, ridge=ridge)
    box = Box([-1.0], [1.0], response=(-1.0, 1.0))
    clean = linear([[1.0], [0.9], [-0.5]], [0.4, 0.3, -1.0], box)
    scales = functional(box, 10.0**exponent, sensitivity="printed", convention="monomial")
    noisy = perturb(clean, scales, 2, draws=(5,))[draw - 1]
    if ridge:
        noisy = repair.ridge(noisy, repair.deviations(scales))
    rows = held("objective")
    assert len(rows) == 2 * 61
    for row in rows:
        f = noisy if "draw" in row else clean
        assert row["objective"] == pytest.approx(f([row["theta"]]) - f.c, rel=2e-3, abs=2e-3)


@pytest.mark.parametrize(("d", "x", "t"), [(1, 1.0, 1.0), (3, -0.4, 0.75), (13, 0.9, -1.0)])
def test_the_map_of_neighbours_is_of_their_coefficients(visit, d, x, t):
    held = played(visit, "book/mechanisms/sensitivity.html", "fig-sensitivity-play", d=d, x1=x, t1=t)
    cube = Box(-np.ones(d), np.ones(d), response=(-1.0, 1.0))
    unit = unit_scales("monomial", d)
    worst = certify(unit, cube)
    one = linear(np.full((1, d), x), [t], cube)
    rows = held("share")
    assert len(rows) == 400
    for row in rows[::37]:
        other = linear(np.full((1, d), row["x"] + 0.05), [row["t"] + 0.05], cube)
        squares, products = np.triu(one.M - other.M), np.triu(one.M - other.M, 1)
        moved = np.abs(squares).sum() + np.abs(products).sum() + np.abs(one.v - other.v).sum()
        assert row["share"] == pytest.approx(moved / worst, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(("epsilon", "J", "both"), [(0.9, 5, False), (0.1, 10, True), (1, 1, False)])
def test_the_densities_of_the_wishart_step_are_those_of_scipy(visit, epsilon, J, both):
    held = played(visit, "book/mechanisms/irls.html", "fig-irls-play", epsilon=epsilon, J=J, both=both)
    scale = (J / epsilon) ** 0.5
    rows = [row for row in held("density") if "data" in row]
    assert len(rows) == 2 * 181
    law = stats.laplace if both else stats.expon
    for row in rows:
        at = float(row["data"] == "with it")
        if abs(row["w"] - at) > 0.01:  # where one of them leaps
            assert row["density"] == pytest.approx(law.pdf(row["w"], at, scale), rel=1e-3, abs=1e-9)


def test_only_pages_with_pictures_load_what_draws_them():
    if not MISSING:
        loading = [page for page in PAGES if "_static/vega.js" in (HTML / page).read_text(encoding="utf-8")]
        assert loading == PLAYED
        assert (HTML / "_static" / "vega.js").stat().st_size < HEAVY
