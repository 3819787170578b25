"""`make lab`: a page that was opened, run and saved is the same file, whatever the reader's own Jupyter is set to."""

import json
import os
import runpy
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import jupytext
import nbformat
import pytest
from jupytext.config import load_jupytext_configuration_file, notebook_formats, preferred_format

from tests.build import visits

browser = visits.browser  # a fixture

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
PAGES = sorted(
    path.relative_to(BOOK).as_posix() for path in BOOK.rglob("*.md") if ".ipynb_checkpoints" not in path.parts
)
CHAPTER = "mechanisms/linear.md"
HANGS = 600  # seconds; no test waits as long unless something hangs
CLIENT = f"""
import sys
from jupyter_client.blocking import BlockingKernelClient

client = BlockingKernelClient(connection_file=sys.argv[1])
client.load_connection_file()
client.start_channels(hb=False)  # a busy machine's heart may miss a beat
client.wait_for_ready(timeout={HANGS})
client.execute_interactive("import os, sys; print(sys.prefix, 'PYTHONPATH' in os.environ)", timeout={HANGS})
"""
FOREIGN = {"argv": ["python-of-another", "{connection_file}"], "display_name": "Another", "language": "python"}

as_written = runpy.run_path(str(ROOT / "tools" / "jupyter" / "as_written.py"))["as_written"]
lab = runpy.run_path(str(ROOT / "tools" / "lab.py"))


def run_all(notebook):
    """Change a notebook as JupyterLab does while its cells run and are folded, scrolled and selected."""
    notebook["metadata"]["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
    }
    notebook["metadata"]["language_info"] = {"name": "python", "version": "3.11.7", "pygments_lexer": "ipython3"}
    notebook["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"] |= {"editable": True, "slideshow": {"slide_type": ""}}
        if cell["cell_type"] == "code":
            cell["execution_count"] = number
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "An output.\n"}]
            cell["metadata"] |= {"collapsed": False, "scrolled": True, "jupyter": {"outputs_hidden": True}}
            cell["metadata"] |= {"execution": {"iopub.status.busy": "2026-01-01T00:00:00.000Z"}, "trusted": True}


def saved(text, change=run_all, name=CHAPTER):
    """Do to a page what jupytext's contents manager and our hook do between opening and saving it."""
    config = load_jupytext_configuration_file(str(BOOK / "jupytext.toml"))
    read = jupytext.reads(text, fmt=preferred_format(".md", config.preferred_jupytext_formats_read), config=config)
    notebook = json.loads(json.dumps(read))
    change(notebook)
    (form,) = notebook_formats(notebook, config, name)
    return as_written(jupytext.writes(nbformat.from_dict(notebook), fmt=form, config=config), text)


@pytest.mark.thorough
@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_was_run_is_saved_as_it_was(page):
    text = (BOOK / page).read_bytes().decode()
    assert saved(text, name=page) == text


@pytest.mark.parametrize(("page", "kind"), [(CHAPTER, "code"), (CHAPTER, "markdown"), ("index.md", "markdown")])
def test_an_edit_changes_what_was_edited(page, kind):
    text = (BOOK / page).read_text(encoding="utf-8")
    edited = {}  # from, to

    def edit(notebook):
        run_all(notebook)
        last = [cell for cell in notebook["cells"] if cell["cell_type"] == kind][-1]
        edited["old"], last["source"] = last["source"], last["source"] + "\none_line_more"
        edited["new"] = last["source"]

    assert saved(text, edit, page) == text.replace(edited["old"], edited["new"])


def test_new_options_of_a_cell_are_written():
    def tag(notebook):
        run_all(notebook)
        next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")["metadata"]["tags"] = ["timing"]

    text = (BOOK / CHAPTER).read_text(encoding="utf-8")
    new = saved(text, tag)
    assert new.count(":tags: [timing]\n") == text.count(":tags: [timing]\n") + 1
    assert new.startswith(text[: text.index("\n# ")])


def test_text_from_an_editor_is_left_alone():
    text = (BOOK / CHAPTER).read_text(encoding="utf-8")
    edited = text.replace(":tags: [", ":tags:   [").replace("name: python3", "name:  python3")
    assert edited != text
    assert as_written(edited, text) == edited


def test_the_book_and_the_lab_read_pages_with_the_same_jupytext():
    def pin(path):
        return [line for line in (ROOT / path).read_text().split() if line.startswith("jupytext==")]

    assert pin("requirements.txt") == pin("tools/jupyter/requirements.txt")


def test_settings_of_the_caller_stay_outside(monkeypatch):
    for name in ("JUPYTER_PATH", "JUPYTER_DATA_DIR", "JUPYTER_TOKEN", "JUPYTER_NO_CONFIG", "PYTHONPATH", "PYTHONHOME"):
        monkeypatch.setenv(name, "elsewhere")
    assert "elsewhere" not in lab["environment"]().values()


def test_a_folder_in_which_jupyterlab_finds_nothing(tmp_path):
    odd = tmp_path / "an [odd] name"
    (odd / "tools").mkdir(parents=True)
    shutil.copy(ROOT / "tools" / "lab.py", odd / "tools")
    done = subprocess.run([sys.executable, odd / "tools" / "lab.py"], capture_output=True, encoding="utf-8")
    assert done.returncode == 1
    assert done.stderr.startswith("JupyterLab cannot look for its parts in a folder with one of *?[ in its name")


