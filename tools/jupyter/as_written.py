"""Give back a page that JupyterLab saves the form in which it was written.

Jupytext keeps what a header and the options of a cell mean, and writes them its own way: with its version, captions
wrapped, letters escaped. A page that was only opened and run must come back byte for byte, and one that was edited
must differ where it was edited.
"""

import re

import jupytext
import yaml

HEADER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
OPTIONS = re.compile(r"^(```+\{code-cell\}[^\n]*\n)(---\n.*?\n---\n|(?::[^\n]*\n)+\n?)", re.MULTILINE | re.DOTALL)
SIGNATURE = "jupytext_version:"  # what has none comes from an editor, and is what its author wants


def cells(page):
    return [(cell.cell_type, cell.source, cell.metadata) for cell in jupytext.reads(page, fmt="md:myst").cells]


def meaning(options):
    return repr(yaml.safe_load(re.sub(r"^(---$|:)", "", options, flags=re.MULTILINE)))


def as_written(new, old):
    """Return what jupytext made of a page, with the header and the options of cells as in the old text."""
    header, known = HEADER.match(new), HEADER.match(old)
    if not header or SIGNATURE not in header[0]:
        return new
    if cells(new) == cells(old):
        return old
    kept = {meaning(found[2]): found[2] for found in OPTIONS.finditer(old)}
    body = OPTIONS.sub(lambda found: found[1] + kept.get(meaning(found[2]), found[2]), new[header.end() :])
    if not known and "{code-cell}" not in body:  # a page without cells needs no header
        return body.lstrip("\n")
    return (known or header)[0] + body
