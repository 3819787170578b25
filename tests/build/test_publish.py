"""The book as a folder to publish; tests/build/test_machinery.py prints a small book."""

import hashlib
import json
import zipfile
from xml.etree import ElementTree

import pytest

from tools import publish

CONFIG = 'title: "A & B"\nhtml:\n  baseurl: "{base}"\n'
PAGES = {"index.html": "go", "book/index.html": "first", "_static/part.html": "none", ".buildinfo": "secret"}


@pytest.fixture
def root(tmp_path):
    made = {f"_build/html/{name}": text for name, text in PAGES.items()}
    made |= {"_config.yml": CONFIG.format(base=""), "LICENSE": "L", "CITATION.cff": "C"}
    made |= {"pyproject.toml": '[project]\nversion = "1.9"\n'}
    for name, text in made.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_folder_has_every_page_under_its_version_and_sums_that_are_right(root):
    place, _ = publish.site(root)
    lines = [line.split("  ") for line in (place / "SHA256SUMS").read_text().splitlines()]
    summed = {name: digest for digest, name in lines}
    assert set(summed) == {
        "index.html",
        "versions.json",
        *(f"1.9/{name}" for name in ("index.html", "book/index.html", "_static/part.html", "LICENSE", "CITATION.cff")),
    }
    for name, digest in summed.items():
        assert hashlib.sha256((place / name).read_bytes()).hexdigest() == digest


def test_older_versions_stay_and_the_newest_is_shown(root):
    publish.site(root)
    (root / "pyproject.toml").write_text('[project]\nversion = "1.10"\n', encoding="utf-8")
    place, _ = publish.site(root)
    assert json.loads((place / "versions.json").read_text()) == {"newest": "1.10", "versions": ["1.9", "1.10"]}
    assert 'url=1.10/index.html"' in (place / "index.html").read_text()
    assert "A &amp; B" in (place / "index.html").read_text()
    assert (place / "1.9" / "book" / "index.html").read_text() == "first"


def test_a_page_that_is_gone_does_not_stay(root):
    place, _ = publish.site(root)
    (root / "_build/html/book/index.html").unlink()
    publish.site(root)
    assert not (place / "1.9/book/index.html").exists()


def test_a_sitemap_comes_with_an_address_and_goes_with_it(root):
    (root / "_config.yml").write_text(CONFIG.format(base="https://example.org/a&b/"), encoding="utf-8")
    place, _ = publish.site(root)
    found = [entry.text for entry in ElementTree.parse(place / "sitemap.xml").findall(".//{*}loc")]
    assert found == [f"https://example.org/a&b/1.9/{page}" for page in ("book/index.html", "index.html")]
    (root / "_config.yml").write_text(CONFIG.format(base=""), encoding="utf-8")
    publish.site(root)
    assert not (place / "sitemap.xml").exists()


def test_one_book_gives_one_archive(root):
    (root / "_build" / "book.pdf").write_bytes(b"%PDF")
    _, packed = publish.site(root)
    first = packed.read_bytes()
    (root / "_build/html/index.html").touch()
    _, packed = publish.site(root)
    assert packed.read_bytes() == first
    assert "book-1.9/book.pdf" in zipfile.ZipFile(packed).namelist()


def test_a_book_that_is_not_built_is_said(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1"\n', encoding="utf-8")
    with pytest.raises(publish.PublishError, match="run make book"):
        publish.site(tmp_path)


def test_a_browser_that_is_not_there_is_said(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(publish.PublishError, match="apt-get install chromium"):
        publish.pdf()
