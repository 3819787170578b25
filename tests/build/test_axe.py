"""The built pages as axe-core sees them: roles, landmarks, headings, contrast, what a keyboard reaches.

Each page is tried in one of three views in turn; `make audit` tries the other two.
"""

from importlib.resources import files

import pytest

from tests.build.test_browser import DESK, HANGS, HTML, PAGES, PHONE, browser

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
VIEWS = {"desk": (DESK, "light"), "dark": (DESK, "dark"), "phone": (PHONE, "light")}
OPENED = r"""
async () => {
  if (document.querySelector('.math')) await window.MathJax?.startup?.promise;
  for (const fold of document.querySelectorAll('details')) fold.open = true;
  await new Promise((done) => setTimeout(done, 100));
  for (const one of document.getAnimations()) one.finish();  // what fades in has no contrast yet
}
"""
VIOLATIONS = r"""
async () => {
  const found = await axe.run(document, {resultTypes: ['violations']});
  return found.violations.map((one) => `${one.id} (${one.nodes.length}): ${one.nodes[0].html.slice(0, 120)}`);
}
"""
CASES = [
    pytest.param(page, view, marks=[] if k % len(VIEWS) == j else pytest.mark.audit)
    for k, page in enumerate(PAGES)
    for j, view in enumerate(VIEWS)
]

pytestmark = pytest.mark.browser
__all__ = ["browser"]  # the fixture: one browser for all pages of this module, too


@pytest.fixture
def violations(browser):
    """Opens a page in a view; returns what axe-core finds."""
    contexts = []

    def found(url, view="desk"):
        size, mode = VIEWS[view]
        context = browser.new_context(viewport=size, color_scheme="light")
        contexts.append(context)
        context.set_default_timeout(HANGS)
        context.add_init_script(f"localStorage.setItem('mode', '{mode}'); localStorage.setItem('theme', '{mode}')")
        context.add_init_script(AXE)
        tab = context.new_page()
        tab.goto(url, wait_until="load")
        tab.evaluate(OPENED)
        return tab.evaluate(VIOLATIONS)

    yield found
    for context in contexts:
        context.close()


@pytest.mark.parametrize(("page", "view"), CASES)
def test_no_violation(violations, page, view):
    assert violations(f"{HTML.as_uri()}/{page}", view) == []


def test_a_faulty_page_is_noticed(violations, tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<title>x</title><h1>a</h1><img src="data:,"><p style="color:#aaa;background:#fff">Pale words.</p>')
    found = "\n".join(violations(page.as_uri()))
    for rule in ("image-alt", "color-contrast", "html-has-lang", "region"):
        assert rule in found