@pytest.mark.slow
def test_binder_gets_the_same_settings(tmp_path):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    here = {"JUPYTER_CONFIG_DIR": str(tmp_path / "config"), "PIP_TARGET": str(tmp_path / "packages"), "PATH": path}
    subprocess.run(["bash", "postBuild"], cwd=ROOT, env=os.environ | here, check=True)
    assert list(tmp_path.glob("packages/share/jupyter/labextensions/jupyterlab-myst/package.json"))
    for file in (ROOT / "tools" / "jupyter").rglob("*.*"):
        if "__pycache__" not in file.parts:
            copied = tmp_path / "config" / file.relative_to(ROOT / "tools" / "jupyter")
            assert copied.read_bytes() == file.read_bytes()


class Server:
    """The server of `make lab`, on a copy of the book in a folder with an odd name."""

    def __init__(self, root, env, log):
        command = [sys.executable, root / "tools" / "lab.py", "--no-browser"]
        self.root, self.log = root, log
        self.runtime = lab["LAB"] / "data" / "runtime"
        with log.open("wb") as file:
            self.process = subprocess.Popen(command, cwd="/", env=env, stdout=file, stderr=subprocess.STDOUT)

    def __enter__(self):
        file = self.runtime / f"jpserver-{self.process.pid}.json"
        for _ in range(HANGS):
            if self.process.poll() is not None:
                pytest.fail(f"the server ended: {self.log.read_text(errors='replace')}")
            if file.exists() and file.read_text().endswith("}"):
                self.info = json.loads(file.read_text())
                return self
            time.sleep(1)
        self.process.kill()
        return pytest.fail(f"the server hangs: {self.log.read_text(errors='replace')}")

    def __exit__(self, *error):
        self.process.terminate()
        self.process.wait(HANGS)

    def ask(self, path, method="GET", body=None, token=None):
        request = urllib.request.Request(self.info["url"] + path, method=method)
        request.add_header("Authorization", f"token {self.info['token'] if token is None else token}")
        data = None if body is None else json.dumps(body).encode()
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, data, timeout=HANGS) as answer:
            return json.loads(answer.read() or "null")


def files(root):
    return {
        path.relative_to(root): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    place = tmp_path_factory.mktemp("lab")
    made = [sys.executable, ROOT / "tools" / "setup.py", lab["LAB"], "tools/jupyter/requirements.txt"]
    if subprocess.run(made, stdout=subprocess.DEVNULL).returncode:
        why = "JupyterLab could not be installed, for the reason above"
        pytest.fail(why) if os.environ.get("CI") == "true" else pytest.skip(why)
    root = place / """it's (a) "folder" of {} & $HOME""".format(os.fsdecode("œuvres".encode()))
    for name in ("book", "tools"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    (place / "kernels" / "python3").mkdir(parents=True)
    (place / "kernels" / "python3" / "kernel.json").write_text(json.dumps(FOREIGN))
    foreign = {"JUPYTER_PATH": str(place), "JUPYTER_DATA_DIR": str(place), "JUPYTER_TOKEN": "known", "PYTHONPATH": "x"}
    with Server(root, os.environ | foreign, place / "log") as started:
        yield started


@pytest.mark.slow
def test_the_server_asks_for_a_token_and_is_not_on_the_network(server):
    assert server.info["hostname"] == "localhost"
    for token in ("", "known"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            server.ask("api/contents", token=token)


@pytest.mark.slow
def test_chapters_run_in_the_environment_of_the_book(server):
    kernel = server.ask("api/kernels", "POST", {"name": "python3", "path": CHAPTER})
    connection = server.runtime / f"kernel-{kernel['id']}.json"
    done = subprocess.run([sys.executable, "-c", CLIENT, connection], capture_output=True, encoding="utf-8")
    assert done.stdout == f"{sys.prefix} False\n", done.stderr + server.log.read_text(errors="replace")


@pytest.mark.slow
@pytest.mark.browser
def test_theorems_and_formulas_are_set(server, browser):
    """In JupyterLab alone they are code; what only the book has is shown by its name."""
    page = browser.new_page(viewport={"width": 1280, "height": 4000})
    page.goto(f"{server.info['url']}lab/tree/{CHAPTER}?token={server.info['token']}", timeout=visits.HANGS)
    theorem = page.locator(".myst .myst-proof", has=page.locator(".katex")).first
    theorem.wait_for(timeout=visits.HANGS)  # cells are set as they come into view
    assert "Proposition 1" in theorem.inner_text()
    assert not page.locator(".myst .katex-error").count()
    assert not page.get_by_text("Unknown Directive").count()


@pytest.mark.slow
def test_saving_every_page_leaves_the_book_as_it_is(server):
    before = files(server.root)
    for page in PAGES:
        notebook = server.ask(f"api/contents/{page}?type=notebook")["content"]
        run_all(notebook)
        server.ask(f"api/contents/{page}", "PUT", {"type": "notebook", "format": "json", "content": notebook})
        checkpoint = server.ask(f"api/contents/{page}/checkpoints", "POST")
        assert [known["id"] for known in server.ask(f"api/contents/{page}/checkpoints")] == [checkpoint["id"]]
    assert files(server.root) == before
