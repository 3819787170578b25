"""Open the chapters in JupyterLab; arguments are passed on to it.

JupyterLab has an environment of its own, `.venv/lab`, so that the book's and the tests' keeps to its lock. What it
shows and where it writes is decided here and in `tools/jupyter/`, and not by the caller's Jupyter.
"""

import glob
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = Path(sys.prefix)
LAB = VENV / "lab"
OURS = LAB / "ours"
OPTIONS = [
    "--ServerApp.ip=localhost",
    "--allow-root",  # root is asked for the token too
    f"--ServerApp.root_dir={ROOT / 'book'}",
]


def environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith("JUPYTER") and k not in ("PYTHONPATH", "PYTHONHOME")}
    return env | {
        "PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "JUPYTER_CONFIG_DIR": str(LAB / "config"),
        "JUPYTER_CONFIG_PATH": os.path.join("tools", "jupyter"),  # from ROOT: Jupyter would replace a $HOME in its name
        "JUPYTER_DATA_DIR": str(LAB / "data"),
        "JUPYTER_RUNTIME_DIR": str(LAB / "data" / "runtime"),
        "JUPYTER_PATH": str(OURS),  # before all other places, JupyterLab's own environment included
        "JUPYTER_PREFER_ENV_PATH": "1",
    }


def check_place():
    if glob.escape(str(ROOT)) != str(ROOT):
        sys.exit(f"JupyterLab cannot look for its parts in a folder with one of *?[ in its name: {ROOT}")


def write_kernel():
    """Make the kernel that the chapters name that of the book's environment."""
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3",
        "language": "python",
    }
    file = OURS / "kernels" / "python3" / "kernel.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(spec), encoding="utf-8")


def main(arguments):
    check_place()
    write_kernel()
    os.chdir(ROOT)
    python = LAB / "bin" / "python"
    os.execve(python, [python, "-P", "-m", "jupyterlab", *OPTIONS, *arguments], environment())


if __name__ == "__main__":
    main(sys.argv[1:])
