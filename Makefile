# `make demo` and `make test` set up everything themselves in .venv; nothing else on the machine is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
DEMO := $(VENV)/.demo
READY := $(VENV)/.ready

# Compiled files are kept: the processes that tests start, and the next run, read them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test quick lint mutants audit bench commands paper site dist clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(DEMO): pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[cli]'
	touch $(DEMO)

$(READY): pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[dev]'
	touch $(READY) $(DEMO)

demo: $(DEMO)
	$(BIN)/python demo/vertebral.py

test: $(READY) lint
	$(BIN)/python -m pytest -n auto --durations=30 -rsfE

# What a change needs first, within a minute and a half: the design, the distances, the laws through
# every verb, ledgers, plans, records, commands and pages.
QUICK := architecture pipeline/facts statistics/distance domain/domain guarantees/law \
	pipeline/release engines/records engines/edges guarantees/reopened ledger/ledger ledger/journal \
	ledger/composition pipeline/plan guarantees/public_door guarantees/neighbours cli/command \
	report/report report/report_names
quick: $(READY) lint
	$(BIN)/python -m pytest -n auto -m 'not slow' $(QUICK:%=tests/%_test.py)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Breaks one promise after another in a copy of the source, and says which test notices.
mutants: $(READY)
	$(BIN)/python -m tests.mutants

# Attacks every statistic, mechanism and kind of neighbour from the outside, on all cores: about a
# quarter of an hour on two. docs/audit.py writes its figures into docs/review/reviewers.md.
audit: $(READY)
	$(BIN)/duffdp audit --lower-bound --draws 20000

# Ratios against numpy, polars, DuckDB, PostgreSQL and Spark, each measured in one run.
bench: $(READY)
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.engines
	$(BIN)/python -m benchmarks.databases
	$(BIN)/python -m benchmarks.several_quantiles
	$(BIN)/python -m benchmarks.graphs
	$(BIN)/python -m benchmarks.command
	$(BIN)/python -m benchmarks.studio

# All figures of the paper from scratch, and the page docs/explanation/paper.md with every claim beside what was measured.
paper: | $(BIN)/python
	$(PIP) --editable '.[cli,paper]'
	$(BIN)/duffdp paper --out docs/explanation --data demo/vertebral_column.csv

commands: $(READY)
	$(BIN)/python docs/commands.py

# All pages and the reference as a site that loads nothing from elsewhere, in build/site. To search it, serve it:
#     .venv/bin/python -m http.server --directory build/site
site: | $(BIN)/python
	$(PIP) --editable '.[site]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Wheel and sdist, each installed into empty environments and tried from an empty folder.
dist: | $(BIN)/python
	$(BIN)/python tools/dist.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
