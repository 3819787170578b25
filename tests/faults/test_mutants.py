"""The tests tested: each small fault put into a copy of the library must make a fast test fail.

A mutant is a function, what stands in it, what is put there instead, and the tests that should notice. It counts as
killed only if a test fails; a mutant that does not import, or whose text is no longer there, is an error.
"""

import ast
import importlib.util
import pkgutil
import shlex
import shutil
from contextlib import contextmanager
from pathlib import Path

import forks
import pytest

ROOT = Path(__file__).resolve().parents[2]

# The copy has its own settings: no chapters, and a guard that the copy is what is tested.
SETTINGS = """[pytest]
filterwarnings =
    error
    ignore::DeprecationWarning
    ignore::PendingDeprecationWarning
markers =
    slow
    thorough
    browser
    audit
"""
GUARD = """
from pathlib import Path
from hypothesis import Phase, settings
import dpreg, lib
phases = (Phase.explicit, Phase.generate)  # a failure is enough, the smallest one is not looked for
settings.register_profile("same every time", derandomize=True, deadline=None, phases=phases)
settings.load_profile("same every time")
for package in (dpreg, lib):
    assert Path(package.__file__).is_relative_to(Path(__file__).parents[1]), package.__file__
"""

MUTANTS = {
    # sensitivity and price
    "tight sensitivity too small": (
        "dpreg.pipeline.laws.functional",
        "certify(unit, domain, neighbours, loss) if tight",
        "0.9 * certify(unit, domain, neighbours, loss) if tight",
        "test_release.py -k ledger_total",
    ),
    "worst case on the box too small": (
        "dpreg.pipeline.sensitivity.worst_case",
        "largest * (_box_replace(A, domain)",
        "largest * (0.95 * _box_replace(A, domain)",
        "test_laws.py -k exactly",
    ),
    "worst case on the ball too small": (
        "dpreg.pipeline.sensitivity.worst_case",
        "largest * (_ball_replace(A, domain)",
        "largest * (0.95 * _ball_replace(A, domain)",
        "test_laws.py -k exactly",
    ),
    "replacing priced as removing": (
        "dpreg.pipeline.sensitivity.worst_case",
        '(_box_replace(A, domain) if neighbours == "replace" else',
        '(_box_replace(A, domain) if neighbours == "other" else',
        "test_laws.py -k grid",
    ),
    "number of records public to everybody": (
        "dpreg.pipeline.sensitivity.worst_case",
        'if checks.neighbours(neighbours) == "replace" and domain.intercept:',
        "if checks.neighbours(neighbours) and domain.intercept:",
        "test_laws.py -k public",
    ),
    "number of records released without noise": (
        "dpreg.pipeline.laws.functional",
        'public = tight and domain.intercept and neighbours == "replace"',
        "public = tight and domain.intercept",
        "test_laws.py -k public",
    ),
    "off-diagonal price halved": (
        "dpreg.pipeline.laws.Scales.cost",
        "np.triu(inverse)",
        "(np.triu(inverse) + np.diag(np.diag(inverse))) / 2",
        "test_laws.py -k 'grid or hand'",
    ),
    "linear coefficients half price": (
        "dpreg.pipeline.laws.Scales.cost",
        "A[0, 1:] = A[1:, 0] = abs(loss.cross) / 2 / self.v",
        "A[0, 1:] = A[1:, 0] = abs(loss.cross) / 4 / self.v",
        "test_laws.py -k 'grid or hand'",
    ),
    # noise
    "noise scale 5 % too small": (
        "dpreg.noise.laplace",
        ".laplace(size=shape) * b",
        ".laplace(size=shape) * b * 0.95",
        "test_noise.py",
    ),
    "noise one-sided": (
        "dpreg.noise.laplace",
        ".laplace(size=shape) * b",
        ".exponential(size=shape) * b",
        "test_noise.py",
    ),
    "one draw shared": (
        "dpreg.noise.laplace",
        "generator(random_state).laplace(size=shape)",
        "generator(random_state).laplace(size=shape[:-1] + (1,) * len(shape[-1:]))",
        "test_noise.py",
    ),
    "twins drawn apart": (
        "dpreg.noise.symmetric",
        "out[..., rows, columns] = out[..., columns, rows] = drawn",
        "out[..., rows, columns], out[..., columns, rows] = drawn, laplace(upper, drawn.shape, random_state)",
        "test_noise.py -k twins",
    ),
    "twins not the same number": (
        "dpreg.pipeline.laws.Scales.perturb",
        "(objective.M if self.ordered else objective.symmetric) + change",
        "objective.M + change",
        "test_noise.py -k twins",
    ),
    "linear coefficients without noise": (
        "dpreg.pipeline.laws.Scales.perturb",
        "objective.v + noise.laplace(self.v, (*batch, self.p), rng)",
        "objective.v + 0 * noise.laplace(self.v, (*batch, self.p), rng)",
        "test_noise.py -k law",
    ),
    "withheld constant published": (
        "dpreg.pipeline.laws.Scales.perturb",
        "np.zeros(batch) if math.isinf(self.c)",
        "np.broadcast_to(objective.c, batch) if math.isinf(self.c)",
        "test_noise.py -k withheld",
    ),
    "task keys ignored": (
        "dpreg.noise.spawn",
        "spawn_key=(*root.spawn_key, *keys)",
        "spawn_key=root.spawn_key",
        "test_noise.py -k tasks",
    ),
    # accounting
    "budget check reversed": (
        "dpreg.pipeline.budget.Budget._after",
        "if not self._cost(total) <= self._cap",
        "if self._cost(total) <= self._cap",
        "test_budget.py -k budget",
    ),
    "budget check forgiving": (
        "dpreg.pipeline.budget.Budget._after",
        "self._cap * (1 + 1e-12)",
        "self._cap * (1 + 1e-2)",
        "test_budget.py -k forgiveness",
    ),
    "charged after the noise": (
        "dpreg.pipeline.budget.pay",
        "    charge(counting, ledger)",
        "    draw(random_state), charge(counting, ledger)",
        "test_budget.py -k before",
    ),
    "delta of the release alone": (
        "dpreg.pipeline.budget.Budget._after",
        "not total.delta <= self._delta",
        "not new.delta <= self._delta",
        "test_budget.py -k delta",
    ),
    "a seed twice": (
        "dpreg.pipeline.ledger.Ledger.__add__",
        "if self.seeds & other.seeds:",
        "if False:",
        "test_budget.py -k seed",
    ),
    "rho of another epsilon": (
        "dpreg.pipeline.repair.retry",
        "epsilon=2 * spend.epsilon",
        "epsilon=2 * spend.epsilon, zcdp=spend.rho",
        "test_release.py -k repeating",
    ),
    "a live budget copied": (
        "dpreg.pipeline.budget.Budget.__reduce_ex__",
        "raise BudgetError(",
        "return object.__reduce_ex__(self, protocol), (",
        "test_budget.py -k copied",
    ),
    "a budget of another process": (
        "dpreg.pipeline.budget.Budget._after",
        "if os.getpid() != self._process:",
        "if False:",
        "test_budget.py -k forked",
    ),
    "outer budget not charged": (
        "dpreg.pipeline.budget.pay",
        "counting = [*LIVE,",
        "counting = [*LIVE[-1:],",
        "test_budget.py -k inside",
    ),
    "repetition at half price": (
        "dpreg.pipeline.repair.retry",
        "epsilon=2 * spend.epsilon",
        "epsilon=spend.epsilon",
        "test_release.py -k repeating",
    ),
    "leaky bounds unmarked": (
        "dpreg.pipeline.release.price",
        "caveat=domain.caveat",
        'caveat=""',
        "test_release.py -k leaky",
    ),
    "trimmed objective releasable": (
        "dpreg.pipeline.repair.trim",
        ", domain=None)",
        ")",
        "test_objective.py -k released",
    ),
    # records
    "box does not clip": (
        "dpreg.pipeline.domain.Box.clip",
        "np.clip(Z, self.floor, self.reach, out=Z)",
        "pass",
        "test_domain.py -k inside",
    ),
    "response not clipped": (
        "dpreg.pipeline.domain.Domain.scale_block",
        "np.clip(out[:, 0], -1.0, 1.0, out=out[:, 0])",
        "pass",
        "test_domain.py -k inside",
    ),
    "ball clips late": (
        "dpreg.pipeline.domain.Ball.clip",
        "outside = norm > 1",
        "outside = norm > 1.05",
        "test_domain.py -k 'inside or ball'",
    ),
    "intercept column of zeros": (
        "dpreg.pipeline.domain.Domain.scale_block",
        "out[:, 1] = 1.0",
        "out[:, 1] = 0.0",
        "test_domain.py -k inside",
    ),
    "shift added on the way back": (
        "dpreg.pipeline.domain.Domain.unscale",
        "+ constant - slopes @ self.shift",
        "+ constant + slopes @ self.shift",
        "test_domain.py -k mapped",
    ),
    "linear term with the wrong sign": (
        "dpreg.pipeline.objective._coefficients",
        "loss.cross * gram[..., 0, 1:]",
        "-loss.cross * gram[..., 0, 1:]",
        "test_objective.py -k row_by_row",
    ),
    "first row of a fold lost": (
        "dpreg.sweeps.splits.fold_grams",
        "block[edges[fold] : edges[fold + 1]]",
        "block[edges[fold] + 1 : edges[fold + 1]]",
        "test_splits.py -k fold_moments",
    ),
    "trained on the test fold": (
        "dpreg.sweeps.splits.Partition.train",
        "total.M - test.M",
        "total.M",
        "test_splits.py -k training",
    ),
    "error in scaled units": (
        "dpreg.sweeps.scores._squares",
        "domain.half_width**2",
        "domain.half_width",
        "test_scores.py -k scikit",
    ),
    "all methods share their noise": (
        "dpreg.sweeps.methods.method_generator",
        "zlib.crc32(method.name.encode())",
        "zlib.crc32(b'')",
        "test_methods.py -k independent",
    ),
    # repair and solution
    "ridge halved": (
        "dpreg.pipeline.repair.ridge",
        "lift[..., None, None] *",
        "lift[..., None, None] / 2 *",
        "test_experiment.py -k step_by_step",
    ),
    "trimming keeps the linear term": (
        "dpreg.pipeline.repair.trim",
        "v=v + 0.0, domain",
        "v=objective.v + 0.0, domain",
        "test_experiment.py -k 'step_by_step or repairs'",
    ),
    "solution twice as long": (
        "dpreg.pipeline.solve._closed_form",
        "(vectors @ weight[..., None])[..., 0] / 2",
        "(vectors @ weight[..., None])[..., 0]",
        "test_nonprivate.py -k twins",
    ),
    "indefinite quadratics solved": (
        "dpreg.pipeline.solve._refuse_indefinite",
        "bad = lowest < -FLAT * size",
        "bad = lowest < -1e24 * FLAT * size",
        "test_bad_input.py -k minimise",
    ),
    "optimality for a smaller penalty": (
        "dpreg.pipeline.solve._search_signs",
        "weight, slack = l1[todo],",
        "weight, slack = 0.99 * l1[todo],",
        "test_nonprivate.py -k twins",
    ),
    # what the reader sees
    "figures read rounded": (
        "lib.pages.plot._sampled",
        "[(label, float(x[k]), float(y[k])) for k in keep]",
        "[(label, float(x[k]), abs(float(y[k]))) for k in keep]",
        "test_plot.py",
    ),
    "wrong numbers pass the ledger": (
        "lib.pages.claims.check",
        "    if wrong:\n",
        "    if not found:\n",
        "test_claims.py",
    ),
    "attack leaves the domain": (
        "dpreg.audit.search._project",
        "domain.clip(predictors)",
        "pass",
        "test_search.py -k 'pair_is'",
    ),
}


