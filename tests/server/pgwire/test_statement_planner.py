"""Statements at the Postgres wire without a wire: what is announced, and what comes."""

import asyncio
import json
import threading
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import pytest

from redask.api.asynchronous import AsyncDatabase
from redask.api.sync import open_async
from redask.core.clauses import lexer
from redask.core.errors import AskError, BadAsk, BadStatement, Denied, SqlError
from redask.core.wire import envelope
from redask.core.wire import json as canonical
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session import runtime_parameters, splitting
from redask.server.pgwire.session.statement_planner import StatementPlanner
from redask.server.pgwire.types import encoding, oids

_T = TypeVar("_T")
ROWS = [
    {"id": 1, "title": "Ferry", "price": 1.5, "open": True, "tags": ["a"], "n": 1},
    {"id": 2, "title": "Träin's", "price": 2, "open": False, "tags": {}, "n": None},
]


class Talk:
    """A database and one connection of each user, in a loop of its own."""

    def __init__(self, directory: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self.db: AsyncDatabase = self.run(open_async(directory))
        self.run(self.db.put("tickets", ROWS))
        self.run(self.db.put("codes", [{"id": "7", "n": 1}]))
        self.run(self.db.put("closed", [{"id": 1, "secret": "x"}]))
        self.run(self.db.set_policy("closed", {"read": [{"roles": ["spy"]}]}))
        self.run(
            self.db.set_policy(
                "codes", {"read": [{"roles": ["*"], "hide": ["n"]}, {"roles": ["spy"]}]}
            )
        )
        self.of = {}
        for user, role in (("mia", "reader"), ("sam", "spy")):
            self.run(self.db.add_user(user, role=role))
            session = self.run(self.db.signed_in(self.run(self.db.make_token(user))))
            self.of[user] = StatementPlanner(session, user=user, database="local", startup={})

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self.loop.run_until_complete(work)

    def columns(self, sql: str, user: str = "mia", declared: tuple[int, ...] = ()) -> Any:
        planned = self.run(self.of[user].plan(sql, declared))
        found = planned.columns
        kinds = None if found is None else {each.name: oids.TYPES[each.oid].name for each in found}
        return kinds, [oids.TYPES[each].name for each in planned.parameters]

    def rows(self, sql: str, *values: object, user: str = "mia", declared: Any = ()) -> Any:
        """The rows, each cell encodable in text and binary as it was announced."""
        planned = self.run(self.of[user].plan(sql, declared))
        found = self.run(planned.run(values))
        for row in found.read(0, len(found)):
            for column, value in zip(planned.columns or (), row, strict=True):
                for binary in (False, True):
                    encoding.encode(column.oid, value, binary)
        assert not len(found) or found.tag in (f"SELECT {len(found)}", "SHOW", "EXPLAIN")
        return [tuple(row) for row in found.read(0, len(found))]

    def tag(self, sql: str) -> str:
        planned = self.run(self.of["mia"].plan(sql, ()))
        return self.run(planned.run(())).tag


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    talk = Talk(tmp_path_factory.mktemp("talk"))
    yield talk
    talk.run(talk.db.close())
    talk.loop.close()


# --- ASK -------------------------------------------------------------------------------------


def test_an_ask_has_the_twelve_columns_before_it_runs(talk: Talk) -> None:
    assert talk.columns("ASK $1 LIMIT 5") == (
        {
            "answer": "text", "cache_hit": "bool", "citations": "jsonb",
            "completion_tokens": "int8", "cost_usd": "numeric", "mode": "text", "model": "text",
            "prompt_tokens": "int8", "provider": "text", "retry_count": "int8",
            "sources_flat": "jsonb", "validation": "jsonb",
        },
        ["text"],
    )  # fmt: skip
    assert talk.columns("EXPLAIN ASK 'why'") == ({"plan": "jsonb"}, [])


def test_the_cells_are_the_bytes_of_the_envelope(talk: Talk) -> None:
    question = "When does the 'Träin\\' leave? \U0001f6a2"
    [row] = talk.rows("ask $1 limit 2", question)
    names = list(talk.columns("ASK 'x'")[0])
    answer = talk.run(talk.of["mia"]._session.answer(_ask(question)))
    built = envelope.build(answer)
    assert names == sorted(built)
    for name, cell in zip(names, row, strict=True):
        if isinstance(built[name], list | dict):
            assert cell == canonical.text(built[name])
        else:
            assert cell == (Decimal(0) if name == "cost_usd" else built[name])
    [literal] = talk.rows("ASK 'When does the ''Träin\\'' leave? \U0001f6a2' LIMIT 2")
    [escaped] = talk.rows("ASK E'When does the \\'Träin\\\\\\' leave? \\U0001F6A2' LIMIT 2")
    assert row == literal == escaped
    assert row == talk.rows("ASK $1::VARCHAR LIMIT 2", question)[0]
    [(plan,)] = talk.rows("EXPLAIN ASK $1", question)
    assert json.loads(plan)["mode"] == "strict"


def _ask(question: str) -> Any:
    from redask.core import clauses

    return clauses.from_options(question, {"limit": 2})


def test_a_stream_is_refused_and_bad_asks_have_a_place(talk: Talk) -> None:
    with pytest.raises(SqlStateError) as caught:
        talk.columns("ASK 'x' STREAM")
    assert caught.value.sqlstate == "0A000"
    with pytest.raises(BadStatement) as bad:
        talk.columns("ASK 'x'\n  LIMIT 0")
    assert (bad.value.line, bad.value.column) == (2, 9)
    with pytest.raises(BadAsk):
        talk.rows("ASK $1", "  ")


# --- SELECT ----------------------------------------------------------------------------------


def test_a_select_has_the_types_of_the_catalogue(talk: Talk) -> None:
    assert talk.columns("SELECT * FROM tickets WHERE id = $1 AND price > $2 AND title = $3") == (
        {"id": "int4", "urn": "text", "n": "int4", "open": "bool", "price": "numeric",
         "tags": "jsonb", "title": "text"},
        ["int4", "numeric", "text"],
    )  # fmt: skip
    assert talk.rows("SELECT id, price, open, tags FROM tickets ORDER BY id") == [
        (1, Decimal("1.5"), True, '["a"]'),
        (2, Decimal("2.0"), False, "{}"),
    ]
    planned = talk.run(talk.of["mia"].plan("SELECT price, id FROM tickets", ()))
    assert [each.modifier for each in planned.columns or ()] == [(18 << 16 | 1) + 4, -1]


def test_a_plan_tells_tables_and_clauses_and_no_data(talk: Talk) -> None:
    sql = (
        "SELECT a.id, count(*) FROM tickets a JOIN codes b ON b.id = 7 WHERE a.id = $1"
        " GROUP BY 1 LIMIT 2"
    )
    assert talk.columns(f"EXPLAIN {sql}") == ({"QUERY PLAN": "text"}, ["int4"])
    for words in ("EXPLAIN", "EXPLAIN (COSTS OFF, ANALYZE false)", "explain verbose"):
        assert talk.rows(f"{words} {sql}", 1) == [
            ("Query",),
            ("  Table: public.codes",),
            ("  Table: public.tickets",),
            ("  Joins: 1",),
            ("  Conditions: 2",),
            ("  Grouped",),
            ("  Limited",),
        ]
    for refused in ("EXPLAIN ANALYZE", "EXPLAIN (BUFFERS)", "EXPLAIN (FORMAT json)"):
        with pytest.raises(SqlError) as caught:
            talk.columns(f"{refused} {sql}")
        assert caught.value.sqlstate == "0A000"
    with pytest.raises(Denied):
        talk.columns("EXPLAIN SELECT * FROM closed")


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT "t"."id" AS "id" FROM "public"."tickets" AS "t" WHERE "t"."title" ILIKE \'ferr%\'',
        "SELECT id FROM public.tickets WHERE price::int = 2 AND id::text = '1'",
        "SELECT id FROM tickets WHERE open = true LIMIT 1 OFFSET 0",
        "SELECT id FROM tickets ORDER BY id DESC OFFSET 1",
        "SELECT id FROM tickets ORDER BY id FETCH FIRST 1 ROWS ONLY",
        "SELECT id FROM tickets WHERE title = E'F\\x65rry'",
        "SELECT id FROM tickets WHERE title = $$Ferry$$",
        "SELECT id FROM tickets WHERE CAST(open AS boolean) IS TRUE;",
        "SELECT id FROM tickets -- a comment\n WHERE id = 1",
    ],
)
def test_postgres_spellings_are_read(talk: Talk, sql: str) -> None:
    assert talk.columns(sql)[0] == {"id": "int4"}
    assert talk.rows(sql) == [(1,)]


