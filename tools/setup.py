"""Create the virtual environment with the pinned packages, once per lock file; the standard library is enough."""

import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NEEDED_GB = 2.0


def fail(message):
    sys.exit("set-up failed: " + message)


def fingerprint():
    digest = hashlib.sha256(sys.version.encode())
    for name in ("requirements.txt", "pyproject.toml"):
        with open(os.path.join(ROOT, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def main(venv):
    stamp = os.path.join(venv, "ready")
    if os.path.exists(stamp):
        with open(stamp) as file:
            if file.read() == fingerprint():
                return
    free = shutil.disk_usage(ROOT).free / 1e9
    if free < NEEDED_GB:
        fail(f"{free:.1f} GB of disk are free; {NEEDED_GB:.0f} GB are needed")
    print(f"Setting up {venv} (a minute or two, once) ...", flush=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True, cwd=ROOT)
    except subprocess.CalledProcessError:
        fail("python3 -m venv did not work; on Debian install python3-venv")
    pip = [os.path.join(venv, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.run([*pip, "-r", "requirements.txt"], cwd=ROOT).returncode:
        fail("pip could not install requirements.txt; is there a network, and a Python package index behind it?")
    with open(stamp, "w") as file:
        file.write(fingerprint())


if __name__ == "__main__":
    main(sys.argv[1])
