"""Messages of a PostgreSQL client, honest and not: `batch(rng)` and `stranger(rng)`.

A `Volley` is what one connection sends. In a framed one every length is right, so that the server
can be asked at the end whether it is still there; an unframed one is cut, glued and lied about.
"""

import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import fake_pgwire as wire

STATEMENTS = (
    "ASK 'When does the ferry leave?' USING scripted",
    "ASK 'ferry' COLLECTION notes LIMIT 2 USING scripted CACHE TTL '5m'",
    "ASK $1 USING scripted LIMIT 3 CACHE TTL '1h'",
    "EXPLAIN ASK 'it''s a lighthouse' DEPTH 1",
    "ASK 'x' STREAM",
    "ASK 'x' COLLECTION secrets",
    *("SELECT * FROM notes", "SELECT id, text FROM notes WHERE id = $1", "SELECT 1", "SELECT $1"),
    *("SELECT count(*) FROM odd", "SELECT * FROM secrets", "SELECT * FROM red_ask_audit LIMIT 2"),
    *("SELECT 1 AS a, 'ü' AS b, NULL, 1.5, $1::int8", "SELECT 1; SELECT 2; SELEC", "", ";;", "--"),
    *("BEGIN", "COMMIT", "ROLLBACK", "ROLLBACK TO s", "SAVEPOINT s", "START TRANSACTION"),
    *("SHOW server_version", "SHOW ALL", "SET application_name = 'x'", "RESET ALL", "DISCARD ALL"),
    *("SELECT version()", "SELECT current_user", "SELECT pg_advisory_unlock_all()", "DEALLOCATE a"),
    "SELECT nspname FROM pg_catalog.pg_namespace ORDER BY 1",
    "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid LIMIT 9",
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
    "SELECT typname, oid FROM pg_type WHERE oid = ANY($1)",
    *("INSERT INTO notes VALUES (1)", "DROP TABLE notes", "COPY notes TO STDOUT", "LISTEN x"),
    "WITH RECURSIVE c(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM c) SELECT * FROM c LIMIT 3",
    "SELECT '\u2028 \U0001f6a2' || $1, E'\\x41', $tag$ ; $tag$ /* ; */",
)
NAMES = ("", "", "", "a", "b", "ü", "x" * 70, "\U0001f6a2")
OIDS = (0, 0, 16, 20, 23, 25, 26, 114, 700, 701, 1043, 1082, 1184, 1700, 2950, 3802, 1009, 7, 2**31)
VALUES = (
    *(None, b"", b"1", b"-1", b"t", b"ferry", "Ümläut's".encode(), b"{1,2}", b"\xff\xfe", b"a\0b"),
    *(bytes(1), bytes(2), bytes(4), bytes(8), bytes(16), b"\x7f" + bytes(7), b"1e400", b"NaN"),
    *(b"2024-01-01", b"[]", b'{"a": [1, null]}', b"\1{}", struct.pack("!hhhh", 1, 0, 0, 5)),
)
EXTREMES = (b"\0\0", b"\xff\xff", b"\x7f\xff", bytes(4), b"\xff" * 4, b"\x7f\xff\xff\xff", b"\0")


@dataclass(frozen=True, slots=True)
class Volley:
    """What one connection sends, message by message."""

    messages: tuple[bytes, ...]
    is_framed: bool


def batch(rng: random.Random, count: int) -> Volley:
    """What somebody sends who is signed in."""
    is_framed = rng.random() < 0.9
    harm = rng.choice((0.03, 0.1, 0.3, 0.7))
    made: list[bytes] = []
    while len(made) < count:
        for message in series(rng) if rng.random() < 0.7 else [honest(rng)]:
            made.append(reframed(rng, message) if rng.random() < harm else message)
    if not is_framed:
        made = [broken(rng, each) if rng.random() < 0.1 else each for each in made]
    return Volley(tuple(made), is_framed)


def series(rng: random.Random) -> list[bytes]:
    """A statement from Parse to Sync, as drivers do it, with something left out or doubled."""
    name, portal, sent = rng.choice(NAMES), rng.choice(NAMES), statement(rng)
    values = rng.choices(VALUES, k=min(2, sent.count("$")))
    whole = [
        wire.close("S", name),
        wire.parse(sent, name, _some(rng, OIDS)),
        wire.describe("S", name),
        wire.bind(values, portal, name, _some(rng, (0, 0, 1)), _some(rng, (0, 1))),
        wire.describe("P", portal),
        wire.execute(portal, rng.choice((0, 0, 1, 2))),
        wire.execute(portal, rng.choice((0, 1))),
        wire.SYNC,
    ]
    return [each for each in whole for _ in range(rng.choice((0, 1, 1, 1, 1, 1, 1, 2)))]


