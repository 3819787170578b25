"""The server of `make lab` and of Binder: pages keep their form, and the book's folder holds the book alone."""

import sys
from pathlib import Path

from jupyter_core.paths import jupyter_data_dir
from jupyter_server.services.contents.filecheckpoints import AsyncFileCheckpoints

sys.path.insert(0, str(Path(__file__).parent))
from as_written import as_written

DATA = Path(jupyter_data_dir())


def keep(model, path, contents_manager, **others):
    file = Path(contents_manager._get_os_path(path))
    if model["type"] == "file" and file.suffix == ".md" and file.exists():
        model["content"] = as_written(model["content"], file.read_text(encoding="utf-8"))


class Checkpoints(AsyncFileCheckpoints):
    """Beside a claim or a data file, a copy would count as one."""

    def checkpoint_path(self, checkpoint_id, path):
        file = DATA / checkpoint_id / path.strip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        return str(file)


c.ContentsManager.checkpoints_class = Checkpoints  # noqa: F821 - Jupyter provides `c`
c.FileContentsManager.pre_save_hook = keep  # noqa: F821
c.LanguageServerManager.virtual_documents_dir = str(DATA / "virtual_documents")  # noqa: F821