@pytest.mark.parametrize(
    ("condition", "value", "declared"),
    [
        ("id = $1", 1, (oids.INT2,)),
        ("id = $1", "1", ()),
        ("$1 = id", Decimal(1), (oids.NUMERIC,)),
        ("price = $1", "1.5", ()),
        ("id = ANY($1)", [1], (oids.INT4_ARRAY,)),
        ("id = ANY($1)", "{1,7}", ()),
        ("price < $1", 2, (oids.INT4,)),
        ("open = $1", "t", (oids.UNKNOWN,)),
        ("open = $1", True, (oids.BOOL,)),
        ("title = $1", "Ferry", ()),
        ("title LIKE $1", "Fe%", ()),
        ("id IN ($1)", "1", ()),
        ("id = $1::int", "1", ()),
    ],
)
def test_a_parameter_compares_as_what_it_is_compared_with(
    talk: Talk, condition: str, value: object, declared: tuple[int, ...]
) -> None:
    sql = f"SELECT title FROM tickets WHERE {condition}"
    assert talk.rows(sql, value, declared=declared) == [("Ferry",)]


def test_a_parameter_of_another_type_is_refused_and_null_finds_nothing(talk: Talk) -> None:
    assert talk.rows("SELECT id FROM tickets WHERE id = $1", None) == []
    for sql, value, declared, state in (
        ("SELECT urn FROM tickets WHERE title = $1", 7, (oids.INT4,), "42883"),
        ("SELECT id FROM tickets WHERE id = $1", "1", (oids.VARCHAR,), "42883"),
        ("SELECT id FROM tickets WHERE id = $1", "one", (), "22P02"),
    ):
        with pytest.raises(SqlError) as caught:
            talk.rows(sql, value, declared=declared)
        assert caught.value.sqlstate == state
    with pytest.raises(SqlStateError, match="OID 603"):
        talk.rows("SELECT $1", "(1,1),(0,0)", declared=(603,))


