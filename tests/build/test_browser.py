"""What a reader does on the built pages, in headless Chromium: fold, search, filter, play with pictures."""

import json
import os
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from scipy import stats

from dpreg.pipeline import repair
from dpreg.pipeline.domain import Box
from dpreg.pipeline.laws import certify, functional, unit_scales
from dpreg.pipeline.objective import linear
from dpreg.pipeline.release import perturb
from lib.pages import claims
from tests.build.visits import (
    CHAPTERS,
    CONTRAST,
    HANGS,
    HTML,
    MISSING,
    PAGES,
    PHONE,
    UNFOLD,
    Visit,
    browser,
    switch,
    visit,
)

pytestmark = pytest.mark.browser
__all__ = ["browser", "visit"]  # the fixtures


def test_there_are_pages_and_a_browser():
    """The one test that stands for the others where they cannot run."""
    if MISSING and os.environ.get("CI") == "true":
        pytest.fail("; ".join(MISSING))
    if MISSING:
        pytest.skip("; ".join(MISSING))
    assert CHAPTERS


# Folds

OPEN = (
    "(id) => [...document.querySelectorAll('details')].every((d) => d.open || !d.contains(document.getElementById(id)))"
)


@pytest.mark.parametrize(
    ("page", "place"),
    [
        ("mechanisms/allocation", "claim-ba-fm"),  # below a line `% fold:`
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


def test_pages_of_each_kind_from_a_server_ask_nobody_else(browser, server):
    visit = Visit(browser, server)
    for page in ("book/index", "book/mechanisms/linear", "book/verdicts/ledger", "search", "genindex"):
        visit.open(f"{page}.html")
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
