# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test lint types docs fuzz bench-rules clean

demo: $(VENV)/.installed
	$(BIN)/python examples/plan.py

test: lint types
	$(BIN)/python -m pytest --cov --cov-report=term

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

docs: $(VENV)/.installed
	$(BIN)/python tools/reference.py

fuzz: $(VENV)/.installed
	$(BIN)/python tests/fuzz/fuzz_rules.py

bench-rules: $(VENV)/.installed
	$(BIN)/python benchmarks/rules.py

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@
