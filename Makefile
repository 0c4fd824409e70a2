.PHONY: setup run test check bench docs clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

setup: $(STAMP)

# uv installs exactly what uv.lock pins; where uv is not to be had, pip resolves pyproject.toml by itself
$(STAMP): pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@if $(BIN)/python -m pip install --quiet uv 2>/dev/null; then \
		VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv sync --quiet --frozen --active --inexact; \
	else \
		echo "uv cannot be installed here; using pip (slower, versions not pinned)"; \
		$(BIN)/python -m pip install --quiet --upgrade pip && \
		$(BIN)/python -m pip install --quiet --editable . --group dev; \
	fi
	@touch $(STAMP)

run: setup
	$(BIN)/traderbench run configs/quick.yaml

test: setup
	$(BIN)/python -m pytest

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python benchmarks/run.py

docs: setup
	$(BIN)/python docs/build.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis build dist