def test_the_policy_holds(talk: Talk) -> None:
    assert list(talk.columns("SELECT * FROM codes")[0]) == ["id", "urn"]
    assert list(talk.columns("SELECT * FROM codes", "sam")[0]) == ["id", "urn", "n"]
    with pytest.raises(Denied):
        talk.columns("SELECT * FROM closed")
    for sql in ("SELECT n FROM codes", "SELECT * FROM nosuch", "SELECT * FROM red_tokens"):
        with pytest.raises(BadAsk):
            talk.columns(sql)
    shown = str(talk.rows("SELECT * FROM pg_class")) + str(talk.rows("SELECT * FROM pg_attribute"))
    assert "closed" not in shown
    assert "secret" not in shown
    assert "secret" in str(talk.rows("SELECT attname FROM pg_attribute", user="sam"))


def test_a_simple_query_is_described_by_its_result(talk: Talk) -> None:
    planned = talk.run(talk.of["mia"].plan("SELECT price AS p FROM tickets WHERE id = 1", None))
    assert (planned.columns, planned.parameters) == (None, ())
    found = talk.run(planned.run(()))
    assert (list(found.read(0, 1)), found.tag) == ([(Decimal("1.5"),)], "SELECT 1")
    assert [(each.name, each.oid) for each in found.columns or ()] == [("p", oids.NUMERIC)]
    bound = talk.run(talk.of["mia"].plan("SELECT $1::int", None))
    with pytest.raises(SqlStateError) as caught:
        talk.run(bound.run(()))
    assert caught.value.sqlstate == "42P02"


