"""The tables that statements run over: Chinook, three databases of the computing pack, and our own.

    build(directory)            a redask database with all of them
    COLUMN_TYPES                what the columns of our own tables are announced as

Our own tables have every type, NULLs, ties, empty text, letters of both cases, umlauts and the
characters that patterns treat specially. Doubles are sums of powers of two, so that no sum depends
on the order of its rows.
"""

import os
from pathlib import Path

import redask

DATA = Path(os.environ.get("REDASK_DATA") or Path(__file__).parents[4] / "shared" / "data")
FILES = (
    DATA / "databases" / "chinook.sqlite",
    DATA / "compute" / "company_1" / "database.sqlite",
    DATA / "compute" / "customers_card_transactions" / "database.sqlite",
    DATA / "compute" / "bike_1" / "database.sqlite",
)
COLUMN_TYPES: dict[str, dict[str, str]] = {
    "kinds": {
        "id": "int4",
        "n": "int4",
        "big": "int8",
        "price": "numeric(18,2)",
        "ratio": "float8",
        "flag": "bool",
        "day": "date",
        "moment": "timestamp",
        "instant": "timestamptz",
        "clock": "time",
        "code": "uuid",
        "label": "text",
        "note": "text",
        "doc": "jsonb",
        "nums": "int4[]",
        "tags": "text[]",
    },
    "words": {"id": "int4", "word": "text", "lang": "text", "score": "numeric(18,1)"},
    "bookings": {
        "id": "int4",
        "kind_id": "int4",
        "starts": "timestamp",
        "ends": "timestamp",
        "amount": "numeric(18,3)",
        "seats": "int4",
        "share": "float8",
        "status": "text",
    },
    "roads": {"id": "int4", "src": "text", "dst": "text", "km": "int4"},
    "cases": {"id": "int4", "Name": "text", "name": "text", "Select": "int4", "a b": "text"},
}
Row = dict[str, object]


def build(directory: Path) -> None:
    """Write everything into a new database."""
    with redask.open(directory) as db:
        for name, rows in own_tables().items():
            db.put(name, [_sparse(row) for row in rows])
        for path in FILES:
            db.ingest(path)


def own_tables() -> dict[str, list[Row]]:
    """The rows of our own tables, as JSON values; every row has every column."""
    return {
        "kinds": [_kind(number) for number in range(1, 41)],
        "words": [
            {"id": at, "word": word, "lang": ("de", "en", None)[at % 3], "score": at * 7 % 11 / 2}
            for at, word in enumerate(_WORDS, start=1)
        ],
        "bookings": [_booking(number) for number in range(1, 121)],
        "roads": [
            {"id": at, "src": one, "dst": two, "km": km}
            for at, (one, two, km) in enumerate(_ROADS, start=1)
        ],
        "cases": [
            {"id": at, "Name": f"N{at}", "name": f"n{at % 3}", "Select": at * 10, "a b": "x" * at}
            for at in range(1, 6)
        ],
    }


def _sparse(row: Row) -> Row:
    """A row as applications write it: half of what is NULL is just not there."""
    at = row["id"]
    assert isinstance(at, int)
    return {key: value for key, value in row.items() if value is not None or at % 2}


_SMALL = 2.0**-11  # eleven decimals: such a column is announced as doubles
_LABELS = ["alpha", "Beta", "gamma", "Alpha", "", "delta", "beta", "Ärger", "epsilon", "zeta"]
_NOTES = [
    "100%",
    "50_50",
    "back\\slash",
    "O'Neil",
    'say "hi"',
    " padded ",
    "ünder",
    "a%b_c",
    "Ab-1",
]
_DOCS: list[object] = [
    {"a": 1, "b": {"c": [1, 2, 3]}, "name": "one"},
    {"a": 2.5, "tags": ["x", "y"], "name": "two"},
    {"a": None, "flag": True},
    {"name": "ü", "a": -1, "nested": {"deep": {"er": "yes"}}},
    {},
]
_PLAIN = """Straße straße STRASSE äpfel Äpfel apple Apple banana Banane _under
 100% 50_50 back\\slash a.b a+b (x) [y] {z} ^top$ tab|pipe éclair Éclair ñandú 42 -7 3.14 1e5 007
 true yes NULL null""".split()
_WORDS: list[str | None] = [
    *_PLAIN,
    None,
    "",
    " ",
    " lead",
    "trail ",
    "two words",
    "line\nbreak",
    "tab\there",
    "日本語",
    "😀 ok",
]
_ROADS = [
    ("Ulm", "Bonn", 430), ("Bonn", "Kiel", 520), ("Kiel", "Jena", 450), ("Jena", "Ulm", 390),
    ("Ulm", "Jena", 400), ("Bonn", "Jena", 380), ("Kiel", "Kiel", 0), ("Hof", "Ulm", None),
    ("Jena", None, 10), ("Hof", "Bonn", 420),
]  # fmt: skip


def _kind(at: int) -> Row:
    day = f"20{19 + at % 6:02}-{at * 5 % 12 + 1:02}-{at * 11 % 28 + 1:02}"
    hour = f"{at * 7 % 24:02}:{at * 13 % 60:02}:{at * 17 % 60:02}"
    return {
        "id": at,
        "n": None if at % 9 == 0 else at * 7 % 23 - 8,
        "big": None if at % 11 == 0 else (at - 20) * 1_234_567_891_011 if at % 4 else at,
        "price": None if at % 10 == 3 else (at * 137 % 5000 - 700) / 100,
        "ratio": None if at % 8 == 5 else _SMALL if at == 17 else (at * 29 % 64 - 20) / 8,
        "flag": None if at % 7 == 4 else at % 3 == 0,
        "day": None if at % 12 == 7 else day if at != 20 else "2024-02-29",
        "moment": None if at % 13 == 6 else f"{day} {hour}" + (".125" if at % 5 == 0 else ""),
        "instant": None if at % 14 == 9 else f"{day}T{hour}Z",
        "clock": None if at % 6 == 2 else hour,
        "code": None if at % 15 == 8 else f"{at * 7919 % 65536:08x}-0000-4000-8000-{at % 5:012x}",
        "label": None if at % 16 == 10 else _LABELS[at % len(_LABELS)],
        "note": None if at % 5 == 1 else _NOTES[at % len(_NOTES)],
        "doc": None if at % 6 == 3 else _DOCS[at % len(_DOCS)],
        "nums": None if at % 7 == 2 else [at % 5, at % 3 * 10, at][: at % 4],
        "tags": None
        if at % 9 == 4
        else ["red", "Green", "blue sky", 'q"q', "c,d"][at % 3 : at % 5],
    }


def _booking(at: int) -> Row:
    month, day = at * 7 % 12 + 1, at * 3 % 28 + 1
    start = f"{2022 + at % 3}-{month:02}-{day:02} {at % 24:02}:{at * 7 % 60:02}:00"
    end = f"{2022 + at % 3 + at % 2}-{month:02}-{day % 28 + 1:02} {at * 5 % 24:02}:00:00"
    return {
        "id": at,
        "kind_id": None if at % 17 == 0 else at * 3 % 45 + 1,
        "starts": start,
        "ends": None if at % 6 == 5 else end,
        "amount": None if at % 19 == 0 else round((at * 1237 % 20000) / 1000 + 0.125, 3),
        "seats": at % 5,
        "share": _SMALL if at == 17 else (at % 32) / 32,
        "status": ["open", "paid", "Paid", "void", None][at * 2 % 5],
    }
