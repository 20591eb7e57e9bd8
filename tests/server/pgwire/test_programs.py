"""Programs of other people at the Postgres wire transport: psql, SQLAlchemy, pandas, node, JDBC.

`tools/clients.sh` installs what is missing; without it, a test fails and says so.
"""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg
import pytest
import sqlalchemy as sa
from pgwire_server import PgwireServer
from waiting import SECONDS, until

from redask.api.asynchronous import AsyncDatabase
from redask.api.results import CitedAnswer
from redask.core import errors
from redask.core.model import Ask, Caller, Emit
from redask.core.wire import envelope
from redask.core.wire import json as canonical
from redask.engine.auditing.audit_writer import AuditWriter
from redask.engine.retrieval import Hits, Retriever
from redask.server.pgwire.session import ask_statements
from redask.server.pgwire.types.oids import INT4, TEXT, TYPES

ROOT = Path(__file__).parent.parent.parent
NODE = ROOT / "node"
JDBC = Path("/usr/share/java/postgresql.jar")
ODD = "When does the 'ferry' — \"Ümläut\" \U0001f6a2; leave? $1 %s :p1 \\ E'x'"
FAILING = {
    "ASK 'x' LIMIT 999": "42601",
    "ASK 'ferry' COLLECTION secrets": "42501",
    "ASK 'ferry' USING openai": "22000",
    "ASK 'ferry' USING deepseek": "F0000",
    "ASK 'ferry' USING groq": "58000",
    "ASK 'ferry' USING together": "57P03",
    "ASK 'ferry' USING venice": "57014",
    "ASK 'ferry' USING openrouter": "XX000",
    f"ASK '{'ferry ' * 5000}' USING scripted": "54000",
    "ASK 'no room' USING scripted": "53300",
    "ASK 'no disk' USING scripted": "57P03",
    "ASK 'no log' USING scripted": "57P03",
    "ASK 'ferry' STREAM": "0A000",
    "SELECT * FROM secrets": "42501",
    "SELECT nope FROM notes": "42703",
    "INSERT INTO notes VALUES (1)": "25006",
}
NAMES = [column.name for column in ask_statements.ANSWER]


@pytest.fixture(scope="module")
def transport(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PgwireServer]:
    with (
        PgwireServer(tmp_path_factory.mktemp("programs") / "db") as opened,
        pytest.MonkeyPatch.context() as patch,
    ):
        break_some(patch)
        yield opened


def break_some(patch: pytest.MonkeyPatch) -> None:
    """Let a few questions meet what no statement can bring about."""
    find, append, answer = (
        Retriever.find_for_provider,
        AuditWriter.append,
        AsyncDatabase.answer,
    )

    def found(self: Retriever, ask: Ask, caller: Caller) -> Hits:
        if ask.question == "no disk":
            raise errors.StoreFailed("the disk is gone")
        return find(self, ask, caller)

    def appended(self: AuditWriter, row: dict[str, Any], *more: Any, **named: Any) -> Any:
        if row.get("question") == "no log":
            raise errors.AuditUnavailable("the log is gone")
        return append(self, row, *more, **named)

    async def answered(self: AsyncDatabase, ask: Ask, emit: Emit | None = None) -> CitedAnswer:
        if ask.question == "no room":
            raise errors.Overloaded("too many ask")
        return await answer(self, ask, emit)

    patch.setattr(Retriever, "find_for_provider", found)
    patch.setattr(AuditWriter, "append", appended)
    patch.setattr(AsyncDatabase, "answer", answered)


def cells(transport: PgwireServer, question: str) -> dict[str, str]:
    """The envelope of the same question in process, as text on the wire."""

    async def asked() -> dict[str, Any]:
        mia = await transport.db.signed_in(transport.tokens["mia"])
        return envelope.build(await mia.ask(question, using="scripted", limit=2))

    built = transport.run(asked())
    said = {}
    for name in NAMES:
        value = built[name]
        if isinstance(value, bool):
            said[name] = "t" if value else "f"
        elif isinstance(value, list | dict):
            said[name] = canonical.text(value)
        else:
            said[name] = "0" if name == "cost_usd" else str(value)
    return said


def plan(transport: PgwireServer, question: str, **options: Any) -> Any:
    async def asked() -> Any:
        mia = await transport.db.signed_in(transport.tokens["mia"])
        return await mia.explain(question, **options)

    return transport.run(asked())


def ran(
    command: list[str], given: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )


