# `make book` and `make test` do all their own set-up; both may be run again at any time.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
OUTSIDE := $(PATH)
export PATH := $(BIN):$(PATH)
export OPENBLAS_NUM_THREADS ?= 1
unexport PYTHONPATH PYTHONHOME

.PHONY: help book test lint fast bench reference lock lab clean env

help:
	@echo "make book       set up, run every chapter, build the HTML book"
	@echo "make test       set up, run every check"
	@echo "make fast       the tests that take seconds"
	@echo "make bench      timings as ratios to peers, and how cost grows (minutes; the first run installs a peer)"
	@echo "make reference  run the chapters and store their outputs as the expected ones"
	@echo "make lab        open the chapters in JupyterLab (installs it first)"
	@echo "make lock       pin requirements.txt anew, and the lowest and newest versions to try"

env:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) was not found; Python 3.11 or newer is needed" >&2; exit 1; }
	@PATH="$(OUTSIDE)" $(PYTHON) tools/setup.py $(VENV)

book: env
	@jupyter-book build . --all -W -n --keep-going || \
		{ echo "The book was not built: the first error above says why." >&2; exit 1; }
	@echo "The book is at $(CURDIR)/_build/html/index.html"

lint: env
	ruff format --check .
	ruff check .
	python tools/cells.py --check
	mypy

test: lint book
	@command -v chromium || command -v chromium-browser || command -v google-chrome || \
		echo "There is no Chromium here: the built pages will not be looked at. On Debian: apt-get install chromium"
	pytest --nbval -rs --cov --cov-fail-under=95 --cov-report=term:skip-covered

fast: env
	pytest -m "not slow and not browser"

bench: env
	python -m benchmarks
	python -m benchmarks.growth
	python -m benchmarks.peer

reference: env
	python tools/reference.py $(CHAPTERS)

lab: export JUPYTER_CONFIG_DIR := $(CURDIR)/$(VENV)/jupyter
lab: env
	@test -x $(BIN)/jupyter-lab || pip install --quiet jupyterlab==4.6.6 jupytext==1.18.1
	@jupytext-config set-default-viewer markdown
	jupyter lab book

lock: LOCK = uv pip compile --quiet --no-emit-index-url --no-header --no-annotate --python-version 3.11
lock: TRIED = pyproject.toml tests/versions/tools.in --all-extras --universal --no-build --upgrade
lock: env
	$(LOCK) requirements.in -o requirements.txt
	$(LOCK) $(TRIED) --resolution lowest-direct -o tests/versions/lowest.txt
	$(LOCK) $(TRIED) -o tests/versions/newest.txt

clean:
	rm -rf _build $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
