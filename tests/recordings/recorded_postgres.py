"""PostgreSQL's wire: columns with their types, rows as they came, command tags, and SQLSTATEs."""

from pathlib import Path
from typing import Any

import psycopg
import world
from psycopg import pq
from started import served
from surface import Recorded

STATEMENTS: tuple[tuple[str, tuple[object, ...] | None], ...] = (
    ("ASK 'How is a torn sail mended?' LIMIT 2", None),
    ("ASK %s LIMIT 1", ("torn sail",)),
    ("ASK %s USING scripted MODEL 'mending' LIMIT 1", ("torn sail",)),
    ("EXPLAIN ASK 'How is a torn sail mended?' LIMIT 2", None),
    ("EXPLAIN ASK %s COLLECTION manual", ("torn sail",)),
    ("SELECT * FROM tickets ORDER BY id LIMIT 3", None),
    ("SELECT * FROM boats ORDER BY id", None),
    ("SELECT id, length_m, public, note FROM boats WHERE id = %s", ("möwe",)),
    ("SELECT count(*), avg(length_m), max(name), min(public) FROM boats", None),
    ("SELECT 1 AS a, 2.5 AS b, 'c' AS c, NULL AS d", None),
    ("SELECT id FROM tickets WHERE id > %s AND region = %s ORDER BY id", (10, "north")),
    ("SELECT id FROM tickets WHERE id = %s", (21.0,)),
    ("SELECT id FROM boats WHERE public = %s ORDER BY id", (True,)),
    ('SELECT "from", label FROM links ORDER BY urn LIMIT 2', None),
    ("SELECT question, cache_hit, cost_usd, errors FROM red_ask_audit ORDER BY seq LIMIT 2", None),
    ("SELECT * FROM red_ask_audit WHERE false", None),
    ("SELECT version()", None),
    ("SELECT current_user, current_database(), current_schema()", None),
    ("SELECT tablename, tableowner FROM pg_catalog.pg_tables ORDER BY tablename", None),
    ("SELECT relname, relkind FROM pg_class WHERE relkind = 'r' ORDER BY relname LIMIT 20", None),
    ("SELECT nspname FROM pg_catalog.pg_namespace ORDER BY 1", None),
    ("SELECT typname, oid FROM pg_type ORDER BY oid", None),
    (
        "SELECT table_name, column_name, data_type FROM information_schema.columns "
        "WHERE table_schema = 'public' ORDER BY table_name, ordinal_position",
        None,
    ),
    (
        "SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a "
        "WHERE a.attrelid = 'tickets'::regclass AND a.attnum > 0 ORDER BY a.attnum",
        None,
    ),
    ("SHOW server_version", None),
    ("SHOW ALL", None),
    ("SET application_name TO 'recorder'", None),
    ("SHOW application_name", None),
    ("SET fish TO 1", None),
    ("BEGIN", None),
    ("COMMIT", None),
    ("SAVEPOINT a", None),
    ("DISCARD ALL", None),
    ("", None),
    ("SELECT * FROM secrets", None),
    ("SELECT * FROM nothing", None),
    ("SELECT cost FROM tickets", None),
    ("SELECT a.id FROM boats a, boats b, boats c", None),
    ("SELECT FROM", None),
    ("SELECT fish()", None),
    ("SELECT 'x'::fish", None),
    ("SELECT 1; SELECT 2", None),
    ("DELETE FROM tickets", None),
    ("CREATE TABLE x (y int)", None),
    ("COPY tickets FROM STDIN", None),
    ("DECLARE c CURSOR FOR SELECT 1", None),
    ("VACUUM", None),
    ("ASK 'why' LIMIT 500", None),
    ("ASK 'why' STREAM", None),
    ("ASK why", None),
    ("ASK 'why' USING nobody", None),
    ("ASK 'why' USING deepseek", None),
    ("ASK 'why' COLLECTION secrets", None),
    ("ASK 'sail' USING scripted MODEL 'inventing' LIMIT 1", None),
    ("ASK 'sail' USING scripted MODEL 'refused' LIMIT 1", None),
    ("ASK 'sail' USING scripted MODEL '5xx' LIMIT 1", None),
    ("ASK %s", ("sail " * 3000,)),
    ("FISH", None),
)
BINARY = (
    "SELECT id, length_m, public, name, note FROM boats ORDER BY id LIMIT 3",
    "ASK 'torn sail' LIMIT 1",
    "SELECT tags, id FROM tickets ORDER BY id LIMIT 2",
)
PARAMETERS = (
    *("server_version", "server_encoding", "client_encoding", "DateStyle", "TimeZone"),
    *("integer_datetimes", "standard_conforming_strings", "is_superuser", "session_authorization"),
)