for info in pkgutil.iter_modules([str(Path(__file__).parent)]):  # the rest, one file per module of lib
    if info.name.startswith("mutants_"):
        MUTANTS |= importlib.import_module(info.name).MUTANTS


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The library and its tests in a new folder, one for each worker."""
    root, ignore = tmp_path_factory.mktemp("copy"), shutil.ignore_patterns("reference", ".*", "test_mutants.py")
    for part in ("dpreg", "lib", "tests"):  # with what is compiled
        shutil.copytree(ROOT / part, root / part, ignore=ignore)
    for part in ("data", "book"):  # read, never written
        (root / part).symlink_to(ROOT / part)
    (root / "pytest.ini").write_text(SETTINGS)
    (root / "tests" / "conftest.py").write_text(GUARD)
    return root


@contextmanager
def replaced(path, text):
    """Let a file hold another text for a while; neither text is taken for what was compiled of the other."""
    compiled = Path(importlib.util.cache_from_source(str(path)))
    aside = [(file, file.with_name(f"{file.name}.aside")) for file in (path, compiled) if file.exists()]
    for file, other in aside:
        file.rename(other)
    try:
        path.write_text(text, encoding="utf-8")
        yield
    finally:
        for file, other in aside:
            other.replace(file)


def found(root, place):
    """Return the file of a module, function or method, and its text: before the place, in it, and after it."""
    path, parts = root, place.split(".")
    while path.is_dir():
        path /= parts.pop(0)
        path = path if path.is_dir() else path.with_suffix(".py")
    text = path.read_text(encoding="utf-8")
    lines, node = text.splitlines(keepends=True), ast.parse(text)
    first, last = 1, len(lines)
    for part in parts:
        (node,) = [item for item in node.body if getattr(item, "name", None) == part]
        first, last = min([node.lineno, *(line.lineno for line in node.decorator_list)]), node.end_lineno
    return path, "".join(lines[: first - 1]), "".join(lines[first - 1 : last]), "".join(lines[last:])


@pytest.mark.thorough
@pytest.mark.parametrize("name", MUTANTS)
def test_what_a_mutant_replaces_stands_there_once(name):
    place, old, *_ = MUTANTS[name]
    _, _, text, _ = found(ROOT, place)
    assert text.count(old) == 1, f"{place} no longer holds {old!r} once: write the mutant anew"


# Modules without a fault, and why.
UNHARMED = {
    "dpreg.limits": "sizes; the fuzz meets each",
    "dpreg.audit.declared": "a table; planted.py has faults that it must find",
    "dpreg.audit.statement": "as declared",
    "dpreg.__main__": "one line; it calls the command",
    "dpreg.estimators.nonprivate": "cross-validation by scikit-learn",
    "dpreg.sweeps.experiment": "the sweep; what it calls has them",
    "lib.data.generated_parameters": "constants, compared with their source",
    "lib.data.ipums_labels": "names, compared with the codebook",
    "lib.data.ipums_synthetic": "files for tests",
    "lib.pages.peer": "another environment",
    "lib.pages.report": "how numbers look, which every page shows",
}


def test_every_module_has_faults():
    files = [file for part in ("dpreg", "lib") for file in sorted((ROOT / part).rglob("*.py"))]
    names = {".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files if file.stem != "__init__"}
    harmed = {name for name in names for place, *_ in MUTANTS.values() if place.startswith(f"{name}.")}
    tables = {name for name in names if name.startswith("dpreg.audit.") and name.endswith("_releases")}
    # what mechanisms state of themselves: planted.py has faults that the audit must find
    left = names - harmed - set(UNHARMED) - tables
    assert not left, f"{left} have none: add small faults, in tests/faults/mutants_<module>.py"
    assert harmed & set(UNHARMED) == set(), "these have faults by now"


def chosen():
    """Return what all mutants choose of each file of tests."""
    found = {}
    for *_, tests in MUTANTS.values():
        file, *choice = shlex.split(tests)
        found.setdefault(file, []).extend(choice[1:] or [""])
    return {file: [] if "" in words else ["-k", " or ".join(words)] for file, words in found.items()}


@pytest.mark.parametrize("file", chosen())
def test_what_kills_a_mutant_needs_only_what_is_copied(file):
    (path,) = (ROOT / "tests").rglob(file)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {name.partition(".")[0] for name in names} & {"tools", "benchmarks"}


@pytest.mark.slow
@pytest.mark.parametrize(("file", "choice"), chosen().items(), ids=[*chosen()])
def test_the_sound_copy_passes(file, choice, copy):
    """Otherwise the mutants below would die of something else."""
    code, output = forks.run(copy, [file, *choice])
    assert code == 0, output


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_killed(name, copy):
    place, old, new, tests = MUTANTS[name]
    path, before, text, after = found(copy, place)
    assert text.count(old) == 1, f"{name}: {place} no longer holds {old!r} once: write the mutant anew"
    mutant = before + text.replace(old, new) + after
    compile(mutant, str(path), "exec")
    with replaced(path, mutant):
        code, output = forks.run(copy, shlex.split(tests))
    assert code != 0, f"the mutant survives: {name}"
    assert code == 1, f"{name}: the tests did not run\n{output}"
    assert "ERROR " not in output, f"{name}: an error, not a failure\n{output}"


@pytest.fixture
def small(tmp_path):
    """A library of one module that the tests below put something wrong into."""
    for part in ("dpreg", "lib", "tests"):
        (tmp_path / part).mkdir()
    for part in ("dpreg", "lib"):
        (tmp_path / part / "__init__.py").touch()
    (tmp_path / "dpreg" / "noise.py").write_text("SCALE = 5\n")
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    (tmp_path / "tests" / "conftest.py").write_text(GUARD)
    return lambda text: (
        (tmp_path / "tests" / "test_small.py").write_text(text) and forks.run(tmp_path, ["test_small.py"])
    )


WORKERS = """
from joblib import Parallel, delayed

