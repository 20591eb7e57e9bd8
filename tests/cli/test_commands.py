"""The command line as a person and as a program use it."""

import gc
import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from loopback import Loopback
from waiting import until
from wires import polite_model, speech_of

import redask
from redask.cli import COMMANDS, main
from redask.core.clauses import CLAUSES
from redask.core.provider_table import PROVIDERS
from redask.core.wire import json as canonical
from redask.evaluation import sample
from redask.providers.scripted import Scripted
from redask.stores.sqlite.store import FILE

REDASK = [sys.executable, "-c", "from redask.cli import main; main()"]
LATE = "What does a gold customer get for a late delivery?"


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("company")
    with redask.open(directory) as db:
        sample.load(db)
    return directory


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No provider keys of whoever runs the tests."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GROQ_API_KEY", "REDASK_DB"):
        monkeypatch.delenv(name, raising=False)


def run(directory: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["--db", str(directory), *words])


@pytest.mark.usefixtures("quiet")
def test_ask_prints_the_answer_its_footnotes_and_who_gave_it(company: Path) -> None:
    result = run(company, "ask", LATE)
    assert result.exit_code == 0
    assert "ten percent off the next order. [^1]" in result.output
    assert "[^1] urn:reddb:document:handbook/" in result.output
    assert "extractive" in result.output


@pytest.mark.usefixtures("quiet")
def test_a_command_looks_for_garbage_seldom(company: Path) -> None:
    before = gc.get_threshold()
    try:
        gc.set_threshold(700)
        run(company, "search", "ferry")
        assert gc.get_threshold()[0] >= 10_000
        assert gc.isenabled()
    finally:
        gc.set_threshold(*before)


def test_json_is_exactly_the_envelope(company: Path) -> None:
    printed = run(company, "ask", LATE, "--json").output
    with redask.open(company) as db:
        assert printed == canonical.text(db.ask(LATE).to_dict()) + "\n"


@pytest.mark.usefixtures("quiet")
def test_streaming_prints_the_same_answer(company: Path) -> None:
    plain, streamed = (
        run(company, "ask", LATE, "--no-stream"),
        run(company, "ask", LATE, "--stream"),
    )
    assert plain.output.split() == streamed.output.split()


def test_every_clause_is_a_flag(company: Path) -> None:
    shown = run(company, "ask", "--help").output
    for clause in CLAUSES:
        name = (clause.option or clause.keyword.lower()).replace("_", "-")
        assert f"--{name}" in shown


@pytest.mark.usefixtures("quiet")
def test_flags_reach_the_ask(company: Path) -> None:
    flags = ["--limit", "2", "--depth", "0", "--collection", "handbook", "--min-score", "0.01"]
    flags += ["--no-strict", "--json"]
    plan = json.loads(run(company, "explain", LATE, *flags).output)
    assert (plan["fusion"]["limit"], plan["depth"], plan["mode"]) == (2, 0, "lenient")
    assert {step["min_score"] for step in plan["retrieval"]} == {0.01}
    assert all(":handbook/" in source["urn"] for source in plan["sources"])
    assert plan == json.loads(
        run(company, "ask", LATE, *flags, "--no-strict", "--explain", "--json").output
    )


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (["ask", " "], 2, "bad_ask"),
        (["ask", "x", "--limit", "0"], 2, "bad_ask"),
        (["ask", "x", "--cache", "0s"], 2, "bad_ask"),
        (["ask", "x", "--using", "nobody"], 2, "bad_ask"),
        (["ask", "x", "--collection", "red_ask_audit"], 3, "denied"),
        (["audit", "show", "999"], 2, "bad_ask"),
    ],
)
@pytest.mark.usefixtures("quiet")
def test_errors_have_the_exit_code_and_the_body_of_their_outcome(
    company: Path, words: list[str], code: int, kind: str
) -> None:
    people, programs = run(company, *words), run(company, *words, "--json")
    assert (people.exit_code, programs.exit_code) == (code, code)
    assert people.stderr.startswith("redask: ")
    assert json.loads(programs.stdout)["error"]["kind"] == kind
    assert "Traceback" not in people.output + programs.output


def test_without_a_database_there_is_a_helpful_word(tmp_path: Path) -> None:
    result = run(tmp_path / "nowhere", "ask", "anything?")
    assert result.exit_code == 2
    assert "redask demo" in result.stderr
    assert not (tmp_path / "nowhere").exists()


def test_search_shows_how_a_hit_was_ranked(company: Path) -> None:
    people = run(company, "search", "late delivery", "--limit", "2", "--explain")
    assert "bm25 #1" in people.output
    programs = json.loads(run(company, "search", "late delivery", "--explain", "--json").output)
    assert [bucket["bucket"] for bucket in programs["buckets"]] == ["bm25", "vector", "graph"]
    first = programs["hits"][0]
    assert first["urn"] == programs["buckets"][0]["candidates"][0]["urn"]
    assert run(company, "search", "zzzz").output == "nothing found\n"


