# Every target sets up what it needs; only make and Python 3.11 or newer are required.

PYTHON ?= python3
VENV ?= .venv
WORKERS ?= 2
BIN := $(VENV)/bin
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# Compiling is most of the time of the tests; programs that are less optimised compile faster.
QUICK_TO_COMPILE = JAX_DISABLE_MOST_OPTIMIZATIONS=1 XLA_FLAGS=--xla_cpu_parallel_codegen_split_count=1
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/.ready-docs

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all browser faults lock audit lint bench docs pictures clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## create .venv and install the package with its development tools

demo: $(READY) ## show the problem and what works, on the CPU, in three minutes
	$(BIN)/python examples/demo/demo.py

test: $(READY) ## run the tests that are not slow (WORKERS=2 processes; PYTEST_FLAGS adds options)
	$(QUICK_TO_COMPILE) $(PYTEST) -m 'not slow' $(PYTEST_FLAGS)

test-all: $(READY) browser ## run all tests: also smoke grid, cluster, faults, fuzz, browser, documentation
	$(PYTEST) $(PYTEST_FLAGS)

browser: ## install Chromium for the tests of pages, if it is missing and can be installed
	@bash tests/browser/install.sh

faults: $(READY) ## inject hundreds of faults and thousands of bad inputs; write their tables
	PYTHONPATH=tests $(BIN)/python -m faults --out results/faults.json $(FAULTS_FLAGS)
	FUZZ_OUT=$(CURDIR)/results/fuzz.json HYPOTHESIS_PROFILE=thorough \
	  $(BIN)/python -m pytest tests/bad_input
	PYTHONPATH=tests $(BIN)/python -m bad_input.guided --out results/fuzz-guided.json

lock: $(READY) ## write requirements-dev.lock, the versions that development uses
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9'
	$(BIN)/python -m uv pip compile pyproject.toml --extra dev --extra docs --universal \
	  --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet \
	  --no-annotate --output-file requirements-dev.lock

audit: $(READY) ## check the locked packages for vulnerabilities; write the page of licences
	$(BIN)/python docs/make_licences.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(BIN)/python -m pip_audit --requirement requirements-dev.lock --disable-pip --strict \
	  --progress-spinner off

lint: $(READY) ## run ruff (rules and format) and pyright
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(READY) ## measure speed and compare with other libraries (BENCH_FLAGS adds options)
	$(BIN)/python benchmarks/peers/environments.py clrs pyg
	mkdir -p runs/benchmarks
	$(BIN)/algotransfer bench --out runs/benchmarks/bench.json $(BENCH_FLAGS)
	$(BIN)/python benchmarks/train_peer.py
	$(BIN)/python benchmarks/step_peer.py
	$(BIN)/python benchmarks/data.py

docs: $(DOCS_READY) ## build the documentation into site/
	$(BIN)/mkdocs build --strict

pictures: $(READY) browser ## draw the pictures and screenshots of the documentation
	$(BIN)/python docs/make_images.py
	$(BIN)/python docs/make_screenshots.py

clean: ## delete built files and caches, compiled programs of the tests too; keep .venv and runs/
	rm -rf build dist site .pytest_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp file, so that installing happens once, and again when pyproject.toml changes.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "$(PYTHON) is $$($(PYTHON) --version 2>&1), but algotransfer needs Python 3.11 or newer:" \
	       "name another with 'make PYTHON=python3.12 ...'"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(DOCS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@
