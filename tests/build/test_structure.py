"""The shape of the project: which way imports point, how long things are, and what a docstring says."""

import ast
import graphlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dpreg

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    ".".join(file.relative_to(ROOT).with_suffix("").parts): file
    for package in ("dpreg", "lib")
    for file in sorted((ROOT / package).rglob("*.py"))
}
MODULES = {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in FILES.items()}

# What the modules of a room may import, besides each other.
GROUND = {"dpreg.checks", "dpreg.arguments", "dpreg.limits", "dpreg.noise", "dpreg.accounting"}
ROOMS = {
    "dpreg": set(),
    "dpreg.pipeline": {"dpreg"},
    "dpreg.mechanisms": {"dpreg", "dpreg.pipeline"},
    "dpreg.attacks": {"dpreg", "dpreg.pipeline", "dpreg.mechanisms"},
    "dpreg.sweeps": {"dpreg", "dpreg.pipeline", "dpreg.mechanisms"},
    "dpreg.estimators": {"dpreg", "dpreg.pipeline", "dpreg.mechanisms"},
    "dpreg.audit": {"dpreg", "dpreg.pipeline", "dpreg.mechanisms", "dpreg.estimators"},
}
ROOMS |= {
    "lib.data": set(ROOMS),
    "lib.papers": {*ROOMS, "lib.data"},
    "lib.pages": set(ROOMS),
}

FACES = {"dpreg.__init__", "dpreg.__main__", "dpreg.audit.__init__"}  # what they show is imported when asked for

MODULE_LINES = 200  # of code: what is not blank, comment or docstring
FUNCTION_LINES = 40
PARAMETERS_SECTION = 4  # from so many on; fewer may be named in the prose
SAYS_WHAT_COMES_BACK = ("See `", "Return", "Draw", "Add", "Drop", "Release", "Search", "Read", "Take", "Yield")
MEGABYTES = 5

NO_EXAMPLE = {
    "scores.Fit": "inner step of sweep",
    "scores.scored": "inner step of sweep",
    "moment_noise.MomentNoise": "abstract: its laws have examples",
    "laws.Law": "abstract: Scales has an example",
    "search.Pair": "what worst_pair returns",
    "findings.Finding": "what an audit returns",
    "findings.Report": "what an audit returns",
    "statement.Setting": "declared.settings yields them",
    "statement.Step": "sensitivity_search.worst shows it",
    "statement.Sample": "noise_law.p_values shows it",
    "statement.Declared": "quadratic.quadratic makes one",
    "quadratic.Noise": "quadratic.after_mean shows one",
    "reweighted.MomentKind": "reweighted.reweighted takes two",
    "outcomes.Outcome": "what observe returns",
    "outcomes.Table": "what table returns",
    "statistics.Statistic": "candidates shows it",
    "generated_income.income": "inner step of generated_people.people",
    "checks": "one-line checks, seen at work in every error",
    "limits": "one-line checks, seen at work in every error",
    "datasets.Dataset": "what the loaders return",
    "datasets.verified": "needs a file; wine shows it",
    "domain.Domain": "abstract: Box and Ball have examples",
    "splits.CrossValidation": "three numbers",
    "splits.Holdout": "two numbers; sweep shows it",
    "splits.Partition": "inner step of sweep",
    "splits.draw": "inner step of sweep",
    "methods.Method": "what functional_mechanism returns",
    "methods.RowMethod": "rivals has examples",
    "methods.fitted": "inner step of sweep and of measures.measured",
    "methods.check_methods": "inner step of sweep",
    "logistic.records": "inner step of fit",
    "objective.check_labels": "inner step of logistic",
    "experiment.no_privacy": "sweep shows it",
    "splits.fold_moments": "inner step of sweep",
    "ipums_files": "inner steps of ipums.heads",
    "ipums_labels.Reading": "ipums.heads uses it",
    "irls.Fit": "what irls returns",
    "irls_laws.MomentLaw": "abstract: Laplace has an example",
    "irls_laws.VectorLaw": "abstract: Laplace has an example",
    "irls_laws.WishartLaw": "abstract: Wishart has an example",
    "histogram.Cells": "abstract: dpme and filter_priority have examples",
    "histogram.NoisyGrid": "what dpme returns",
    "histogram.spent": "inner step of dpme and filter_priority",
    "claims": "the ledger's chapter shows it",
    "verdicts": "pages of the book",
    "noise.seed_sequence": "generator and spawn show it",
    "objective.from_gram": "linear shows it",
    "plot.style": "curves and bands use it",
    "plot.bands": "the chapters show it",
    "plot.curves": "drawn shows it",
    "peer": "needs an environment of its own; the chapter on audits shows it",
    "park_welling.absolute": "a measure for measures.measured",
    "ledger.Spend": "Ledger shows it",
    "release.Release": "what release returns",
    "release.price": "release shows it",
    "repair.deviations": "ridge uses it",
    "filter_priority.Summary": "what filter_priority returns",
    "budget_split.Relevance": "what privr returns",
    "irls_moments.Sensitivities": "what sensitivities returns",
}
NO_PARAMETERS = {
    "splits.fold_moments": "its first line names all four",
    "splits.draw": "those of Partition and sweep",
    "domain.Box.from_data": "records and switches, as in Box",
}


