"""Other forms of the book that `make book` has built: one typeset file, and a folder ready to publish.

`make pdf` prints all pages, joined to one, with a browser: the fonts, formulas and figures are those of the pages.
`make site` adds the book to `_build/site` under its version, beside versions that are there already; with checksums, a
sitemap once `html: baseurl` in `_config.yml` says where it is published, and an archive for a repository of research.
"""

import argparse
import contextlib
import hashlib
import html
import json
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import yaml
from packaging.version import Version
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "_build"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PATIENCE = 1_800_000  # milliseconds: a limit for what hangs
MARGINS = {"top": "18mm", "bottom": "18mm", "left": "15mm", "right": "15mm"}
NUMBER = '<div style="font-size:8px;width:100%;text-align:center"><span class="pageNumber"></span></div>'
FIRST = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title><meta http-equiv="refresh" content="0; url={page}"></head>
<body><p><a href="{page}">{title}</a></p></body>
</html>
"""
OLDEST = (1980, 1, 1, 0, 0, 0)  # the date of every file in an archive, so that one book gives one archive

# Nothing is folded on paper. What links to a page of the book links to its place in the file; the rest stays.
PREPARE = r"""
async () => {
  for (const fold of document.querySelectorAll('details')) fold.open = true;
  for (const fold of document.querySelectorAll('.toggle-hidden')) fold.classList.remove('toggle-hidden');
  for (const image of document.images) image.loading = 'eager';
  for (const link of document.querySelectorAll('a[href]')) {
    if (!link.href.startsWith('file:')) continue;
    const name = decodeURIComponent(new URL(link.href).hash.slice(1));
    const page = new URL(link.href).pathname.match(/(book\/.*)\.html$/);
    const target = [name, page && `document-${page[1]}`].find((id) => id && document.getElementById(id));
    if (target) link.setAttribute('href', '#' + target);
    else link.removeAttribute('href');
  }
  await MathJax.startup.promise;
  await new Promise((done) => setTimeout(done, 100));
  for (const one of document.getAnimations()) one.finish();  // what fades in would be printed half, or not at all
  const broken = await Promise.all([...document.images].map((i) => i.decode().then(() => '', () => i.src)));
  return broken.filter(Boolean);
}
"""


class PublishError(Exception):
    """The book could not be published; the message says what to do."""


def version(root=ROOT):
    """Return the version of the library, which is the book's."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def chromium():
    """Return the path of the browser that prints the pages, and in which the tests open them; or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def one_page(root=ROOT):
    """Build the book as one page; return its path."""
    options = ["--builder", "custom", "--custom-builder", "singlehtml", "--keep-going"]
    call = "from jupyter_book.cli.main import main; main()"
    if subprocess.run([sys.executable, "-c", call, "build", ".", "--all", *options], cwd=root).returncode:
        raise PublishError("the book could not be built as one page: the first error above says why")
    built = root / "_build" / "singlehtml"
    start = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))["root"]
    return (built / f"{start}.html").rename(built / "whole.html")  # its links begin where this one lies


def pdf(root=ROOT):
    """Print the book; return the path of the file."""
    if not (browser := chromium()):
        raise PublishError("a browser prints the book, and there is none: on Debian, apt-get install chromium")
    page, path = one_page(root), root / "_build" / "book.pdf"
    with (
        sync_playwright() as playwright,
        contextlib.closing(playwright.chromium.launch(executable_path=browser, args=FLAGS)) as opened,
    ):
        tab = opened.new_page()
        tab.set_default_timeout(PATIENCE)
        tab.goto(page.as_uri())
        if broken := tab.evaluate(PREPARE):
            raise PublishError(f"pictures that cannot be drawn: {broken}")
        tab.pdf(
            path=path,
            format="A4",
            margin=MARGINS,
            outline=True,
            tagged=True,
            print_background=True,
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=NUMBER,
        )
    return path


def digest(path):
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files(folder):
    """Return all files below a folder, in the order of their names."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def sitemap(base, pages):
    """Return a sitemap of pages, given below the address of the book."""
    lines = [f"  <url><loc>{html.escape(base.rstrip('/') + '/' + page)}</loc></url>" for page in pages]
    head = '<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return "\n".join([head, *lines, "</urlset>", ""])


def archive(folder, path, top):
    """Pack a folder so that the same files give the same archive; its name in there is `top`."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in files(folder):
            entry = zipfile.ZipInfo(f"{top}/{file.relative_to(folder).as_posix()}", OLDEST)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            packed.writestr(entry, file.read_bytes())


def site(root=ROOT):
    """Add the built book to the folder to publish; return that folder and the archive."""
    built, place, name = root / "_build" / "html", root / "_build" / "site", version(root)
    if not (built / "index.html").exists():
        raise PublishError("the book is not built: run make book")
    shutil.rmtree(place / name, ignore_errors=True)
    shutil.copytree(built, place / name, ignore=shutil.ignore_patterns(".buildinfo", ".doctrees"))
    for paper in ("LICENSE", "CITATION.cff"):
        shutil.copyfile(root / paper, place / name / paper)
    if (printed := root / "_build" / "book.pdf").exists():
        shutil.copyfile(printed, place / name / "book.pdf")
    versions = sorted((path.parent.name for path in place.glob("*/index.html")), key=Version)
    newest = versions[-1]
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    first = FIRST.format(title=html.escape(config["title"]), page=f"{newest}/index.html")
    (place / "index.html").write_text(first, encoding="utf-8")
    (place / "versions.json").write_text(json.dumps({"newest": newest, "versions": versions}) + "\n", encoding="utf-8")
    (place / "sitemap.xml").unlink(missing_ok=True)
    if base := config["html"].get("baseurl"):
        pages = [path.relative_to(place).as_posix() for path in files(place / newest) if path.suffix == ".html"]
        text = sitemap(base, [page for page in pages if "_static" not in page])
        (place / "sitemap.xml").write_text(text, encoding="utf-8")
    sums = place / "SHA256SUMS"
    sums.unlink(missing_ok=True)
    lines = [f"{digest(path)}  {path.relative_to(place).as_posix()}\n" for path in files(place)]
    sums.write_text("".join(lines), encoding="utf-8")
    packed = root / "_build" / f"book-{name}.zip"
    archive(place / name, packed, f"book-{name}")
    return place, packed


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("form", choices=("pdf", "site"))
    try:
        if parser.parse_args().form == "pdf":
            print("The book is printed in", pdf())
        else:
            place, packed = site()
            print(f"The site is in {place}, and packed in {packed}")
    except PublishError as error:
        sys.exit(f"not published: {error}")


if __name__ == "__main__":
    main()