@pytest.mark.usefixtures("quiet")
def test_the_audit_log_can_be_listed_shown_verified_and_exported(company: Path) -> None:
    run(company, "ask", LATE)
    newest = json.loads(run(company, "audit", "list", "--limit", "1", "--json").output)[0]
    assert newest["row"]["question"] == LATE
    assert LATE in run(company, "audit").output
    shown = json.loads(run(company, "audit", "show", str(newest["seq"])).output)
    assert shown == newest
    verdict = json.loads(run(company, "audit", "verify", "--json").output)
    [chain] = verdict.pop("chains")
    assert verdict == {
        "checkpoints": [],
        "head": newest["hash"],
        "ok": True,
        "rows": newest["seq"],
    }
    assert (chain["tenant"], chain["anchored"]) == ("local", newest["seq"])
    exported = run(company, "audit", "export").output.splitlines()
    assert [json.loads(line)["seq"] for line in exported] == list(range(newest["seq"], 0, -1))


def test_doctor_finds_nothing_wrong_and_rebuilds_the_index(company: Path) -> None:
    assert "all is well" in run(company, "doctor").output
    report = json.loads(run(company, "doctor", "--rebuild-index", "--json").output)
    assert report["problems"] == []
    assert report["index"]["watermark"] == report["store"]["watermark"]


def test_reembed_changes_the_embedder_and_goes_on_with_what_is_pending(tmp_path: Path) -> None:
    with redask.open(tmp_path) as db:
        db.put("notes", [{"id": number, "text": f"ferry {number}"} for number in range(3)])
    first = run(tmp_path, "reembed", "--embedder", "hashed")
    assert first.output == "3 embedded by hashed-128-1, 0 pending\n"
    with redask.open(tmp_path) as db:
        db.put("notes", [{"id": 4, "text": "tide"}])
    more = json.loads(
        run(tmp_path, "reembed", "--pending", "--embedder", "hashed", "--json").output
    )
    assert (more["embedded"], more["pending"], more["model"]) == (1, 0, "hashed-128-1")
    assert run(tmp_path, "reembed", "--embedder", "hashed").output.startswith("4 embedded")
    unknown = run(tmp_path, "reembed", "--embedder", "nope")
    assert unknown.exit_code == 7
    assert "there is no embedder 'nope'" in unknown.stderr


def test_doctor_tells_what_is_not_embedded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDASK_EMBEDDER_NAME", "hashed")
    with redask.open(tmp_path) as db:
        db.put("notes", [{"id": 1, "text": "ferry"}], wait=False)
    shown = run(tmp_path, "doctor").output
    assert "embedder hashed-128-1, model none, pending 1" in shown
    assert "redask embed" in shown
    run(tmp_path, "reembed", "--pending")
    assert "redask embed" not in run(tmp_path, "doctor").output


def test_explain_tells_people_when_the_vectors_were_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDASK_EMBEDDER_NAME", "minilm")
    with redask.open(tmp_path) as db:
        db.put("notes", [{"id": 1, "text": "Wann fährt die Fähre? Sie fährt um neun Uhr ab."}])
    for command in (["explain"], ["ask", "--explain"]):
        shown = run(tmp_path, *command, "Wann fährt die Fähre ab?").output
        assert "vector left out, for the question is in de and the embedder knows en" in shown
    plan = json.loads(run(tmp_path, "explain", "Wann fährt die Fähre ab?", "--json").output)
    assert [step["bucket"] for step in plan["retrieval"]] == ["bm25", "vector", "graph"]
    assert "left out" not in json.dumps(plan)


