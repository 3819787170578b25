"""Never show outputs of an older library: whatever the chapters read is part of the key of every cache."""

import hashlib
import os
import shutil
import sys
from importlib.metadata import distributions
from pathlib import Path

READ = ("lib/**/*.py", "data/**/*", "book/verdicts/claims/**/*.yml")


def fingerprint(root):
    """A name for the library, the data, the claims, and the Python and packages in use."""
    packages = sorted(f"{package.name}=={package.version}" for package in distributions())
    digest = hashlib.sha256("\n".join([sys.version, *packages]).encode())
    for path in sorted({p for pattern in READ for p in Path(root).glob(pattern) if p.is_file()}):
        if "__pycache__" not in path.parts:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"\n{path.relative_to(root)} {content}".encode())
    if extracts := os.environ.get("CENSUS_EXTRACTS"):  # the user's own data, which may be large: its files and dates
        for path in sorted(Path(root, extracts).glob("*")):
            digest.update(f"\n{path} {path.stat().st_size} {path.stat().st_mtime_ns}".encode())
    return digest.hexdigest()[:16]


def use_fresh_cache(app, config):
    key = fingerprint(app.confdir)
    # Sphinx reads every page again when a value of kind "env" changes, and the outputs come from a cache of this key.
    config.library_fingerprint = key
    cache = Path(app.outdir).parent / ".jupyter_cache"
    config.nb_execution_cache_path = str(cache / key)
    for stale in cache.glob("*"):
        if stale.name != key:
            shutil.rmtree(stale) if stale.is_dir() else stale.unlink()


def setup(app):
    app.add_config_value("library_fingerprint", "", "env")
    app.connect("config-inited", use_fresh_cache, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