def scale():
    from dpreg import noise
    return noise.SCALE

def test_workers():
    assert Parallel(2, backend="loky")([delayed(scale)()] * 2) == [5, 5]
"""


@pytest.mark.slow
def test_workers_of_a_run_import_what_it_imports(small):
    code, output = small(WORKERS)
    assert code == 0, output


@pytest.mark.slow
def test_runs_share_nothing(small):
    spoil = "import numpy, sys\n\ndef test_spoil():\n    assert numpy.pi > 3\n    numpy.pi = sys.spoilt = 3\n"
    assert [small(spoil)[0], small(spoil)[0]] == [0, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("def test_it():\n    assert False\n", 1),
        ("import os\n\ndef test_it():\n    os.kill(os.getpid(), 9)\n", -9),
        ("import pytest\n\n@pytest.mark.slow\ndef test_it():\n    assert False\n", 5),
        ("assert False\n", 2),
        ("def test_it(:\n", 2),
    ],
)
def test_only_a_failure_has_the_code_of_one(text, code, small):
    found, output = small(text)
    assert found == code, output


@pytest.mark.slow
def test_a_hang_is_reported(small, monkeypatch):
    monkeypatch.setattr(forks, "HANGS", 3)
    with pytest.raises(pytest.fail.Exception, match="hangs"):
        small("import time\n\ndef test_it():\n    time.sleep(3600)\n")