def test_eval_measures_a_pack(tmp_path: Path) -> None:
    pack = tmp_path / "tiny"
    pack.mkdir()
    passages = [{"_id": "p1", "title": "Ferry", "text": "The ferry leaves at nine."}]
    passages.append({"_id": "p2", "title": "Lighthouse", "text": "It is open on Sundays."})
    lines = "\n".join(json.dumps(passage) for passage in passages)
    (pack / "corpus.jsonl").write_text(lines)
    (pack / "queries.jsonl").write_text('{"_id": "q", "text": "When does the ferry leave?"}\n')
    (pack / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\tp1\t1\n")
    report = json.loads(CliRunner().invoke(main, ["eval", str(pack), "--json"]).output)
    assert (report["passages"], report["questions"]) == (2, 1)
    assert report["retrieval"]["bm25"] == {"all_evidence@8": 1.0, "ndcg@10": 1.0, "recall@20": 1.0}
    assert "ndcg@10" in CliRunner().invoke(main, ["eval", str(pack)]).output


@pytest.mark.usefixtures("quiet")
def test_ingest_makes_a_database_that_can_be_asked(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "ferry.md").write_text("# Ferry\n\nThe ferry to Amrum leaves at nine.\n")
    (tmp_path / "docs" / "picture.png").write_bytes(b"x")
    result = run(tmp_path / "db", "ingest", str(tmp_path / "docs"))
    assert result.exit_code == 0, result.output
    assert "1 entities written, 0 removed, 1 files ignored" in result.output
    assert result.stderr == "", "a bar is for terminals"
    asked = run(tmp_path / "db", "ask", "When does the ferry leave?")
    assert "leaves at nine. [^1]" in asked.output
    assert "urn:reddb:document:docs/ferry.md#top" in asked.output


def test_ingest_says_which_files_were_left_out_and_ends_with_2(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("text")
    (tmp_path / "bad.md").write_bytes(b"\xff[/]")
    people = run(tmp_path / "db", "ingest", str(tmp_path))
    assert people.exit_code == 2
    assert f"left out {tmp_path / 'bad.md'}: is not UTF-8 text" in people.output
    programs = run(tmp_path / "db", "ingest", str(tmp_path), "--json")
    assert programs.exit_code == 2
    report = json.loads(programs.stdout)
    assert (report["ok"], report["written"]) == (False, 0)
    assert [problem["path"] for problem in report["problems"]] == [str(tmp_path / "bad.md")]
    refused = run(tmp_path / "db", "ingest", str(tmp_path), "--collection", "red_x", "--json")
    assert (refused.exit_code, json.loads(refused.stdout)["error"]["kind"]) == (2, "bad_ask")
    assert run(tmp_path / "db", "ingest").exit_code == 2


def test_ingest_lists_what_no_reader_is_for_and_strict_ends_with_2(tmp_path: Path) -> None:
    for name in ("a.md", "b.png", "c.PNG", "LICENSE"):
        (tmp_path / "d" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "d" / name).write_text("x")
    people = run(tmp_path / "db", "ingest", str(tmp_path / "d"))
    assert people.exit_code == 0
    assert people.output.endswith(
        "1 entities written, 0 removed, 3 files ignored (no reader is for them)\n"
        f"left out 2 .png, as {tmp_path}/d/b.png\n"
        f"left out 1 (no ending), as {tmp_path}/d/LICENSE\n"
    )
    programs = run(tmp_path / "db2", "ingest", str(tmp_path / "d"), "--json", "--strict")
    assert programs.exit_code == 2
    done = json.loads(programs.output)
    assert (done["written"], done["ok"]) == (1, True), "nothing is lost"
    assert done["left_out"] == [
        {"count": 2, "example": f"{tmp_path}/d/b.png", "suffix": ".png"},
        {"count": 1, "example": f"{tmp_path}/d/LICENSE", "suffix": ""},
    ]


def test_ingest_refuses_a_path_that_does_not_exist_and_makes_no_database(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("text")
    words = ["ingest", str(tmp_path / "good.md"), str(tmp_path / "nope")]
    people, programs = run(tmp_path / "db", *words), run(tmp_path / "db", *words, "--json")
    assert (people.exit_code, programs.exit_code) == (2, 2)
    assert people.stderr == (
        f"redask: there is no file or folder {tmp_path / 'nope'}; nothing was read\n"
    )
    assert json.loads(programs.stdout)["error"]["kind"] == "bad_ask"
    assert not (tmp_path / "db").exists()


def test_ingest_shows_a_bar_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("text")
    code = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
    command = [*REDASK, "--db", str(tmp_path / "db")]
    shown = subprocess.run(
        [sys.executable, "-c", code, *command, "ingest", str(tmp_path / "good.md")],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert shown.returncode == 0
    assert b"files, " in shown.stdout
    assert b"1 entities written" in shown.stdout


def written(directory: Path) -> bool:
    """Whether another process has written anything."""
    with (
        suppress(sqlite3.OperationalError),
        closing(sqlite3.connect(f"file:{directory / FILE}?mode=ro", uri=True)) as file,
    ):
        return bool(file.execute("SELECT 1 FROM entities LIMIT 1").fetchall())
    return False


def test_an_interrupted_ingest_ends_with_130_and_can_be_completed(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(12_000):
        (folder / f"{number}.md").write_text(f"# Ferry {number}\n\nIt leaves at nine.\n")
    for attempt in range(10):  # a busy machine may let it end before the signal comes
        database = tmp_path / f"db{attempt}"
        command = [*REDASK, "--db", str(database), "ingest", str(folder)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert until(lambda at=database: process.poll() is not None or written(at))  # type: ignore[misc]
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            said = process.stderr.read()
        if process.returncode != 0:
            break
    assert (process.returncode, said) == (130, "\nredask: cancelled\n")
    assert run(database, "ingest", str(folder)).exit_code == 0
    report = json.loads(run(database, "doctor", "--json").output)
    assert (report["store"]["entities"], report["problems"]) == (12_000, [])


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom redask.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'faiss', 'tantivy', 'rich', 'sqlite3', 'asyncio', 'kreuzberg'}\n"
        "sys.exit(','.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
    for name in COMMANDS:
        assert name in result.stdout.decode()


UNNEEDED = """prometheus_client opentelemetry rich duckdb sqlglot faiss uvicorn starlette grpc mcp
    kreuzberg httpx2 cryptography email importlib.metadata pandas pyarrow anyio redask.server
    redask.ingest
    redask.engine.replaying redask.engine.processes.worker_processes redask.evaluation
    redask.core.planning.plan redask.core.sql.binder redask.stores.columnar.projection
    redask.stores.columnar.statements redask.app.process_parts""".split()


def test_a_question_over_documents_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    (tmp_path / "ferry.md").write_text("# Ferry\n\nThe ferry to Oslo leaves at nine.\n")
    run(tmp_path / "db", "ingest", str(tmp_path / "ferry.md"))
    code = (
        "import sys\nfrom redask.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n    assert not end.code\n"
        f"print('imported:', *({set(UNNEEDED)} & sys.modules.keys()), file=sys.stderr)"
    )
    command = ["--db", str(tmp_path / "db"), "ask", "When does the ferry to Oslo leave?"]
    result = subprocess.run(
        [sys.executable, "-c", code, *command], capture_output=True, text=True, check=False
    )
    assert "leaves at nine" in result.stdout, result.stderr
    assert result.stderr.split() == ["imported:"]


@pytest.mark.usefixtures("quiet")
def test_cost_shows_what_was_spent_by_day_tenant_and_provider(tmp_path: Path) -> None:
    class Dear(Scripted):
        name = "openai"

    provider = Dear(["At nine [^1]."], prices=(0.001, 0.002))
    with redask.open(tmp_path, providers={"openai": provider}) as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
        assert run(tmp_path, "cost").output == "nothing was spent\n"
        spent = db.ask("When does the ferry leave?", using="openai").cost_usd
        today = db.spending(1)
    assert spent > 0
    [line] = json.loads(run(tmp_path, "cost", "--json").output)
    assert [line] == today
    assert (line["tenant"], line["provider"], line["reserved_usd"]) == ("local", "openai", 0.0)
    assert line["spent_usd"] == pytest.approx(spent, abs=1e-9)
    shown = run(tmp_path, "cost", "--days", "1").output
    assert f"{line['day']}  local           openai" in shown
    assert run(tmp_path, "cost", "--days", "0").exit_code == 2


@pytest.mark.usefixtures("quiet")
def test_providers_lists_rows_keys_and_capabilities_and_never_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk-very-secret")
    monkeypatch.setenv("REDASK_OLLAMA_MODEL", "my-model")
    text, plain = (run(tmp_path, "providers", *more).output for more in ((), ("--json",)))
    assert "very-secret" not in text + plain
    rows = {row["name"]: row for row in json.loads(plain)}
    assert rows.keys() == PROVIDERS.keys()
    assert (rows["groq"]["key"], rows["openai"]["key"]) == ("present", "missing")
    assert (rows["ollama"]["key"], rows["ollama"]["model"]) == ("not needed", "my-model")
    assert rows["openai"]["key_variable"] == "OPENAI_API_KEY"
    assert rows["anthropic"]["capabilities"]["supports_seed"] is False
    assert "OPENAI_API_KEY" in text
    [one] = json.loads(run(tmp_path, "providers", "groq", "--json").output)
    assert one == rows["groq"]


@pytest.mark.usefixtures("quiet")
def test_providers_check_makes_one_tiny_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Loopback() as server:
        server.play(polite_model)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
        monkeypatch.setenv("REDASK_OPENAI_BASE_URL", server.url)
        result = run(tmp_path, "providers", "--check", "openai", "--json")
        [checked] = json.loads(result.output)
        assert (result.exit_code, checked["ok"], len(server.requests)) == (0, True, 1)
        assert (checked["model"], checked["build"]) == ("model-of-the-day", "fp_44709d6fcb")
        server.play(speech_of("openai").error(401, "who are you"))
        result = run(tmp_path, "providers", "--check", "openai")
        assert (result.exit_code, "HTTP 401: who are you" in result.output) == (8, True)
        monkeypatch.delenv("OPENAI_API_KEY")
        result = run(tmp_path, "providers", "--check", "openai")
        assert (result.exit_code, "set OPENAI_API_KEY" in result.output) == (7, True)
    every = run(tmp_path, "providers", "--check", "--json")
    assert [each["name"] for each in json.loads(every.output)] == ["extractive", "scripted"]
    assert every.exit_code == 0