def test_a_plan_of_one_user_is_no_plan_of_another(talk: Talk) -> None:
    sql = (
        "SELECT session_user, user, pg_get_userbyid(relowner) FROM pg_class WHERE relname = 'codes'"
    )
    for user in ("mia", "sam", "mia"):
        assert talk.rows(sql, user=user) == [(user, user, user)]


def test_a_plan_follows_what_is_written_and_who_may_see_it(talk: Talk) -> None:
    sql = "SELECT * FROM fresh"
    talk.run(talk.db.put("fresh", [{"id": 1, "a": 1}]))
    assert talk.columns(sql)[0] == {"id": "int4", "urn": "text", "a": "int4"}
    assert talk.rows(sql) == talk.rows(sql) == [(1, "urn:reddb:row:fresh/1", 1)]
    talk.run(talk.db.put("fresh", [{"id": "x", "a": "y"}]))
    assert talk.columns(sql)[0] == {"id": "text", "urn": "text", "a": "text"}
    assert {row[2] for row in talk.rows(sql)} == {"1", "y"}
    talk.run(talk.db.set_policy("fresh", {"read": [{"roles": ["*"], "rows": "id = 'x'"}]}))
    assert [row[0] for row in talk.rows(sql)] == ["x"]
    talk.run(talk.db.set_policy("fresh", {"read": [{"roles": ["spy"]}]}))
    with pytest.raises(Denied):
        talk.rows(sql)


def test_columns_of_one_name_are_all_given(talk: Talk) -> None:
    talk.run(talk.db.put("twice", [{"id": 1, "a": "x"}]))
    assert talk.rows('SELECT id, a, id, a AS "A" FROM twice') == [(1, "x", 1, "x")]
    planned = talk.run(talk.of["mia"].plan('SELECT a AS "A", a, id AS a FROM twice', ()))
    assert [each.name for each in planned.columns or ()] == ["A", "a", "a"]
    assert talk.rows('SELECT a AS "A", a, id AS a FROM twice') == [("x", "x", 1)]
    joined = talk.rows("SELECT n.id, m.id FROM twice n JOIN twice m ON n.id = m.id")
    assert joined == [(1, 1)]


@pytest.mark.parametrize(
    ("sql", "row"),
    [
        ("SELECT ID FROM quirky", (1,)),
        ("SELECT quirky.ID, A FROM quirky", (1, "x")),
        ('SELECT a COLLATE "C" FROM quirky', ("x",)),
        ("SELECT true, id FROM quirky", (True, 1)),
        ('SELECT id, 5 AS "id:1", ID FROM quirky', (1, 5, 1)),
    ],
)
def test_a_name_without_quotes_is_folded(talk: Talk, sql: str, row: tuple[object, ...]) -> None:
    talk.run(talk.db.put("quirky", [{"id": 1, "a": "x"}]))
    assert talk.rows(sql) == [row]


def test_a_prepared_select_never_gives_other_columns_than_it_announced(talk: Talk) -> None:
    talk.run(talk.db.put("wide", [{"id": 1, "a": 1, "b": 2}]))
    planned = talk.run(talk.of["mia"].plan("SELECT * FROM wide", ()))
    assert len(talk.run(planned.run(()))) == 1
    talk.run(talk.db.set_policy("wide", {"read": [{"roles": ["*"], "hide": ["b"]}]}))
    with pytest.raises(SqlStateError, match="must not change result type"):
        talk.run(planned.run(()))
    again = talk.run(talk.of["mia"].plan("SELECT * FROM wide", ()))
    hidden = {"read": [{"roles": ["*"], "hide": ["a"]}]}  # as many columns, and others
    talk.run(talk.db.set_policy("wide", hidden))
    with pytest.raises(SqlStateError, match="must not change result type"):
        talk.run(again.run(()))


