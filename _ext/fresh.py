"""Never show outputs of an older library: what the chapters import is part of the key of every cache."""

import hashlib
from pathlib import Path

INPUTS = ("lib/**/*.py", "data/**/*", "book/verdicts/claims/**/*.yml", "requirements.txt")


def fingerprint(root):
    digest = hashlib.sha256()
    for path in sorted({p for pattern in INPUTS for p in Path(root).glob(pattern) if p.is_file()}):
        digest.update(f"{path.relative_to(root)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def use_fresh_cache(app, config):
    key = fingerprint(app.confdir)
    # Sphinx reads every page again when a value of kind "env" changes, and the outputs come from a cache of this key.
    config.library_fingerprint = key
    config.nb_execution_cache_path = str(Path(app.outdir).parent / ".jupyter_cache" / key)


def setup(app):
    app.add_config_value("library_fingerprint", "", "env")
    app.connect("config-inited", use_fresh_cache, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
