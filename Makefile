# Everything runs from a clean clone on a machine that has only Python (3.11 or newer) and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench docs test-oldest test-browser fuzz clean

help:  ## show this
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("glassleak needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; run: make PYTHON=python3.11 ...") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) (once)"
	@$(PIP) install -e .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	@echo "setting up test and lint tools (once)"
	@$(PIP) install -e '.[dev]'
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	@$(PIP) install -e '.[docs]'
	@touch $@

demo: $(VENV)/installed  ## train a forest on the embedded Adult table, save it, audit the file
	@$(BIN)/glassleak demo

test: $(VENV)/installed-dev  ## run the test suite with coverage
	@$(BIN)/python -m pytest -n auto --cov --cov-report=term:skip-covered --cov-fail-under=90

lint: $(VENV)/installed-dev  ## format, lint, types, import directions
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

# The readers must give the same answers under the oldest scikit-learn whose files people still send.
test-oldest:  ## reader tests under scikit-learn 1.8
	@test -x $(VENV)-sklearn18/bin/python || $(PYTHON) -m venv $(VENV)-sklearn18
	@$(VENV)-sklearn18/bin/python -m pip --disable-pip-version-check --quiet install -e '.[test]' 'scikit-learn==1.8.*'
	@$(VENV)-sklearn18/bin/python -m pytest -q -n auto -p no:cacheprovider \
	  tests/models $(addprefix tests/readers/test_,sklearn.py sklearn_counts.py skops.py live.py)

# axe-core comes inside this package; what else the package would bring is not needed.
test-browser: $(VENV)/installed-dev  ## open reports in a real Chromium (must be installed)
	@command -v "$${CHROMIUM:-chromium}" >/dev/null || { echo "no Chromium found: apt-get install chromium, or set CHROMIUM" >&2; exit 1; }
	@$(PIP) install --no-deps 'axe-playwright-python>=0.1.8'
	@GLASSLEAK_BROWSER=required $(BIN)/python -m pytest -q -p no:cacheprovider tests/report/browser

bench: $(VENV)/installed-dev  ## run every benchmark; results go to benchmarks/results
	@$(BIN)/python -m benchmarks all

fuzz: $(VENV)/installed-dev  ## 10,000 mutated model files: no crash, no hang, no code run
	@$(BIN)/python -m benchmarks fuzz

docs: $(VENV)/installed-docs  ## build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:  ## remove environments and build products
	rm -rf $(VENV) $(VENV)-sklearn18 build dist site .mypy_cache .ruff_cache .pytest_cache .coverage*