def test_a_prepared_select_meets_the_policy_of_the_moment_it_runs(talk: Talk) -> None:
    talk.run(talk.db.put("later", [{"id": 1, "a": 1}]))
    planned = talk.run(talk.of["mia"].plan("SELECT id FROM later", ()))
    assert len(talk.run(planned.run(()))) == 1
    talk.run(talk.db.set_policy("later", {"read": [{"roles": ["spy"]}]}))
    with pytest.raises(Denied):
        talk.run(planned.run(()))


# --- the connection --------------------------------------------------------------------------


def test_settings_are_set_shown_and_reset(talk: Talk) -> None:
    dispatcher = talk.of["sam"]
    said = dispatcher.changed_parameters()
    assert said["server_version"] == "15.0"
    assert said["client_encoding"] == "UTF8"
    assert dispatcher.changed_parameters() == {}

    def done(sql: str) -> Any:
        return talk.rows(sql, user="sam")

    done("SET application_name TO 'it''s me'")
    assert dispatcher.changed_parameters() == {"application_name": "it's me"}
    assert done("SHOW application_name") == [("it's me",)]
    held = runtime_parameters._milliseconds.cache_info().currsize
    with pytest.raises(SqlStateError, match="too long"):
        done(f"SET statement_timeout = '{'9' * 100_000}'")
    assert runtime_parameters._milliseconds.cache_info().currsize == held
    done("SET statement_timeout = '1500ms'")
    assert dispatcher.timeout() == 1.5
    assert dispatcher.parameter("statement_timeout") == "1500ms"
    assert done("SELECT current_setting('statement_timeout')") == [("1500ms",)]
    assert done("SELECT set_config('statement_timeout', '2s', false)") == [("2s",)]
    assert dispatcher.timeout() == 2.0
    done("RESET ALL")
    assert dispatcher.timeout() is None
    assert dispatcher.changed_parameters() == {"application_name": ""}
    done("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
    done("SET TIME ZONE 'UTC'")
    assert dispatcher.changed_parameters() == {}
    done("SELECT 'set_config(''application_name'', ''b'', false)', 1")
    done("SELECT set_config('application_name', 'it''s b', false), 1")
    assert dispatcher.changed_parameters() == {"application_name": "it's b"}
    done("DISCARD ALL")
    assert done("SHOW TimeZone") == [("UTC",)]
    assert ("search_path", "public", "") in done("SHOW ALL")
    for sql, state in (
        ("SET client_encoding TO 'KLINGON'", "22023"),
        ("SET TIME ZONE 'Europe/Nowhere'", "22023"),
        ("SET IntervalStyle TO 'sql_standard'", "22023"),
        ("SET statement_timeout TO 'soon'", "22023"),
        ("SET server_version TO '9'", "55P02"),
        ("SHOW nothing", "42704"),
        ("SET ROLE postgres", "42501"),
    ):
        with pytest.raises(SqlStateError) as caught:
            done(sql)
        assert caught.value.sqlstate == state


def test_transactions_are_steps_and_tags(talk: Talk) -> None:
    for sql, step, tag in (
        ("BEGIN", "begin", "BEGIN"),
        ("start transaction isolation level serializable", "begin", "START TRANSACTION"),
        ("COMMIT", "commit", "COMMIT"),
        ("END", "commit", "COMMIT"),
        ("/* x */ Rollback", "rollback", "ROLLBACK"),
        ("SAVEPOINT a", None, "SAVEPOINT"),
        ("ROLLBACK TO SAVEPOINT a", "restore", "ROLLBACK"),
        ("RELEASE a", None, "RELEASE"),
        ("DEALLOCATE ALL", None, "DEALLOCATE ALL"),
        ("CLOSE ALL", None, "CLOSE CURSOR ALL"),
        ("UNLISTEN *", None, "UNLISTEN"),
    ):
        talk.of["mia"].state.status = "T"  # savepoints are there in a transaction only
        planned = talk.run(talk.of["mia"].plan(sql, ()))
        assert (planned.step, planned.columns, talk.tag(sql)) == (step, None, tag)
    talk.of["mia"].state.status = "I"


@pytest.mark.parametrize(
    ("sql", "state"),
    [
        ("INSERT INTO tickets VALUES (1)", "25006"),
        ("CREATE TABLE x (y int)", "25006"),
        ("COPY tickets FROM STDIN", "25006"),
        ("COPY tickets TO '/tmp/x'", "42501"),
        ("PREPARE p AS SELECT 1", "0A000"),
    ],
)
def test_what_is_not_spoken_is_said_with_its_sqlstate(talk: Talk, sql: str, state: str) -> None:
    with pytest.raises(SqlStateError) as caught:
        talk.columns(sql)
    assert caught.value.sqlstate == state


@pytest.mark.parametrize(
    ("sql", "state", "position"),
    [
        ("SELECT * FROM pg_nosuch", "42P01", 15),
        ("SELECT 'ü', nosuch FROM pg_class", "42703", 13),
        ("SELECT nosuch(1)", "42883", 8),
        ("SELECT * FROM", "42601", 14),
        ("SELECT 'x'::regclass", "42P01", 8),
    ],
)
def test_what_is_not_there_is_said_with_its_sqlstate_and_place(
    talk: Talk, sql: str, state: str, position: int
) -> None:
    with pytest.raises(SqlError) as caught:
        talk.columns(sql)
    assert (caught.value.sqlstate, caught.value.position) == (state, position)


@pytest.mark.parametrize("sql", ["SELEC 1", "123", "'x'", "HELLO WORLD"])
def test_what_cannot_be_read_has_a_place(talk: Talk, sql: str) -> None:
    with pytest.raises(BadStatement) as caught:
        talk.columns(f"\n  {sql}")
    assert (caught.value.line, caught.value.column) == (2, 3)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" ; ;; -- nothing\n ; /* no /* nested */ ; */", 0),
        ("SELECT 1; SELECT 2;", 2),
        ("SELECT ';'; SELECT \";\"; SELECT E'\\';'; SELECT $$;$$; SELECT $a$;$$;$a$", 5),
        ("SELECT 1 /* ; /* ; */ ; */; SELECT 2 -- ;\n+ 1", 2),
        ("SELECT 'never ends; SELECT 2", 1),
        ("SELECT $1; SELECT $1$2", 2),
    ],
)
def test_a_text_is_split_where_statements_end(talk: Talk, text: str, count: int) -> None:
    found = talk.of["mia"].split(text)
    assert len(found) == count
    assert all(each in text for each in found)