def needs(program: str, also: Path | None = None) -> None:
    if shutil.which(program) is None or (also is not None and not also.exists()):
        pytest.fail(f"{program} is not (all) installed: run tools/clients.sh")


# --- psql ------------------------------------------------------------------------------------


def psql(
    transport: PgwireServer, *arguments: str, given: str = ""
) -> subprocess.CompletedProcess[str]:
    needs("psql")
    return ran(
        ["psql", "-X", "-v", "VERBOSITY=sqlstate", *arguments],
        given,
        PGHOST=transport.host,
        PGPORT=str(transport.port),
        PGUSER="mia",
        PGPASSWORD=transport.tokens["mia"],
        PGDATABASE="local",
        PGCLIENTENCODING="UTF8",
    )


def test_psql_asks_with_a_variable_and_gets_the_envelope(transport: PgwireServer) -> None:
    received = psql(
        transport, "-v", f"q={ODD}", "-A", "-F", "\x1f", "-R", "\x1e",
        given="ASK :'q' USING scripted LIMIT 2;",
    )  # fmt: skip
    assert received.stderr == ""
    head, row, foot = received.stdout.rstrip("\n").split("\x1e")
    assert head.split("\x1f") == NAMES
    assert dict(zip(NAMES, row.split("\x1f"), strict=True)) == cells(transport, ODD)
    assert foot == "(1 row)"
    assert transport.newest()["question"] == ODD


def test_psql_explains_and_selects(transport: PgwireServer) -> None:
    received = psql(transport, "-At", "-c", "EXPLAIN ASK 'ferry' USING scripted")
    assert received.stdout == canonical.text(plan(transport, "ferry", using="scripted")) + "\n"
    received = psql(transport, "-At", "-c", "SELECT id, title, urn FROM notes ORDER BY id LIMIT 1")
    assert received.stdout == "1|Ferry timetable|urn:reddb:row:notes/1\n"
    received = psql(transport, "-At", given="SELECT 1; SELECT 2;\n\\d nosuch\n")
    assert received.stdout == "1\n2\n"


def test_psql_lists_what_the_caller_may_see(transport: PgwireServer) -> None:
    received = psql(
        transport, "-At", *(f"-c\\{word}" for word in ("d", "dt", "dn", "l", "du", "d notes"))
    )
    assert received.stderr == ""
    tables = [f"public|{name}|table|mia" for name in ("notes", "odd", "red_ask_audit")]
    assert received.stdout.splitlines() == [
        *tables,
        *tables,
        "public|mia",
        "local|mia|UTF8|C.UTF-8|C.UTF-8||libc|",
        "mia||{}",
        *("id|integer||not null|", "urn|text||not null|", "text|text|||", "title|text|||"),
    ]
    more = psql(
        transport, "-c\\d+ notes", "-c\\dT", "-c\\df", "-c\\di", "-c\\dv", "-c\\dx", "-c\\z"
    )
    assert "ERROR" not in more.stderr
    assert 'Table "public.notes"' in more.stdout


def test_psql_gets_the_sqlstate_of_every_error(transport: PgwireServer) -> None:
    received = psql(transport, given="".join(f"{sql};\n" for sql in FAILING))
    assert received.stderr.splitlines() == [f"ERROR:  {state}" for state in FAILING.values()]
    needs("psql")
    wrong = ran(
        [
            "psql",
            "-X",
            f"postgresql://mia:x@{transport.host}:{transport.port}/local",
            "-c",
            "SELECT 1",
        ]
    )
    assert "the password is not a valid token of this user" in wrong.stderr


