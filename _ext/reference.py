"""Make the API reference from the docstrings of the engine, with links to it from the chapters, and back.

Docstrings are plain text with names in single backticks. Whatever reStructuredText would read into the rest is escaped.
A name that the engine has becomes a link, in docstrings and in the text of chapters. Each chapter ends with the
functions it calls, and each function names the chapters that call it.
"""

import ast
import inspect
import re
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.transforms.post_transforms import SphinxPostTransform

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools import chapters

ROOT = chapters.ROOT
PAGES = "book/reference/"
SECTIONS = Config(  # types stand as they are written: they are not names
    napoleon_use_param=False,
    napoleon_use_rtype=False,
    napoleon_custom_sections=[("Attributes", "params_style")],
)
MARKUP = re.compile(r"(`[^`]*`)|([*|\\]|(?<=\w)_(?!\w))")


@cache
def modules():
    """Return the syntax trees of the engine's modules, by name."""
    files = sorted((ROOT / "dpreg").rglob("*.py"))
    named = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in files}
    return {name.removesuffix(".__init__"): ast.parse(file.read_text(encoding="utf-8")) for name, file in named.items()}


def defined(body, prefix):
    """Yield the public functions, classes and methods of a module, as `prefix.name`."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield f"{prefix}.{node.name}"
            if isinstance(node, ast.ClassDef):
                yield from defined(node.body, f"{prefix}.{node.name}")


@cache
def names():
    """Return what each name stands for that is short and means one thing: `release.release`, `Box.clip`, `trim`."""
    found = defaultdict(set)
    for module, tree in modules().items():
        for full in defined(tree.body, module):
            parts = full.split(".")
            shortest = 2 if full.removeprefix(f"{module}.").count(".") else 1  # a method is named with its class
            for k in range(len(parts) + 1 - shortest):
                found[".".join(parts[k:])].add(full)
    for module in modules():  # its bare name means the module, or the function it is called after
        stem = module.rpartition(".")[2]
        if found.get(stem, set()) != {f"{module}.{stem}"}:
            found.pop(stem, None)
    return {short: full for short, (full, *others) in found.items() if not others}


def imported(tree):
    """Return what the imported names of a chapter stand for."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dpreg":
            found.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return found


@cache
def called():
    """Return, for each chapter, the full names of what it uses of the engine."""
    known = set(names().values())
    found = {}
    for page in chapters.chapters():
        trees = [ast.parse(cell.source) for cell in chapters.read(page).cells]
        stands = {name: full for tree in trees for name, full in imported(tree).items()}
        used = {stands[node.id] for tree in trees for node in ast.walk(tree) if getattr(node, "id", None) in stands}
        used |= {
            f"{stands[node.value.id]}.{node.attr}"
            for tree in trees
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in stands
        }
        found[page.relative_to(ROOT).with_suffix("").as_posix()] = sorted(used & known)
    return found


def link(full, text, docname):
    """Return a link to an entry of the reference; the build fails if it is not there."""
    reference = addnodes.pending_xref(
        reftype="obj", refdomain="py", reftarget=full, refdoc=docname, refwarn=True, refexplicit=True
    )
    reference += nodes.literal(text=text, classes=["api"])
    return reference


def name_role(name, rawtext, text, lineno, inliner, options=None, content=None):
    full = names().get(text)
    docname = inliner.document.settings.env.docname
    return [link(full, text, docname) if full else nodes.literal(text=text)], []


def escaped(line):
    """Return a line of plain text as reStructuredText; napoleon escapes the names of parameters itself."""
    *_, rest = re.split(r"^\s*\* |^\s*\w+(?:, \w+)*(?: : |$)", line, maxsplit=1)  # an item, or a parameter
    return line.removesuffix(rest) + MARKUP.sub(lambda found: found[1] or f"\\{found[2]}", rest)


def plain(app, what, name, obj, options, lines):
    """Make reStructuredText of a docstring, and name the chapters that call what it describes."""
    example = False
    for k, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example and not re.fullmatch(r"\s*-{3,}", line):
            lines[k] = escaped(line)
    if what != "property":  # napoleon would take what stands before a colon for its type
        lines[:] = NumpyDocstring(lines, SECTIONS, app, what, name, obj, options).lines()
    places = [page for page, used in called().items() if name in used]
    if places:
        lines += ["", "Called in " + ", ".join(f":doc:`/{page}`" for page in places) + ".", ""]


def foreign(app, what, name, obj, skip, options):
    """Leave out the methods that scikit-learn makes."""
    return True if inspect.isfunction(obj) and not obj.__module__.startswith("dpreg") else None


def listed(app, docname, source):
    """Let a chapter end with what it calls."""
    used = called().get(docname)
    if used:
        entries = ", ".join(f"{{py:obj}}`{full.removeprefix('dpreg.')} <{full}>`" for full in used)
        box = "\n\n:::{{admonition}} The engine's functions on this page\n:class: dropdown tip\n{}\n:::\n"
        source[0] += box.format(entries)


class Links(SphinxPostTransform):
    """Makes links of names in the text of chapters."""

    default_priority = 5  # before references are resolved

    def run(self, **kwargs):
        for node in list(self.document.findall(nodes.literal)):
            full = names().get(node.astext())
            if full and not isinstance(node.parent, nodes.reference | addnodes.pending_xref):
                node.replace_self(link(full, node.astext(), self.env.docname))


def outdated(app, env, added, changed, removed):
    """The pages of the reference depend on all chapters, and on the engine."""
    return [name for name in env.found_docs if name.startswith(PAGES)]


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")
    app.add_role("engine", name_role)
    app.connect("autodoc-process-docstring", plain)
    app.connect("autodoc-skip-member", foreign)
    app.connect("source-read", listed)
    app.connect("env-get-outdated", outdated)
    app.add_post_transform(Links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