@pytest.mark.parametrize(
    "sql",
    [
        "ASK 'when?'" + " --\n" * 3000,
        "ASK 'when?' NOCACHE" + " /* */" * 3000,
        "EXPLAIN ASK 'when?'" + " --\n" * 3000,
        "FETCH" + " --\n" * 3000 + "c",
        "CLOSE" + " --\n" * 3000 + "ALL",
        "SHOW" + " --\n" * 3000 + "TimeZone",
        "COPY (SELECT 1" + " --\n" * 3000 + ") TO STDOUT",
        "DECLARE c CURSOR WITH HOLD FOR SELECT 1" + " --\n" * 3000,
        "SELECT set_config('application_name', 'x', false)" + " --\n" * 3000,
    ],
)
def test_no_long_statement_is_read_on_the_event_loop(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    """Whatever reads tokens of it, be it for planning or for running, is in another thread."""
    read: list[int] = []
    next_piece, next_token = splitting._next, lexer.Cursor._read

    def noting(text: str, place: int) -> tuple[str, int]:
        read.append(threading.get_ident())
        return next_piece(text, place)

    def noting_too(self: lexer.Cursor) -> lexer.Token:
        read.append(threading.get_ident())
        return next_token(self)

    monkeypatch.setattr(splitting, "_next", noting)
    monkeypatch.setattr(lexer.Cursor, "_read", noting_too)

    async def planned_and_run() -> None:
        planned = await talk.of["mia"].plan(sql, ())
        with suppress(SqlStateError, AskError):
            await planned.run(())

    with suppress(SqlStateError, AskError):
        talk.run(planned_and_run())
    assert read
    assert threading.get_ident() not in read
