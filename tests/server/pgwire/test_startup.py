"""Start-up of real clients: options, an unknown database, TLS begun directly, channel binding."""

import base64
import hashlib
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from certificates import pair
from pgwire_server import PgwireServer

from redask.core.access.credentials import Verifiers
from redask.server.pgwire.protocol import channel_binding, scram
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.protocol.startup_options import startup_options
from redask.server.pgwire.session.runtime_parameters import RuntimeParameters


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PgwireServer]:
    folder = tmp_path_factory.mktemp("secure")
    certificate, key = pair(folder)
    with PgwireServer(folder / "db", certificate=certificate, key=key) as opened:
        yield opened


def connect(transport: PgwireServer, database: str = "local", **more: Any) -> psycopg.Connection:
    given = {"user": "mia", "password": transport.tokens["mia"], "autocommit": True, **more}
    return psycopg.connect(f"{transport.address}/{database}", **given)


def one(connection: psycopg.Connection, sql: str) -> Any:
    return connection.execute(sql).fetchall()[0][0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("-c a=b", [("a", "b")]),
        ("-ca=b  --work-mem=1", [("a", "b"), ("work_mem", "1")]),
        (r"-c search_path=a\ b\\c -c x=", [("search_path", r"a b\c"), ("x", "")]),
    ],
)
def test_options_are_read_as_a_command_line(text: str, found: list[tuple[str, str]]) -> None:
    assert startup_options(text) == found


@pytest.mark.parametrize("text", ["-x", "a=b", "-c", "-c name", "--", "-c =b", "-e"])
def test_other_options_are_refused(text: str) -> None:
    with pytest.raises(SqlStateError) as caught:
        startup_options(text)
    assert caught.value.sqlstate == "42601"


def test_options_of_start_up_hold_for_the_session(transport: PgwireServer) -> None:
    options = "-c statement_timeout=12s -c application_name=bi\\ tool -c myapp.user=7"
    with connect(transport, options=options) as connection:
        assert one(connection, "SHOW statement_timeout") == "12s"
        assert one(connection, "SELECT current_setting('application_name')") == "bi tool"
        connection.execute("SET statement_timeout = 1")
        connection.execute("RESET ALL")
        assert one(connection, "SHOW statement_timeout") == "12s"
        assert connection.info.parameter_status("application_name") == "bi tool"
    for bad, state in (
        ("-c statement_timeout=soon", "22023"),
        ("-c jit=maybe", "22023"),
        ("-c server_version=9", "55P02"),
        ("-z", "42601"),
    ):
        with pytest.raises(psycopg.OperationalError) as caught:
            connect(transport, options=bad)
        assert "FATAL" in str(caught.value), (bad, state)


def test_a_session_says_that_it_only_reads(transport: PgwireServer) -> None:
    with connect(transport) as connection:
        assert connection.info.parameter_status("default_transaction_read_only") == "on"
        assert one(connection, "SHOW transaction_read_only") == "on"
        connection.execute("SET default_transaction_read_only TO false")
        assert one(connection, "SHOW default_transaction_read_only") == "off"
        assert connection.info.parameter_status("default_transaction_read_only") == "off"
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("DELETE FROM notes")
        connection.execute("RESET default_transaction_read_only")
        assert one(connection, "SHOW default_transaction_read_only") == "on"
        settings = {row[0]: row[1] for row in connection.execute("SHOW ALL")}
        assert settings["default_transaction_read_only"] == "on"
    connect(transport, target_session_attrs="read-only").close()
    with pytest.raises(psycopg.OperationalError, match="read-only"):
        connect(transport, target_session_attrs="read-write")


@pytest.mark.parametrize("word", ["on", "true", "t", "yes", "y", "1", "ON"])
def test_words_for_on(word: str) -> None:
    parameters = RuntimeParameters({})
    parameters.set("jit", word)
    assert parameters.get("jit") == "on"


@pytest.mark.parametrize("word", ["", "o", "maybe", "2"])
def test_words_for_neither_on_nor_off(word: str) -> None:
    with pytest.raises(SqlStateError):
        RuntimeParameters({}).set("jit", word)


def test_an_unknown_database_is_named_to_who_may_sign_in(transport: PgwireServer) -> None:
    with pytest.raises(psycopg.OperationalError, match='database "elsewhere" does not exist'):
        connect(transport, "elsewhere")
    for database in ("local", "elsewhere"):
        with pytest.raises(psycopg.OperationalError, match="not a valid token"):
            connect(transport, database, password="wrong")


def test_keywords_and_capitals_are_names(transport: PgwireServer) -> None:
    with connect(transport) as connection:
        found = connection.execute("SELECT 1 AS table, 2 AS select, 3 AS user, 4 AS from")
        assert [each.name for each in found.description or ()] == "table select user from".split()
        rows = connection.execute("SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES").fetchall()
        assert ("notes",) in rows


# --- TLS -------------------------------------------------------------------------------------


