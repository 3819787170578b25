"""The tests tested: each small fault put into a copy of the library must make a fast test fail.

A mutant is a file, what stands there, what is put there instead, and the tests that should notice. It counts as
killed only if a test fails; a mutant that does not import, or whose text is no longer there, is an error.
"""

import importlib.util
import pkgutil
import shlex
import shutil
from pathlib import Path

import forks
import pytest

ROOT = Path(__file__).resolve().parents[1]

# The copy has its own settings: no chapters, and a guard that the copy is what is tested.
SETTINGS = """[pytest]
filterwarnings =
    error
    ignore::DeprecationWarning
    ignore::PendingDeprecationWarning
markers =
    slow
    browser
"""
GUARD = """
from pathlib import Path
from hypothesis import Phase, settings
import lib
phases = (Phase.explicit, Phase.generate)  # a failure is enough, the smallest one is not looked for
settings.register_profile("same every time", derandomize=True, deadline=None, phases=phases)
settings.load_profile("same every time")
assert Path(lib.__file__).is_relative_to(Path(__file__).parents[1]), lib.__file__
"""

MUTANTS = {
    # sensitivity and price
    "tight sensitivity too small": (
        "allocation.py",
        "certify(unit, domain, neighbours, loss) if tight",
        "0.9 * certify(unit, domain, neighbours, loss) if tight",
        "test_release.py -k ledger_total",
    ),
    "worst case on the box too small": (
        "sensitivity.py",
        "largest * (_box_replace(A, domain)",
        "largest * (0.95 * _box_replace(A, domain)",
        "test_allocation.py -k exactly",
    ),
    "worst case on the ball too small": (
        "sensitivity.py",
        "largest * (_ball_replace(A, domain)",
        "largest * (0.95 * _ball_replace(A, domain)",
        "test_allocation.py -k exactly",
    ),
    "replacing priced as removing": (
        "sensitivity.py",
        '(_box_replace(A, domain) if neighbours == "replace" else',
        '(_box_replace(A, domain) if neighbours == "other" else',
        "test_allocation.py -k grid",
    ),
    "number of records public to everybody": (
        "sensitivity.py",
        'if checks.neighbours(neighbours) == "replace" and domain.intercept:',
        "if checks.neighbours(neighbours) and domain.intercept:",
        "test_allocation.py -k public",
    ),
    "number of records released without noise": (
        "allocation.py",
        'public = tight and domain.intercept and neighbours == "replace"',
        "public = tight and domain.intercept",
        "test_allocation.py -k public",
    ),
    "off-diagonal price halved": (
        "allocation.py",
        "np.triu(inverse, 1) / 2",
        "np.triu(inverse, 1) / 4",
        "test_allocation.py -k 'grid or hand'",
    ),
    "linear coefficients half price": (
        "allocation.py",
        "A[0, 1:] = A[1:, 0] = abs(loss.cross) / 2 / self.v",
        "A[0, 1:] = A[1:, 0] = abs(loss.cross) / 4 / self.v",
        "test_allocation.py -k 'grid or hand'",
    ),
    # noise
    "noise scale 5 % too small": (
        "noise.py",
        ".laplace(size=shape) * b",
        ".laplace(size=shape) * b * 0.95",
        "test_noise.py",
    ),
    "noise one-sided": ("noise.py", ".laplace(size=shape) * b", ".exponential(size=shape) * b", "test_noise.py"),
    "one draw shared": (
        "noise.py",
        "generator(random_state).laplace(size=shape)",
        "generator(random_state).laplace(size=shape[:-1] + (1,) * len(shape[-1:]))",
        "test_noise.py",
    ),
    "twins drawn apart": (
        "allocation.py",
        "out[..., upper[1], upper[0]] = drawn",
        "out[..., upper[1], upper[0]] = noise.laplace(scales[..., upper[0], upper[1]], drawn.shape, rng)",
        "test_noise.py -k twins",
    ),
    "twins not the same number": (
        "allocation.py",
        "(objective.M if self.ordered else objective.symmetric) + change",
        "objective.M + change",
        "test_noise.py -k twins",
    ),
    "linear coefficients without noise": (
        "allocation.py",
        "objective.v + noise.laplace(self.v, (*batch, self.p), rng)",
        "objective.v + 0 * noise.laplace(self.v, (*batch, self.p), rng)",
        "test_noise.py -k law",
    ),
    "withheld constant published": (
        "allocation.py",
        "c = np.zeros(batch) if withheld",
        "c = np.broadcast_to(objective.c, batch) if withheld",
        "test_noise.py -k withheld",
    ),
    "task keys ignored": (
        "noise.py",
        "spawn_key=(*root.spawn_key, *keys)",
        "spawn_key=root.spawn_key",
        "test_noise.py -k tasks",
    ),
    # accounting
    "budget check reversed": (
        "release.py",
        "if not total.epsilon <= self.epsilon",
        "if total.epsilon <= self.epsilon",
        "test_release.py -k budget",
    ),
    "budget check forgiving": (
        "release.py",
        "self.epsilon * (1 + 1e-12)",
        "self.epsilon * (1 + 1e-2)",
        "test_release.py -k forgiveness",
    ),
    "charged after the noise": (
        "release.py",
        """        budget.charge(spend, random_state)
    assert objective.domain""",
        """        perturb(objective, scales, rng)
        budget.charge(spend, random_state)
    assert objective.domain""",
        "test_release.py -k before",
    ),
    "repetition at half price": (
        "repair.py",
        "epsilon=2 * once.epsilon",
        "epsilon=once.epsilon",
        "test_release.py -k repeating",
    ),
    "leaky bounds unmarked": (
        "release.py",
        "if domain.leaky else",
        "if not domain.leaky else",
        "test_release.py -k leaky",
    ),
    "trimmed objective releasable": ("repair.py", ", domain=None)", ")", "test_objective.py -k released"),
    # records
    "box does not clip": ("domain.py", "np.clip(Z, self.floor, self.reach, out=Z)", "pass", "test_domain.py -k inside"),
    "response not clipped": (
        "domain.py",
        "np.clip(out[:, 0], -1.0, 1.0, out=out[:, 0])",
        "pass",
        "test_domain.py -k inside",
    ),
    "ball clips late": (
        "domain.py",
        "outside = norm > 1",
        "outside = norm > 1.05",
        "test_domain.py -k 'inside or ball'",
    ),
    "intercept column of zeros": ("domain.py", "out[:, 1] = 1.0", "out[:, 1] = 0.0", "test_domain.py -k inside"),
    "shift added on the way back": (
        "domain.py",
        "+ constant - slopes @ self.shift",
        "+ constant + slopes @ self.shift",
        "test_domain.py -k mapped",
    ),
    "linear term with the wrong sign": (
        "objective.py",
        "loss.cross * gram[..., 0, 1:]",
        "-loss.cross * gram[..., 0, 1:]",
        "test_objective.py -k row_by_row",
    ),
    "first row of a fold lost": (
        "splits.py",
        "block[edges[fold] : edges[fold + 1]]",
        "block[edges[fold] + 1 : edges[fold + 1]]",
        "test_experiment.py -k fold_moments",
    ),
    "trained on the test fold": (
        "splits.py",
        "total.M - test.M",
        "total.M",
        "test_experiment.py -k 'training or scikit'",
    ),
    "error in scaled units": (
        "scores.py",
        "domain.half_width**2",
        "domain.half_width",
        "test_experiment.py -k scikit",
    ),
    "all methods share their noise": (
        "methods.py",
        "zlib.crc32(method.name.encode())",
        "zlib.crc32(b'')",
        "test_experiment.py -k independent",
    ),
    # repair and solution
    "ridge halved": (
        "repair.py",
        "lift[..., None, None] *",
        "lift[..., None, None] / 2 *",
        "test_experiment.py -k step_by_step",
    ),
    "trimming keeps the linear term": (
        "repair.py",
        "v=v + 0.0, domain",
        "v=objective.v + 0.0, domain",
        "test_experiment.py -k 'step_by_step or repairs'",
    ),
    "solution twice as long": (
        "solve.py",
        "(vectors @ weight[..., None])[..., 0] / 2",
        "(vectors @ weight[..., None])[..., 0]",
        "test_nonprivate.py -k twins",
    ),
    "indefinite quadratics solved": (
        "solve.py",
        "bad = lowest < -FLAT * size",
        "bad = lowest < -1e24 * FLAT * size",
        "test_bad_input.py -k minimise",
    ),
    "optimality for a smaller penalty": (
        "solve.py",
        "weight, slack = l1[todo],",
        "weight, slack = 0.99 * l1[todo],",
        "test_nonprivate.py -k twins",
    ),
    # what the reader sees
    "figures read rounded": (
        "plot.py",
        "[(label, float(x[k]), float(y[k])) for k in keep]",
        "[(label, float(x[k]), abs(float(y[k]))) for k in keep]",
        "test_plot.py",
    ),
    "wrong numbers pass the ledger": ("ledger.py", "    if wrong:\n", "    if not found:\n", "test_ledger.py"),
    "attack leaves the domain": ("audit.py", "domain.clip(predictors)", "pass", "test_audit.py -k 'pair_is'"),
}


