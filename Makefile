# `make book` and `make test` do all their own set-up; both may be run again at any time.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
# The folder may have any name: it never enters a recipe, and programs are started as modules because the first line of
# a script cannot hold every path.
OUTSIDE := $(value PATH)
export PATH := $(CURDIR)/$(VENV)/bin:$(OUTSIDE)
export OPENBLAS_NUM_THREADS ?= 1
export PYTHONUTF8 := 1
unexport PYTHONPATH PYTHONHOME

.PHONY: help book pdf site test lint fast bench versions portable audit reference lock lab clean env

help:
	@echo "make book       set up, run every chapter, build the HTML book"
	@echo "make pdf        the book as one typeset file; needs Chromium"
	@echo "make site       the book as a folder ready to publish, with checksums, and packed"
	@echo "make test       set up, run every check"
	@echo "make fast       the tests for the desk: a minute"
	@echo "make bench      timings as ratios to peers, and how cost grows (minutes; the first run installs a peer)"
	@echo "make portable   the chapters under other arithmetic: which cells then print something else (an hour)"
	@echo "make audit      audit every mechanism and every argument in full, and the audits themselves"
	@echo "make versions   the fast tests with the lowest and the newest versions that are allowed (minutes)"
	@echo "make reference  run the chapters and store their outputs as the expected ones"
	@echo "make lab        open the chapters in JupyterLab (installs it first)"
	@echo "make lock       pin requirements.txt anew, and the lowest and newest versions to try"

env lab: export PATH := $(OUTSIDE)
env:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) was not found; Python 3.11 or newer is needed" >&2; exit 1; }
	@$(PYTHON) tools/setup.py $(VENV) requirements.txt

book: env
	@python -c "from jupyter_book.cli.main import main; main()" build . --all -W -n --keep-going || \
		{ echo "The book was not built: the first error above says why." >&2; exit 1; }
	@printf 'The book is at %s\n' "$$PWD/_build/html/index.html"

pdf: book
	@python tools/publish.py pdf

site: book
	@python tools/publish.py site

lint: env
	python -m ruff format --check .
	python -m ruff check .
	python tools/cells.py --check
	python -m mypy

test: env
	@$(MAKE) --no-print-directory -j 2 lint book
	@command -v chromium || command -v chromium-browser || command -v google-chrome || \
		echo "There is no Chromium here: the built pages will not be looked at. On Debian: apt-get install chromium"
	python -m pytest --nbval --kept -rs --cov --cov-fail-under=99 --cov-report=term:skip-covered

fast: env
	python -m pytest -m "not thorough and not slow and not browser"

bench: env
	python -m benchmarks
	python -m benchmarks.growth
	python -m benchmarks.peer

versions: env
	python -m pytest -m slow tests/build/test_versions.py

audit: env
	python -m pytest -m audit tests

portable: env
	python tools/portable.py

reference: env
	python tools/reference.py $(CHAPTERS)

lab: env
	@$(PYTHON) tools/setup.py $(VENV)/lab tools/jupyter/requirements.txt
	@$(VENV)/bin/python tools/lab.py

lock: LOCK = python -m uv pip compile --quiet --no-emit-index-url --no-header --no-annotate --python-version 3.11
lock: TRIED = pyproject.toml tests/versions/tools.in --all-extras --universal --no-build --upgrade
lock: env
	$(LOCK) requirements.in -o requirements.txt
	$(LOCK) $(TRIED) --resolution lowest-direct -o tests/versions/lowest.txt
	$(LOCK) $(TRIED) -o tests/versions/newest.txt

clean:
	rm -rf _build $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
