"""Create a virtual environment with pinned packages, once per lock file; the standard library is enough.

Written so that an old Python can read it, and say that it is too old.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OLDEST = (3, 11)
NEEDED_GB = 2.0
STRAY = ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON")  # lead to other places


def fail(message):
    sys.exit("set-up failed: " + message)


def fingerprint(venv, lock):
    """What the environment depends on: the interpreter, its place on the disk, and the lock."""
    digest = hashlib.sha256(sys.version.encode() + os.fsencode(venv))
    for name in (lock, "pyproject.toml"):
        with open(os.path.join(ROOT, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest().encode()


def is_ready(venv, lock):
    try:
        with open(os.path.join(venv, "ready"), "rb") as file:
            return file.read() == fingerprint(venv, lock) and os.path.exists(os.path.join(venv, "bin", "python"))
    except OSError:
        return False


def run(*command):
    """Run a command without the caller's Python settings, and say whether it worked."""
    env = {name: value for name, value in os.environ.items() if name not in STRAY}
    env["PIP_USER"] = "0"  # a pip.conf may ask for packages in the home directory
    return subprocess.call(command, cwd=ROOT, env=env) == 0


def free_gb():
    return shutil.disk_usage(ROOT).free / 1e9


def check_python():
    if sys.version_info < OLDEST:
        found, oldest = (".".join(map(str, version)) for version in (sys.version_info[:3], OLDEST))
        fail("this is Python {}, and {} or newer is needed: make PYTHON=python3.12 book".format(found, oldest))  # noqa: UP032 - f-strings are newer
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        fail("this Python has no venv module; on Debian and Ubuntu: apt-get install python3-venv")


def check_place():
    if not os.access(ROOT, os.W_OK):
        fail("the folder of the repository cannot be written to")
    if re.search("[?]|%[0-9A-Fa-f]{2}", ROOT):
        fail("a folder with ? or a code such as %20 in its name cannot hold the book: SQLite opens its cache as a URL")
    if free_gb() < NEEDED_GB:
        fail("%.1f GB of disk are free, and %.0f GB are needed" % (free_gb(), NEEDED_GB))  # noqa: UP031 - as above


def main(name, lock):
    check_python()
    venv = os.path.join(ROOT, name)
    if is_ready(venv, lock):
        return
    check_place()
    print("Setting up " + name + " (a minute or two, once) ...")
    sys.stdout.flush()
    if not run(sys.executable, "-m", "venv", "--clear", venv):
        fail("python -m venv did not work, for the reason above")
    python = os.path.join(venv, "bin", "python")
    if not run(python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "-r", lock):
        if free_gb() < 0.1:
            fail("the disk is full")
        fail("pip could not install " + lock + ", for the reason above; it needs a network or a package index")
    with open(os.path.join(venv, "ready"), "wb") as file:
        file.write(fingerprint(venv, lock))


if __name__ == "__main__":
    main(*sys.argv[1:])
