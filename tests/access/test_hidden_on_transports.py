"""What is hidden stays so on every transport: twins that differ in hidden things alone are alike.

Two servers have the same files but for a foreign key that a reader does not see, rows the reader
does not see, and a collection that is not open to the reader. Whatever the reader sends, by
whatever transport, the replies of the one are those of the other; the owner's differ.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import grpc
import httpx
import psycopg
import pytest
from server_thread import ServerThread
from waiting import SECONDS

import redask
from redask.core.settings import load
from redask.server import jsonrpc
from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.generated import redask_pb2_grpc

SCHEMA = """
CREATE TABLE customers (no INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE orders (
    no INTEGER PRIMARY KEY, title TEXT, open TEXT, customer_id INTEGER REFERENCES customers (no)
);
"""
TITLES = ("blue kettle", "red lamp", "green chair", "white vase")
RULE = {"roles": ["reader"], "hide": ["customer_id"], "rows": "open = 'yes'"}
STATEMENTS = (
    "SELECT * FROM orders ORDER BY no",
    "SELECT count(*), max(no) FROM orders",
    "SELECT * FROM links",
    "SELECT count(*) FROM links",
    "SELECT customer_id FROM orders",
    "SELECT * FROM plans",
    "SELECT relname, reltuples FROM pg_class WHERE relnamespace = 2200 ORDER BY relname",
    "SELECT conname FROM pg_constraint ORDER BY conname",
    "SELECT attname FROM pg_attribute WHERE attrelid = 'orders'::regclass ORDER BY attnum",
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
    "SELECT count(*) FROM pg_stats",
    "EXPLAIN ASK 'Which customer has the blue kettle?'",
    "ASK 'How many orders are there?'",
    "ASK 'What did Ada Holm order?' PLAN OFF DEPTH 3",
    "ASK 'What is the plan of the north?' COLLECTION plans",
)
COPIES = (
    "COPY orders TO STDOUT",
    "COPY (SELECT * FROM orders ORDER BY no) TO STDOUT (FORMAT csv, HEADER)",
    "COPY links TO STDOUT",
    "COPY plans TO STDOUT",
)
CURSORS = (
    "SELECT * FROM orders ORDER BY no",
    "SELECT * FROM links",
    "SELECT * FROM plans",
)
QUESTIONS = ("Which customer has the blue kettle?", "How many orders has Ben Rau?", "white vase")
URNS = (
    *(f"urn:reddb:row:orders/{number}" for number in (1, 3, 4, 9)),
    "urn:reddb:row:plans/1",
    "urn:reddb:row:plans/2",
    "urn:reddb:row:customers/1",
)


class Twin(ServerThread):
    """One of the two; `owners` are the customers of the orders."""

    def __init__(self, directory: Path, owners: tuple[int | None, ...], hidden: str) -> None:
        super().__init__(directory, http_port=0, grpc_port=0, pg_port=0)
        self.owners, self.hidden = owners, hidden

    def __enter__(self) -> "Twin":
        file = self.directory.parent / f"{self.directory.name}-files" / "shop.db"
        file.parent.mkdir()
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.executescript(SCHEMA)
            named = enumerate(("Ada Holm", "Ben Rau", "Cleo Park"), start=1)
            connection.executemany("INSERT INTO customers VALUES (?, ?)", named)
            rows = [
                (number, title if number < 4 else self.hidden, ("yes", "no")[number == 4], owner)
                for number, (title, owner) in enumerate(
                    zip(TITLES, self.owners, strict=True), start=1
                )
            ]
            connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", rows)
        settings = load('[embedder]\nname = "none"\n[access]\nedge_ids = "content"\n', {})
        with redask.open(self.directory, settings=settings) as db:
            db.ingest(str(file))
            db.put("plans", [{"id": 1, "text": f"the plan of the north is {self.hidden}"}])
            db.set_policy("orders", {"read": [RULE]})
            db.set_policy("plans", {"read": [{"roles": ["spy"]}]})
            self.edges = [row["urn"] for row in db.select("SELECT urn FROM links ORDER BY urn")]
        super().__enter__()
        return self


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Twin, Twin]]:
    place = tmp_path_factory.mktemp("twins")
    with (
        Twin(place / "a", (1, 2, 2, None), "white vase") as first,
        Twin(place / "b", (3, None, 1, 1), "black crow of gold") as second,
    ):
        yield first, second


def everything(server: Twin) -> list[str]:
    return [*URNS, *server.edges]


def http(server: Twin, user: str, urns: list[str]) -> Iterator[object]:
    headers = {"Authorization": f"Bearer {server.tokens[user]}"}
    with httpx.Client(base_url=server.addresses[0], headers=headers, timeout=SECONDS) as client:
        for each in STATEMENTS:
            yield client.post("/v1/query", json={"statement": each}).text
        for each in QUESTIONS:
            for path in ("/v1/ask", "/v1/explain", "/v1/search"):
                yield client.post(path, json={"question": each}).text
            options = {"evidence": True, "plan": "off", "depth": 3}
            yield client.post("/v1/ask", json={"question": each, "options": options}).text
            yield client.post("/v1/ask", json={"question": each, "stream": True}).text
            for stream in (False, True):
                chat = {"model": "redask", "messages": [{"role": "user", "content": each}]}
                reply = client.post("/v1/chat/completions", json={**chat, "stream": stream})
                yield re.sub(r'"(created|id)":("chatcmpl-\w+"|\d+)|:\d+/entity', "", reply.text)
        for urn in urns:
            yield client.get(f"/v1/sources/{quote(quote(urn, safe=''), safe='')}").text
            yield client.get(f"/v1/sources/{quote(urn, safe='')}").text


def mcp(server: Twin, user: str, urns: list[str]) -> Iterator[object]:
    headers = {
        "Authorization": f"Bearer {server.tokens[user]}",
        "Accept": "application/json, text/event-stream",
    }
    template = {"type": "ref/resource", "uri": "redask://collections/{collection}"}
    messages: list[tuple[str, dict[str, Any]]] = [
        ("resources/list", {}),
        ("resources/templates/list", {}),
        *(
            ("resources/read", {"uri": f"redask://collections/{each}"})
            for each in ("orders", "plans")
        ),
        ("resources/read", {"uri": "redask://collections/links"}),
        *(("resources/read", {"uri": urn}) for urn in urns),
        *(
            (
                "completion/complete",
                {"ref": template, "argument": {"name": "collection", "value": v}},
            )
            for v in ("", "p", "plans", "o")
        ),
        ("tools/call", {"name": "redask_collections", "arguments": {}}),
        *(
            ("tools/call", {"name": tool, "arguments": {"question": each}})
            for tool in ("redask_ask", "redask_plan", "redask_explain", "redask_search")
            for each in QUESTIONS
        ),
        *(
            ("tools/call", {"name": "redask_select", "arguments": {"statement": each}})
            for each in STATEMENTS
            if each.startswith("SELECT")
        ),
        *(("tools/call", {"name": "redask_source", "arguments": {"urn": urn}}) for urn in urns),
    ]
    with httpx.Client(base_url=server.addresses[0], headers=headers, timeout=SECONDS) as client:
        for method, params in messages:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            yield client.post("/mcp", json=message).text


def over_grpc(server: Twin, user: str, _: list[str]) -> Iterator[object]:
    metadata = [("authorization", f"Bearer {server.tokens[user]}")]
    address = server.addresses[1].removeprefix("grpc://")
    with grpc.insecure_channel(address) as channel:
        stub: Any = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]

        def called(work: Callable[[], Any]) -> object:
            try:
                return str(work())
            except grpc.RpcError as error:
                told: Any = error
                return told.code().name, told.details()

        for each in STATEMENTS:
            asked = pb.QueryRequest(statement=each)
            yield called(lambda a=asked: stub.Query(a, metadata=metadata))  # type: ignore[misc]
        for each in QUESTIONS:
            ask = pb.AskRequest(question=each, depth=3)
            yield called(lambda a=ask: stub.Ask(a, metadata=metadata))  # type: ignore[misc]
            yield called(lambda a=ask: list(stub.AskStream(a, metadata=metadata)))  # type: ignore[misc]
            yield called(lambda a=ask: stub.Explain(a, metadata=metadata))  # type: ignore[misc]


def postgres(server: Twin, user: str, _: list[str]) -> Iterator[object]:
    with psycopg.connect(
        f"{server.addresses[2]}/local", user=user, password=server.tokens[user], autocommit=True
    ) as connection:

        def told(work: Callable[[], object]) -> object:
            try:
                return str(work())
            except psycopg.Error as error:
                return str(error), error.sqlstate

        for each in STATEMENTS:
            yield told(lambda s=each: connection.execute(s).fetchall())  # type: ignore[misc]
        for each in COPIES:

            def copied(statement: str = each) -> bytes:
                with connection.cursor().copy(statement.encode()) as copy:
                    return b"".join(map(bytes, copy))

            yield told(copied)
        for each in CURSORS:

            def fetched(statement: str = each) -> list[Any]:
                with connection.transaction():
                    connection.execute(f"DECLARE c CURSOR FOR {statement}".encode())
                    first = connection.execute("FETCH 2 FROM c").fetchall()
                    return [first, connection.execute("MOVE ALL FROM c").statusmessage]

            yield told(fetched)


def rpc(server: Twin, user: str, _: list[str]) -> Iterator[object]:
    """As `redask rpc` serves one client."""

    async def main() -> list[bytes]:
        session = await server.db.signed_in(server.tokens[user])
        sent: list[bytes] = []
        messages: list[dict[str, Any]] = [
            *({"method": "query", "params": {"statement": each}} for each in STATEMENTS),
            *(
                {"method": method, "params": {"question": each}}
                for each in QUESTIONS
                for method in ("ask", "explain", "search", "stream")
            ),
        ]

        async def lines() -> Any:
            for number, message in enumerate(messages):
                yield json.dumps({"jsonrpc": "2.0", "id": number, **message}).encode()

        async def write(line: bytes) -> None:
            sent.append(line)

        await jsonrpc.serve(session, lines(), write)
        return sorted(sent, key=_id)

    yield from server.run(main())


def _id(line: bytes) -> tuple[int, str]:
    message = json.loads(line)
    own = message.get("id", message.get("params", {}).get("id"))
    return int(own), str(message.get("method", "~"))


WAYS: dict[str, Callable[[Twin, str, list[str]], Iterator[object]]] = {
    "http": http,
    "mcp": mcp,
    "grpc": over_grpc,
    "postgres": postgres,
    "rpc": rpc,
}


def found(twins: tuple[Twin, Twin], way: str, user: str) -> tuple[list[str], list[str]]:
    urns = sorted({urn for each in twins for urn in everything(each)})
    first, second = (
        [re.sub(r"x-request-id: \w+", "", str(each)) for each in WAYS[way](twin, user, urns)]
        for twin in twins
    )
    return first, second


@pytest.mark.parametrize("way", WAYS)
def test_readers_of_twins_get_the_same(twins: tuple[Twin, Twin], way: str) -> None:
    first, second = found(twins, way, "mia")
    assert len(first) > 10
    for number, (one, other) in enumerate(zip(first, second, strict=True)):
        assert one == other, number
    said = str(first)
    assert "black crow" not in said
    assert "reddb:edge" not in re.sub(r"there is no \S+", "", said)


@pytest.mark.parametrize("way", WAYS)
def test_owners_of_twins_do_not(twins: tuple[Twin, Twin], way: str) -> None:
    first, second = found(twins, way, "olga")
    different = [one != other for one, other in zip(first, second, strict=True)]
    assert sum(different) >= 4