@pytest.mark.parametrize("binding", ["disable", "prefer", "require"])
@pytest.mark.parametrize("negotiation", ["postgres", "direct"])
def test_sign_in_over_tls(secure: PgwireServer, negotiation: str, binding: str) -> None:
    with connect(
        secure,
        sslmode="verify-full",
        sslrootcert=str(secure.certificate),
        sslnegotiation=negotiation,
        channel_binding=binding,
    ) as connection:
        assert connection.pgconn.ssl_in_use
        rows = "SELECT repeat('x', 100000) FROM generate_series(1, 30)"
        assert len(connection.execute(rows).fetchall()) == 30


def test_binding_cannot_be_had_without_tls(transport: PgwireServer) -> None:
    with pytest.raises(psycopg.OperationalError, match="channel binding"):
        connect(transport, channel_binding="require", sslmode="disable")


def test_tls_for_another_protocol_is_closed(secure: PgwireServer, transport: PgwireServer) -> None:
    context = ssl.create_default_context(cafile=secure.certificate)
    for protocols in ([], ["h2"]):
        if protocols:
            context.set_alpn_protocols(protocols)
        with (
            socket.create_connection(("127.0.0.1", secure.port)) as raw,
            context.wrap_socket(raw, server_hostname="127.0.0.1") as tls,
        ):
            assert tls.recv(1) == b""
    with socket.create_connection(("127.0.0.1", transport.port)) as raw:
        raw.sendall(b"\x16\x03\x01\x00\x05hello")
        assert raw.recv(1) == b""


@pytest.mark.parametrize(
    ("algorithm", "digest"),
    [
        ("rsa:2048 -sha256", "sha256"),
        ("rsa:2048 -sha384", "sha384"),
        ("rsa:2048 -sha512", "sha512"),
        ("ec -pkeyopt ec_paramgen_curve:P-256 -sha256", "sha256"),
        ("ec -pkeyopt ec_paramgen_curve:P-256 -sha384", "sha384"),
        ("ed25519", None),
    ],
)
def test_the_end_point_is_the_hash_of_the_certificate(
    tmp_path: Path, algorithm: str, digest: str | None
) -> None:
    words = f"openssl req -x509 -newkey {algorithm} -nodes -days 2 -subj /CN=x"
    more = f"-keyout {tmp_path}/key.pem -out {tmp_path}/cert.pem"
    subprocess.run([*words.split(), *more.split()], check=True, capture_output=True)
    pem = (tmp_path / "cert.pem").read_text()
    der = ssl.PEM_cert_to_DER_cert(pem)
    expected = None if digest is None else hashlib.new(digest, der).digest()
    assert channel_binding.end_point(pem) == expected
    assert channel_binding.end_point(f"# ours\n{pem}{pem}") == expected


def test_what_is_no_certificate_has_no_end_point() -> None:
    assert channel_binding.end_point("") is None
    for der in (b"", b"\x30", b"\x30\x82\xff\xff", b"\x30\x03\x30\x01"):
        assert channel_binding.end_point(ssl.DER_cert_to_PEM_cert(der)) is None


@pytest.mark.parametrize(
    ("mechanism", "end_point", "first", "state"),
    [
        (scram.MECHANISM, None, b"n,,n=,r=abc", None),
        (scram.MECHANISM, None, b"y,,n=,r=abc", None),
        (scram.MECHANISM, b"hash", b"n,,n=,r=abc", None),
        (scram.MECHANISM, b"hash", b"y,,n=,r=abc", "28000"),
        (scram.MECHANISM, b"hash", b"p=tls-server-end-point,,n=,r=abc", "08P01"),
        (scram.BOUND, b"hash", b"p=tls-server-end-point,,n=,r=abc", None),
        (scram.BOUND, b"hash", b"p=tls-unique,,n=,r=abc", "08P01"),
        (scram.BOUND, b"hash", b"n,,n=,r=abc", "08P01"),
        (scram.BOUND, None, b"p=tls-server-end-point,,n=,r=abc", "08P01"),
    ],
)
def test_the_header_says_how_the_channel_is_bound(
    mechanism: str, end_point: bytes | None, first: bytes, state: str | None
) -> None:
    exchange = scram.Exchange(Verifiers(b"salt", ()), "ours", end_point, mechanism)
    if state is None:
        assert exchange.first(first).startswith(b"r=abcours,")
        return
    with pytest.raises(SqlStateError) as caught:
        exchange.first(first)
    assert caught.value.sqlstate == state


def test_a_binding_to_another_certificate_is_refused() -> None:
    exchange = scram.Exchange(Verifiers(b"salt", ()), "ours", b"hash", scram.BOUND)
    exchange.first(b"p=tls-server-end-point,,n=,r=abc")
    proof = base64.b64encode(bytes(32))
    for bound, is_right in ((b"hash", True), (b"other", False)):
        channel = base64.b64encode(b"p=tls-server-end-point,," + bound)
        words = b"c=" + channel + b",r=abcours,p=" + proof
        if is_right:
            assert exchange.final(words) is None  # nobody's token, but the right channel
        else:
            with pytest.raises(SqlStateError):
                exchange.final(words)