def imports(tree):
    """What a module imports, wherever the statement stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def inside(tree):
    """The modules of this project that a module imports."""
    for name in imports(tree):
        parts = name.split(".")
        found = [".".join(parts[:k]) for k in range(len(parts), 0, -1) if ".".join(parts[:k]) in MODULES]
        if found:
            yield found[0]
        elif parts[0] in ("dpreg", "lib"):
            raise AssertionError(f"{name} is no module; modules do not import each other through the face")


def room(name):
    return name.rpartition(".")[0]


RULED = [name for name in MODULES if not name.endswith("__init__") and name not in FACES]


def test_every_module_has_its_room():
    assert {room(name) for name in RULED} == set(ROOMS), "say in ROOMS what the modules of a new room may import"
    assert {name for name in RULED if room(name) == "dpreg"} == GROUND
    for name in MODULES:
        if name.endswith("__init__") and name not in FACES:
            assert not list(imports(MODULES[name])), name


def test_the_face_shows_what_it_names():
    places = {name for names in dpreg.PLACES.values() for name in names}
    assert sorted(places) == sorted(dpreg.__all__)
    for name in dpreg.__all__:
        assert getattr(dpreg, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Cube'"):
        _ = dpreg.Cube


@pytest.mark.parametrize("name", RULED)
def test_imports_point_one_way(name):
    """Ground, pipeline, mechanisms; attacks, sweeps, estimators side by side; audits; then lib; then the book."""
    for imported in inside(MODULES[name]):
        assert room(imported) in ROOMS[room(name)] | {room(name)}, (
            f"{name} imports {imported}: move it to a room that may, or pass in what it needs"
        )


@pytest.mark.parametrize("name", RULED)
def test_every_module_has_its_tests(name):
    """In the room of its package, in a file of its name: who changes a module knows where to look."""
    package, _, module = name.rpartition(".")
    place = (
        ROOT / "tests" / {"dpreg": "engine", "lib": "lib"}[package.partition(".")[0]] / f"test_{module.strip('_')}.py"
    )
    assert place.is_file(), f"{name} has no tests: write {place.relative_to(ROOT)}"


def test_there_are_no_cycles():
    graph = {name: set(inside(MODULES[name])) for name in RULED}
    assert set(graphlib.TopologicalSorter(graph).static_order()) >= set(RULED)


@pytest.mark.parametrize("name", MODULES)
def test_the_library_needs_neither_book_nor_tests(name):
    tops = {module.split(".")[0] for module in imports(MODULES[name])}
    assert not tops & {"book", "tests", "tools", "benchmarks", "conftest", "pytest", "hypothesis", "IPython", "random"}


@pytest.mark.thorough
def test_a_release_loads_no_solver_and_no_plots():
    """Whoever only releases should not wait for CVXPY, scikit-learn and matplotlib."""
    code = "import sys, dpreg.pipeline.release; print(*{'cvxpy', 'sklearn', 'matplotlib', 'joblib'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def documented(tree, prefix):
    """Public functions, classes and methods with their syntax trees."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield f"{prefix}.{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from documented(node, f"{prefix}.{node.name}")


PUBLIC = {
    name: node
    for module, tree in MODULES.items()
    if not module.endswith("__init__")
    for name, node in documented(tree, module.rpartition(".")[2])
}
STEMS = {module.rpartition(".")[2] for module in MODULES}


def arguments(node):
    a = node.args
    names = [arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    return [name for name in names if name not in ("self", "cls")]


def fields(node, stem):
    """What a dataclass or a class takes: the arguments of its __init__, else its fields and those of its bases."""
    made = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
    if made:
        return arguments(made[0])
    own = [item for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)]
    own = [item for item in own if "ClassVar" not in ast.unparse(item.annotation)]
    bases = [PUBLIC[name] for base in node.bases if (name := f"{stem}.{ast.unparse(base)}") in PUBLIC]
    inherited = [field for base in bases for field in fields(base, stem)]
    own = [item.target.id for item in own if "init=False" not in ast.unparse(item.value or ast.Constant(0))]
    return [*inherited, *(field for field in own if field not in inherited)]


def section(doc, title):
    """The lines of one numpydoc section that stand at its left edge."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", doc, re.M | re.S)
    return None if found is None else [line for line in found[1].splitlines() if re.match(r"\S", line)]


@pytest.mark.parametrize("name", PUBLIC)
def test_docstring(name):
    node = PUBLIC[name]
    doc = ast.get_docstring(node)
    assert doc, "it has no docstring"
    first = doc.split("\n\n")[0]
    assert first.rstrip(")").endswith((".", ":")), "its first paragraph is not a sentence"
    if isinstance(node, ast.FunctionDef):
        takes, back = arguments(node), ast.unparse(node.returns)
        if any("property" in ast.unparse(d) for d in node.decorator_list):
            return
        needs = len(takes) >= PARAMETERS_SECTION and name not in NO_PARAMETERS
        says = section(doc, "Returns") or first.startswith(SAYS_WHAT_COMES_BACK) or back == "None"
        assert says, "it does not say what it returns"
    else:
        takes, needs = fields(node, name.partition(".")[0]), False
    listed = section(doc, "Parameters")
    assert not (needs and listed is None), f"it takes {len(takes)} arguments and has no Parameters section"
    if listed is not None:
        named = [word.strip() for line in listed for word in line.split(" : ")[0].split(",")]
        optional = {"ledger", "leaky"}  # filled in by the library
        assert set(named) <= set(takes), "it describes parameters that do not exist"
        assert set(takes) - optional <= set(named), "it leaves parameters out"


@pytest.mark.parametrize("name", [name for name in PUBLIC if name.count(".") == 1])
def test_example(name):
    doc = ast.get_docstring(PUBLIC[name]) or ""
    reason = NO_EXAMPLE.get(name) or NO_EXAMPLE.get(name.split(".")[0])
    if reason is None:
        assert section(doc, "Examples"), "add an example, or say in NO_EXAMPLE why there is none"
        assert ">>>" in doc


def test_no_reason_is_left_over():
    for reasons in (NO_EXAMPLE, NO_PARAMETERS):
        for name in reasons:
            assert name in PUBLIC or name in STEMS
            assert reasons[name]
    for name in set(NO_EXAMPLE) & set(PUBLIC):
        assert section(ast.get_docstring(PUBLIC[name]), "Examples") is None, f"{name} has an example by now"


def code_lines(node, text):
    """Lines of a piece of code that are not blank, comment or docstring."""
    lines = text.splitlines()
    start, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", len(lines))
    skip = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(part, clean=False):
            skip |= set(range(part.body[0].lineno, part.body[0].end_lineno + 1))
    kept = [k for k in range(start, end + 1) if k not in skip]
    return sum(1 for k in kept if lines[k - 1].strip() and not lines[k - 1].strip().startswith("#"))


@pytest.mark.parametrize("name", MODULES)
def test_modules_and_functions_can_be_read_in_one_go(name):
    text = FILES[name].read_text(encoding="utf-8")
    assert code_lines(MODULES[name], text) <= MODULE_LINES, f"divide the module: more than {MODULE_LINES} lines of code"
    for node in ast.walk(MODULES[name]):
        if isinstance(node, ast.FunctionDef):
            assert code_lines(node, text) <= FUNCTION_LINES, (
                f"divide {node.name}: more than {FUNCTION_LINES} lines of code"
            )


def dotted(node):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([*([node.id] if isinstance(node, ast.Name) else []), *reversed(parts)])


CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```", re.M | re.S)


def code_of(file):
    text = file.read_text(encoding="utf-8")
    return text if file.suffix == ".py" else "\n".join(CELL.findall(text))


@pytest.mark.parametrize("folder", ["dpreg", "lib", "benchmarks", "tools", "book"])
def test_random_numbers_come_from_generators(folder):
    """Numpy's module functions share one hidden state; a result that uses them depends on what ran before."""
    allowed = {"default_rng", "SeedSequence", "Generator"}
    used = re.compile(r"\b(?:np|numpy)\.random\.(\w+)")
    for file in [*(ROOT / folder).rglob("*.py"), *(ROOT / folder).rglob("*.md")]:
        code = code_of(file)
        assert set(used.findall(code)) <= allowed, file.name
        assert not re.search(
            r"^\s*(import random|from random|from numpy\.random|from numpy import random)\b", code, re.M
        )


def tracked():
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    files = [ROOT / name for name in listed.decode().split("\0") if name]
    return [file for file in files if file.is_file()]


def test_no_tracked_file_is_large():
    for file in tracked():
        assert file.stat().st_size <= MEGABYTES * 1e6, file.name


def test_tracked_text_knows_no_machine():
    """Paths of one computer have no place in the repository."""
    path = re.compile(rb"(?<![\w.:/])/(?:home|root|Users|work|mnt)/\w")
    for file in tracked():
        if file.suffix in {".py", ".md", ".yml", ".ipynb", ".toml", ".txt", ".css"} and file != Path(__file__):
            assert not path.search(file.read_bytes()), file.name