def record(place: Path) -> Recorded:
    """As mia, who may not see all; then how others fail to sign in."""
    tokens = world.fill(place / "db")
    with served(place / "db", "--no-http", "--no-grpc") as ports:
        where = {"host": "127.0.0.1", "port": ports["postgresql"], "dbname": "local"}
        with _connect(where, "mia", tokens["mia"]) as mia:
            said = {name: mia.info.parameter_status(name) for name in PARAMETERS}
            yield "parameters", said
            for number, (sql, params) in enumerate(STATEMENTS):
                yield f"{number} {sql} {str(params)[:60]}", _executed(mia, sql, params)
            for sql in BINARY:
                yield f"binary: {sql}", _executed(mia, sql, None, binary=True)
            yield "described", _described(mia)
            yield "transaction", _transaction(mia)
        with _connect(where, "olga", tokens["olga"]) as olga:
            yield "olga", _executed(olga, "SELECT * FROM secrets", None)
        yield "a bad token", _refused(where, "mia", "fish")
        yield "another's token", _refused(where, "mia", tokens["ben"])
        yield "gone", _refused(where, "gone", tokens["gone"])
        yield "another tenant", _refused({**where, "dbname": "acme"}, "mia", tokens["mia"])


def _connect(where: dict[str, Any], user: str, token: str) -> psycopg.Connection[Any]:
    return psycopg.connect(**where, user=user, password=token, autocommit=True, sslmode="disable")


def _executed(
    db: psycopg.Connection[Any], sql: str, params: tuple[object, ...] | None, binary: bool = False
) -> object:
    """The last result of a statement, or how it failed."""
    try:
        with db.cursor(binary=binary) as cursor:
            cursor.execute(sql.encode(), params)
            while cursor.nextset():
                pass
            return _result(cursor.pgresult)
    except psycopg.Error as error:
        return _error(error)


def _result(found: Any) -> object:
    """The command's tag, each column's name, type and length, and the values as they came."""
    columns = [
        [
            _text(found.fname(at)),
            found.ftype(at),
            found.fsize(at),
            found.fmod(at),
            found.fformat(at),
        ]
        for at in range(found.nfields)
    ]
    rows = [
        [_value(found.get_value(row, at), columns[at][-1]) for at in range(found.nfields)]
        for row in range(found.ntuples)
    ]
    return {"tag": _text(found.command_status), "columns": columns, "rows": rows}


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def _value(value: bytes | None, form: int) -> str | None:
    return _text(value) if form == 0 or value is None else value.hex()


def _error(error: psycopg.Error) -> object:
    fields = (name for name in dir(error.diag) if not name.startswith("_"))
    told = {name: getattr(error.diag, name) for name in fields}
    return {name: value for name, value in told.items() if isinstance(value, str)} or str(error)


def _described(db: psycopg.Connection[Any]) -> object:
    """What Describe says of a prepared statement, before it runs."""
    line, told = db.pgconn, []
    for sql in ("SELECT id, cost FROM boats, limits", "ASK $1 LIMIT 1", STATEMENTS[5][0]):
        made = line.prepare(b"it", sql.encode())
        found = line.describe_prepared(b"it")
        takes = [found.param_type(at) for at in range(found.nparams)]
        gives = [[_text(found.fname(at)), found.ftype(at)] for at in range(found.nfields)]
        failed = _text(made.error_field(pq.DiagnosticField.SQLSTATE))
        told.append([sql, failed, takes, gives])
        line.exec_(b"DEALLOCATE ALL")
    return told


def _transaction(db: psycopg.Connection[Any]) -> object:
    """A failed transaction stays failed until it is rolled back."""
    statements = ("BEGIN", "SELECT fish()", "SELECT 1", "ROLLBACK", "SELECT 1")
    return [[sql, _executed(db, sql, None), db.info.transaction_status.name] for sql in statements]


def _refused(where: dict[str, Any], user: str, token: str) -> object:
    try:
        _connect(where, user, token).close()
    except psycopg.OperationalError as error:
        return str(error).split("FATAL:")[-1].strip()
    return "signed in"