for info in pkgutil.iter_modules([str(Path(__file__).parent)]):  # the rest, one file per module of lib
    if info.name.startswith("mutants_"):
        MUTANTS |= importlib.import_module(info.name).MUTANTS


@pytest.fixture
def copy(tmp_path):
    """The library and its tests in a new folder."""
    ignore = shutil.ignore_patterns("reference", ".*", "test_mutants.py", "conftest.py")
    for part in ("lib", "tests"):  # with what is compiled
        shutil.copytree(ROOT / part, tmp_path / part, ignore=ignore)
    for part in ("data", "book"):  # read, never written
        (tmp_path / part).symlink_to(ROOT / part)
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    (tmp_path / "tests" / "conftest.py").write_text(GUARD)
    return tmp_path


@pytest.mark.parametrize("name", MUTANTS)
def test_what_a_mutant_replaces_stands_there_once(name):
    file, old, *_ = MUTANTS[name]
    text = (ROOT / "lib" / file).read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file} no longer holds {old!r} once: write the mutant anew"


def chosen():
    """Return what all mutants choose of each file of tests."""
    found = {}
    for *_, tests in MUTANTS.values():
        file, *choice = shlex.split(tests)
        found.setdefault(file, []).extend(choice[1:] or [""])
    return {file: [] if "" in words else ["-k", " or ".join(words)] for file, words in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("file", "choice"), chosen().items(), ids=[*chosen()])
