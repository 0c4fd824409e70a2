.PHONY: setup run test campaigns check wheel-check bench docs clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# programs, not packages: each is checked by itself, as it runs
AGENTS := green learner llm quant reference

setup: $(STAMP)

# uv installs exactly what uv.lock pins; where uv is not to be had, pip resolves pyproject.toml by itself
$(STAMP): pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	@if $(BIN)/python -m pip install --quiet uv 2>/dev/null; then \
		UV_COMPILE_BYTECODE=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv sync --quiet --frozen --active --inexact; \
	else \
		echo "uv cannot be installed here; using pip (slower, versions not pinned)"; \
		$(BIN)/python -m pip install --quiet --upgrade pip && \
		$(BIN)/python -m pip install --quiet --editable . --group dev; \
	fi
	@touch $(STAMP)

run: setup
	$(BIN)/traderbench run configs/quick.yaml $(ARGS)

# a process more than there are cores, at most eight; a file's tests stay together because they share servers and runs
# compiled modules are kept whatever the environment says, for many programs are started here
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder

test: setup
	$(PYTEST) -m "not campaign"

# what takes minutes: attacks with statistics, faults in whole runs, the wheel, Ray clusters; CI plays them too
campaigns: setup
	$(PYTEST) -m campaign

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	for agent in $(AGENTS); do (cd agents/$$agent && MYPYPATH=.:..:../.. $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/pyproject.toml --follow-imports=silent __main__.py) || exit 1; done
	$(BIN)/lint-imports

# the built wheel in an empty environment of each interpreter, dependencies from the package registry
PYTHONS ?= python3.11 python3.12 python3.13

wheel-check: setup
	$(BIN)/python tests/wheel_check.py $(PYTHONS)

bench: setup
	$(BIN)/python benchmarks/run.py

docs: setup
	$(BIN)/pdoc --docformat numpy --output-directory build/docs native pricing backtest transforms lake mcp_servers evaluators engine
	@echo "open build/docs/index.html"

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis build dist
