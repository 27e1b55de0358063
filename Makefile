# Every target works from a fresh clone: it needs python3 (3.11 or newer) and make, and sets up .venv by itself.
PYTHON ?= python3
DEMO_OUT ?= demo
BENCHMARKS ?= speed scale command files accuracy gibbs coverage calibration power small unequal null_cells published_tables relevance columns effect kernels rff domains independence ksample goodness design
TEST_PROCESSES ?= 2
SLOW ?= slow
# Each test process keeps to one core: threads of the linear algebra that compete for cores slow it down many times over.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
# Modules that are compiled once are not compiled again by every process that a test starts.
PYTEST := $(ONE_THREAD) PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n $(TEST_PROCESSES) --dist worksteal

.PHONY: demo test test-slow test-all lint format docs links bench reproduce dist clean

demo: $(READY)
	@mkdir -p "$(DEMO_OUT)"
	@$(BIN)/twosample demo --out "$(DEMO_OUT)"

test: $(READY)
	$(PYTEST) -m "not slow"

test-slow: $(READY)
	$(PYTEST) -m "$(SLOW)" tests

test-all: test test-slow

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(READY)
	$(BIN)/python -m sphinx -W --keep-going -q -j 2 -b html docs docs/_build/html

links: $(READY)
	$(BIN)/python -m sphinx -q -b linkcheck docs docs/_build/links

bench: $(READY)
	@set -e; for name in $(BENCHMARKS); do \
		echo "== $$name"; \
		$(BIN)/python -m benchmarks.$$name; \
	done

reproduce: $(READY)
	@$(BIN)/python -m experiments run
	@$(BIN)/python -m experiments figures
	@$(BIN)/python -m experiments efficiency
	@$(BIN)/python -m experiments gallery

dist: $(READY)
	$(BIN)/python packaging/man.py
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*

clean:
	rm -rf $(VENV) build dist docs/_build docs/generated .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks experiments -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if v >= (3, 11) else f"twosample needs Python 3.11 or newer; $(PYTHON) is {v[0]}.{v[1]}. Say which to use: make PYTHON=python3.12 ...")'
	@echo "Setting up $(VENV) (once; again when pyproject.toml changes) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[all]" --group dev
	@touch $@