def test_the_sound_copy_passes(file, choice, copy):
    """Otherwise the mutants below would die of something else."""
    code, output = forks.run(copy, [file, *choice])
    assert code == 0, output


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_killed(name, copy):
    file, old, new, tests = MUTANTS[name]
    path = copy / "lib" / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{name}: {file} no longer holds {old!r} once: write the mutant anew"
    path.write_text(text.replace(old, new), encoding="utf-8")
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
    compile(path.read_text(encoding="utf-8"), str(path), "exec")
    code, output = forks.run(copy, shlex.split(tests))
    assert code != 0, f"the mutant survives: {name}"
    assert code == 1, f"{name}: the tests did not run\n{output}"
    assert "ERROR " not in output, f"{name}: an error, not a failure\n{output}"


@pytest.fixture
def small(tmp_path):
    """A library of one module that the tests below put something wrong into."""
    for part in ("lib", "tests"):
        (tmp_path / part).mkdir()
    (tmp_path / "lib" / "__init__.py").touch()
    (tmp_path / "lib" / "noise.py").write_text("SCALE = 5\n")
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    (tmp_path / "tests" / "conftest.py").write_text(GUARD)
    return lambda text: (
        (tmp_path / "tests" / "test_small.py").write_text(text) and forks.run(tmp_path, ["test_small.py"])
    )


WORKERS = """
from joblib import Parallel, delayed

def scale():
    from lib import noise
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
