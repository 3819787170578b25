"""Every built page, visited once in headless Chromium: as files, self-contained, rendered, legible, on a phone, in axe.

axe-core looks at each page in one of three views in turn, without its rules on colour, which take most of its time: the
contrast of the text is measured here, in both themes. `make audit` lets it look at everything in all three.
"""

from functools import cache
from html.parser import HTMLParser
from importlib.resources import files
from urllib.parse import unquote, urlsplit

import pytest

from tests.build.visits import (
    CHAPTERS,
    CONTRAST,
    DESK,
    HTML,
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

TALLEST = 15_000  # pixels of a page at a desk, with all that folds folded
VIEWS = {"desk": (DESK, "light"), "dark": (DESK, "dark"), "phone": (PHONE, "light")}

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

WORDS = "article :is(p, li, td, th, dt, h1, h2, h3, figcaption, summary, pre, pre span, a:not(.headerlink))"


GROUNDS = "() => [...document.querySelectorAll('article img')].map((image) => getComputedStyle(image).backgroundColor)"
AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
SETTLED = r"""
async () => {
  await new Promise((done) => setTimeout(done, 100));
  for (const one of document.getAnimations()) one.finish();  // what fades in has no contrast yet
}
"""
VIOLATIONS = r"""
async (colours) => {
  const left = colours ? [] : axe.getRules(['cat.color']);
  const rules = Object.fromEntries(left.map((rule) => [rule.ruleId, {enabled: false}]));
  const found = await axe.run(document, {resultTypes: ['violations'], preload: false, rules});
  return found.violations.map((one) => `${one.id} (${one.nodes.length}): ${one.nodes[0].html.slice(0, 120)}`);
}
"""


def violations(tab, colours):
    """What axe-core finds on the page, with all its folds open."""
    tab.evaluate(UNFOLD)
    tab.evaluate(SETTLED)
    tab.evaluate(AXE)
    return tab.evaluate(VIOLATIONS, colours)


def faint(tab):
    """Words whose contrast is below what WCAG 2 asks for, in both themes, and figures without their white ground."""
    found = []
    for theme in ("dark", "light"):
        switch(tab, theme)
        words = tab.evaluate(CONTRAST, [WORDS, None])
        found += [f"{theme}: {text[:40]!r} has a contrast of {contrast}" for text, contrast in words if contrast < 4.5]
        grounds = set(tab.evaluate(GROUNDS)) - {"rgb(255, 255, 255)"}
        found += [f"{theme}: a figure has the ground {ground}, not white" for ground in grounds]
    return found


def tall(tab):
    height = tab.evaluate("() => document.scrollingElement.scrollHeight")
    return [f"{height} pixels at a desk: fold what a first reading does not need, see `_ext/folding.py`"] * (
        height > TALLEST
    )


def wide(tab):
    width = tab.evaluate("() => document.scrollingElement.scrollWidth")
    return [f"{width} wide on a phone: {too_wide(tab)}"] * (width > PHONE["width"] + 1)


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


def look(visit, page, view, chapter=True):
    """Everything that is wrong with a page. The tab stays as it is opened, so that each page is loaded once."""
    tab = visit.open(page)
    found = tab.evaluate(FAULTS) + tall(tab)
    if chapter:
        found += faint(tab)
    size, theme = VIEWS[view]
    switch(tab, theme)
    if chapter:
        tab.set_viewport_size(PHONE)
        found += wide(tab)
    tab.set_viewport_size(size)
    return found + violations(tab, colours=False) + visit.wrong


@pytest.mark.parametrize(("page", "view"), [(page, list(VIEWS)[k % len(VIEWS)]) for k, page in enumerate(PAGES)])
def test_page(visit, page, view):
    assert look(visit, page, view, page in CHAPTERS) + broken_links(page) == []


@pytest.mark.audit
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing(browser, page, view):
    """With the reader's settings before the page loads, and with axe's own contrast."""
    size, mode = VIEWS[view]
    visit = Visit(browser, HTML.as_uri(), size)
    visit.context.add_init_script(f"localStorage.setItem('mode', '{mode}'); localStorage.setItem('theme', '{mode}')")
    found = violations(visit.open(page), colours=True)
    visit.close()
    assert found == []


# The checks, checked

PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
FAULTY = {
    "markup left over: It is $$": "<p>It is $$x$$.</p>",
    "markup left over: It is \\alpha": "<p>It is \\alpha.</p>",
    "mathematics not rendered": '<p><span class="math">x</span></p>',
    'has the alt text "a"': f'<img alt="a" src="{PIXEL}">',
    "image not loaded": '<img alt="A picture that is not there" src="data:,">',
    "pixels at a desk": '<p style="height: 16000px">Tall.</p>',
    "wide on a phone: ['<p": '<p style="width: 500px">Wide.</p>',
    "light: 'Pale words.' has a contrast": '<p style="color: #aaa; background: #fff">Pale words.</p>',
    "a figure has the ground": f'<img alt="A picture on no ground" src="{PIXEL}">',
    "image-alt": '<img src="data:,">',
    "heading-order": "<h1>One</h1><h3>Three</h3>",
    "script error": "<script>throw new Error('broken')</script>",
    "request to another place": '<img alt="A picture from elsewhere" src="https://example.org/a.png">',
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_faulty_page_is_noticed(browser, tmp_path, fault):
    page = tmp_path / "page.html"
    page.write_text(f'<html lang="en"><title>x</title><body><article>{FAULTY[fault]}</article></body></html>', "utf-8")
    visit = Visit(browser, tmp_path.as_uri())
    found = look(visit, page.name, "desk")
    visit.close()
    assert fault in "\n".join(found)


def test_pale_words_are_noticed_by_axe(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<p style="color: #aaa; background: #fff">Pale words.</p>', "utf-8")
    visit = Visit(browser, tmp_path.as_uri())
    found = violations(visit.open(page.name), colours=True)
    visit.close()
    assert "color-contrast" in "\n".join(found)