def connect(rng: random.Random) -> Volley:
    """What somebody sends who has no token."""
    made = []
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        made.append(rng.choice((wire.SSL_REQUEST, wire.GSS_REQUEST, wire.cancel(rng.randbytes(8)))))
    made.append(_start_up(rng))
    words = rng.choice(
        (b"n,,n=,r=abc", b"y,,n=x,r=abc", b"p=x,,n=,r=a", b"n,,n=,r=", rng.randbytes(9))
    )
    mechanism = rng.choice(("SCRAM-SHA-256",) * 3 + ("SCRAM-SHA-256-PLUS", "PLAIN", ""))
    made.append(wire.sasl_first(words, mechanism))
    proof = rng.choice((b"c=biws,r=abc,p=AAAA", b"c=biws,r=", rng.randbytes(20), b""))
    made.append(wire.framed(b"p", proof))
    made += [honest(rng) for _ in range(rng.choice((0, 1, 3)))]
    if rng.random() < 0.2:
        rng.shuffle(made)
    harmed = [broken(rng, each) if rng.random() < 0.3 else each for each in made]
    return Volley(tuple(harmed), False)


def _start_up(rng: random.Random) -> bytes:
    version = rng.choice((3 << 16,) * 6 + (3 << 16 | 2, 3 << 16 | 9999, 2 << 16, 4 << 16, 0))
    sent = {"user": rng.choice(("mia", "nobody", "local", "")), "database": "local"}
    for name in rng.sample(("options", "replication", "_pq_.a", "client_encoding", "x"), k=2):
        sent[name] = rng.choice(("", "on", "-c statement_timeout=1", "ü" * 9, "database"))
    return wire.start_up(version, **sent)


def honest(rng: random.Random) -> bytes:
    """A message that a client could mean."""
    make: Callable[[], bytes] = rng.choices(
        (
            lambda: wire.query(statement(rng)),
            lambda: wire.parse(statement(rng), rng.choice(NAMES), _some(rng, OIDS)),
            lambda: _bind(rng),
            lambda: wire.describe(rng.choice("SP"), rng.choice(NAMES)),
            lambda: wire.execute(rng.choice(NAMES), rng.choice((0, 0, 1, 2, -1, 2**31 - 1))),
            lambda: wire.close(rng.choice("SP"), rng.choice(NAMES)),
            lambda: wire.FLUSH,
            lambda: wire.SYNC,
            lambda: wire.framed(rng.choice((b"d", b"c", b"f", b"F")), rng.randbytes(5)),
        ),
        (3, 8, 8, 5, 8, 3, 2, 10, 1),
    )[0]
    return make()


def _bind(rng: random.Random) -> bytes:
    values = rng.choices(VALUES, k=rng.choice((0, 0, 1, 1, 2)))
    formats, results = _some(rng, (0, 1, 1, 2)), _some(rng, (0, 1, 1))
    return wire.bind(values, rng.choice(NAMES), rng.choice(NAMES), formats, results)


def _some(rng: random.Random, choices: Sequence[int]) -> list[int]:
    return rng.choices(choices, k=rng.choice((0, 0, 0, 1, 1, 2)))


def statement(rng: random.Random) -> str:
    """A statement, often harmed. Asks cost most, so they are rare."""
    sent = rng.choice(STATEMENTS[3:] if rng.random() < 0.95 else STATEMENTS)
    while rng.random() < 0.4:
        start = rng.randrange(len(sent) + 1)
        end = min(len(sent), start + rng.choice((0, 1, 3, 9)))
        new = rng.choice(
            ("", "'", '"', "$", "$2", ";", "(", ")", " ", ",", "::", "\\", "é", "NULL")
        )
        sent = sent[:start] + new + sent[end:]
    return sent.replace("\0", "")


def reframed(rng: random.Random, message: bytes) -> bytes:
    """A harmed inside with a length that is right."""
    kind, body = message[:1], bytearray(message[5:])
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(body) + 1)
        match rng.randrange(6):
            case 0:
                del body[at : at + rng.choice((1, 2, 8))]
            case 1:
                body[at:at] = rng.randbytes(rng.choice((1, 2, 8)))
            case 2 if body:
                body[at % len(body)] ^= 1 << rng.randrange(8)
            case 3:
                extreme = rng.choice(EXTREMES)
                body[at : at + len(extreme)] = extreme
            case 4:
                del body[at:]
            case _:
                kind = rng.choice((kind, kind, *(b"Q", b"P", b"B", b"D", b"E", b"C", b"H", b"S")))
    return wire.framed(kind, bytes(body))


def broken(rng: random.Random, message: bytes) -> bytes:
    """Bytes whose lengths may lie."""
    harmed = bytearray(message)
    match rng.randrange(5):
        case 0:
            harmed[1:5] = rng.choice(EXTREMES)[:4].rjust(4, b"\0")
        case 1:
            harmed = harmed[: rng.randrange(len(harmed) + 1)]
        case 2:
            harmed[0] = rng.randrange(256)
        case 3:
            harmed += rng.randbytes(rng.choice((1, 5, 200)))
        case _:
            at = rng.randrange(len(harmed))
            harmed[at] ^= 1 << rng.randrange(8)
    return bytes(harmed)