def test_psql_cancels_on_interrupt_and_goes_on(transport: PgwireServer) -> None:
    needs("psql")
    calls = transport.actors["anthropic"].calls
    before = len(calls)
    running = subprocess.Popen(
        ["psql", "-X", "-At", "-v", "VERBOSITY=sqlstate",
         f"postgresql://mia:{transport.tokens['mia']}@{transport.host}:{transport.port}/local",
         "-c", "ASK 'ferry, cancelled by psql' USING anthropic", "-c", "SELECT 5"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert until(lambda: len(calls) > before)
    running.send_signal(2)
    said, complaint = running.communicate(timeout=SECONDS)
    assert "57014" in complaint
    assert said in ("5\n", "")  # psql goes on with -c after an error, unless told not to
    row = transport.newest()
    assert row["question"] == "ferry, cancelled by psql"


# --- SQLAlchemy and pandas -------------------------------------------------------------------


@pytest.fixture(scope="module")
def engine(transport: PgwireServer) -> Iterator[sa.Engine]:
    url = sa.URL.create(
        "postgresql+psycopg",
        "mia",
        transport.tokens["mia"],
        transport.host,
        transport.port,
        "local",
    )
    engine = sa.create_engine(url)
    yield engine
    engine.dispose()


def test_sqlalchemy_reflects_what_the_caller_may_see(engine: sa.Engine) -> None:
    found = sa.inspect(engine)
    assert sorted(found.get_table_names()) == ["notes", "odd", "red_ask_audit"]
    assert found.has_table("notes")
    assert not found.has_table("secrets")
    assert found.get_view_names() == []
    assert found.get_schema_names() == ["information_schema", "public"]
    columns = {
        each["name"]: (str(each["type"]), each["nullable"]) for each in found.get_columns("notes")
    }
    assert columns == {
        "id": ("INTEGER", False),
        "urn": ("TEXT", False),
        "text": ("TEXT", True),
        "title": ("TEXT", True),
    }
    assert found.get_pk_constraint("notes")["constrained_columns"] == []
    assert found.get_foreign_keys("notes") == []
    assert found.get_indexes("notes") == []
    audit = {each["name"]: str(each["type"]) for each in found.get_columns("red_ask_audit")}
    assert audit["seq"] == "BIGINT"
    assert audit["cost_usd"].startswith("DOUBLE PRECISION")
    assert audit["citations"] == "JSONB"
    assert audit["cache_hit"] == "BOOLEAN"
    metadata = sa.MetaData()
    metadata.reflect(engine)
    assert sorted(metadata.tables) == ["notes", "odd", "red_ask_audit"]


def test_sqlalchemy_selects_from_a_reflected_table(engine: sa.Engine) -> None:
    notes = sa.Table("notes", sa.MetaData(), autoload_with=engine)
    wanted = sa.select(notes.c.id, notes.c.title).where(notes.c.title.ilike("ferry%"))
    with engine.connect() as connection:
        rows = connection.execute(wanted.order_by(notes.c.id.desc()).limit(5)).all()
        assert [tuple(row) for row in rows] == [(2, "Ferry prices"), (1, "Ferry timetable")]
        counted = sa.select(sa.func.count()).select_from(notes).where(notes.c.id > 1)
        assert connection.execute(counted).scalar_one() == 2


def test_sqlalchemy_and_pandas_ask(transport: PgwireServer, engine: sa.Engine) -> None:
    asking = sa.text("ASK :q USING scripted LIMIT 2").bindparams(q=ODD)
    with engine.connect() as connection:
        row = connection.execute(asking).mappings().one()
    expected = cells(transport, ODD)
    assert {name: type(row[name]).__name__ for name in NAMES} == {
        "answer": "str", "cache_hit": "bool", "citations": "list", "completion_tokens": "int",
        "cost_usd": "Decimal", "mode": "str", "model": "str", "prompt_tokens": "int",
        "provider": "str", "retry_count": "int", "sources_flat": "list", "validation": "dict",
    }  # fmt: skip
    assert row["answer"] == expected["answer"]
    assert canonical.text(row["sources_flat"]) == expected["sources_flat"]
    frame = pd.read_sql(asking, engine)
    assert list(frame.columns) == NAMES
    assert frame.loc[0, "answer"] == expected["answer"]
    frame = pd.read_sql(
        sa.text("SELECT id, title FROM notes WHERE id < :n"), engine, params={"n": 3}
    )
    assert frame.to_dict("list") == {"id": [1, 2], "title": ["Ferry timetable", "Ferry prices"]}
    assert str(frame.dtypes["id"]) == "int64"
    assert len(pd.read_sql_table("notes", engine)) == 3


def test_sqlalchemy_gets_errors_and_goes_on(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        for sql, state in FAILING.items():
            with pytest.raises(sa.exc.DBAPIError) as caught:
                connection.execute(sa.text(sql))
            assert caught.value.orig is not None
            assert getattr(caught.value.orig, "sqlstate", "") == state
            connection.rollback()
        assert connection.execute(sa.text("SELECT 1")).scalar_one() == 1


def test_sqlalchemy_cancels_and_goes_on(transport: PgwireServer, engine: sa.Engine) -> None:
    calls = transport.actors["anthropic"].calls
    before = len(calls)
    with engine.connect() as connection:
        raw = connection.connection.driver_connection
        assert isinstance(raw, psycopg.Connection)

        def cancel() -> None:
            assert until(lambda: len(calls) > before)
            raw.cancel_safe(timeout=SECONDS)

        canceller = threading.Thread(target=cancel)
        canceller.start()
        with pytest.raises(sa.exc.OperationalError) as caught:
            connection.execute(sa.text("ASK 'ferry, cancelled by SQLAlchemy' USING anthropic"))
        canceller.join()
        assert getattr(caught.value.orig, "sqlstate", "") == "57014"
        connection.rollback()
        assert connection.execute(sa.text("SELECT 6")).scalar_one() == 6
    assert transport.newest()["question"] == "ferry, cancelled by SQLAlchemy"


# --- node ------------------------------------------------------------------------------------


def test_node_postgres_does_it_all(transport: PgwireServer) -> None:
    needs("node", NODE / "node_modules" / "pg")
    failing = [*([sql, []] for sql in FAILING), ["ASK $1", [" "]]]
    config = {
        "host": transport.host, "port": transport.port, "user": "mia", "database": "local",
        "password": transport.tokens["mia"],
    }  # fmt: skip
    given = {"config": config, "question": ODD, "failing": failing}
    received = ran(["node", "--no-deprecation", str(NODE / "pg_probe.mjs")], json.dumps(given))
    assert received.stderr == ""
    said = json.loads(received.stdout)
    expected = cells(transport, ODD)
    assert said["ask"]["columns"] == [[column.name, column.oid] for column in ask_statements.ANSWER]
    assert said["ask"]["rows"] == said["prepared"]["rows"]
    [row] = said["ask"]["rows"]
    for name in NAMES:
        if name == "cache_hit":
            assert row[name] is (expected[name] == "t")
        elif name in ("citations", "sources_flat", "validation"):
            assert canonical.text(row[name]) == expected[name]
        else:
            assert row[name] == expected[name]
    assert said["plan"]["rows"] == [{"plan": plan(transport, ODD)}]
    assert said["select"] == {
        "columns": [["id", INT4], ["title", TEXT]],
        "rows": [{"id": 2, "title": "Ferry prices"}],
        "command": "SELECT",
    }
    assert said["text"] == said["select"]
    assert said["simple"] == [[{"one": 1}], [{"two": 2}]]
    assert said["states"] == [*FAILING.values(), "42601"]
    assert (said["cancelled"], said["after"]) == ("57014", [{"three": 3}])
    assert (said["again"], said["stranger"]) == ([{"four": 4}], "28P01")
    assert said["pool"] == [1, 2, 3, 4, 5]


# --- JDBC ------------------------------------------------------------------------------------


def test_jdbc_does_it_all(transport: PgwireServer) -> None:
    needs("java", JDBC)
    received = ran(
        ["java", "-Dfile.encoding=UTF-8", "-cp", str(JDBC), str(ROOT / "java" / "PgProbe.java"),
         f"jdbc:postgresql://{transport.host}:{transport.port}/local",
         "mia", transport.tokens["mia"], ODD],
        "".join(f"{sql}\n" for sql in FAILING),
        LC_ALL="C.UTF-8",
    )  # fmt: skip
    assert received.stderr == ""
    lines = [line.split("\t") for line in received.stdout.rstrip("\n").split("\n")]
    said = {name: _unescaped(value) for name, value in lines}
    kinds = {column.name: TYPES[column.oid].name for column in ask_statements.ANSWER}
    expected = cells(transport, ODD)
    for time_ in range(7):
        for name in NAMES:
            assert said[f"ask{time_}.{name}:{kinds[name]}"] == expected[name], (time_, name)
        assert said[f"select{time_}.id:int4"] == "2"
        assert said[f"select{time_}.title:text"] == "Ferry prices"
        assert said[f"select{time_}.urn:text"] == "urn:reddb:row:notes/2"
        assert said[f"ask{time_}.more"] == said[f"select{time_}.more"] == "false"
    assert said["plan.plan:jsonb"] == canonical.text(plan(transport, ODD, using="scripted"))
    assert said["text.id:int4"] == "2"
    assert said["tables"] == "notes odd red_ask_audit"
    assert said["columns"] == "id int4 NO urn text NO text text YES title text YES"
    assert (said["keys"], said["schemas"]) == ("", "information_schema pg_catalog public")
    assert said["types"] == "true"
    assert [value for name, value in lines if name == "state"] == list(FAILING.values())
    assert (said["cancelled"], said["valid"]) == ("57014", "true")
    assert said["again.?column?:int4"] == "1"
    assert said["stranger"] == "28P01"


def _unescaped(text: str) -> str:
    parts = text.split("\\\\")
    return "\\".join(part.replace("\\n", "\n").replace("\\t", "\t") for part in parts)
