"""Nobody looks a token up on the event loop: a backend may take its time."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

import redask
from redask.api.asynchronous import AsyncDatabase
from redask.core.errors import BadAsk
from redask.stores.relational.users import RelationalUsers

QUESTION = "When does the ferry leave?"
NOTE = "urn:reddb:row:notes/1"


async def streamed(db: AsyncDatabase) -> None:
    async for _ in db.stream(QUESTION, using="scripted"):
        pass


DONE: dict[str, Callable[[AsyncDatabase], Awaitable[object]]] = {
    "ask": lambda db: db.ask(QUESTION, using="scripted"),
    "explain": lambda db: db.explain(QUESTION, using="scripted"),
    "stream": streamed,
    "search": lambda db: db.search(QUESTION),
    "execute": lambda db: db.execute("ASK 'when?' USING scripted"),
    "describe": lambda db: db.describe("SELECT id FROM notes"),
    "tables": lambda db: db.tables(),
    "put": lambda db: db.put("notes", [{"id": 2}]),
    "embed": lambda db: db.embed(),
    "ingest": lambda db: db.ingest("nowhere"),
    "link": lambda db: db.link(NOTE, "x", NOTE),
    "delete": lambda db: db.delete("urn:reddb:row:notes/9"),
    "get": lambda db: db.get(NOTE),
    "audit": lambda db: db.audit(),
    "verify_audit": lambda db: db.verify_audit(),
    "spending": lambda db: db.spending(),
    "doctor": lambda db: db.doctor(),
    "users": lambda db: db.users(),
    "add_user": lambda db: db.add_user("zoe", role="x"),
    "set_user": lambda db: db.set_user("mia", attributes={}),
    "make_token": lambda db: db.make_token("mia"),
    "tokens": lambda db: db.tokens(),
    "revoke_token": lambda db: db.revoke_token("x"),
    "remove_user": lambda db: db.remove_user("nobody"),
    "policies": lambda db: db.policies(),
    "set_policy": lambda db: db.set_policy("notes", None),
    "preview_policy": lambda db: db.preview_policy(role="x"),
    "catch_up": lambda db: db.catch_up(),
}

CHANGES = {"add_user", "set_user", "make_token", "revoke_token", "remove_user", "set_policy"}


@pytest.mark.parametrize("signing", ["sent", "proven"])
@pytest.mark.parametrize("name", DONE)
def test_a_token_is_looked_up_in_a_thread_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, signing: str
) -> None:
    looked: list[threading.Thread] = []
    stored = RelationalUsers._stored

    def noting(self: RelationalUsers, token_id: str) -> object:
        looked.append(threading.current_thread())
        return stored(self, token_id)

    monkeypatch.setattr(RelationalUsers, "_stored", noting)

    async def main() -> None:
        async with await redask.aopen(tmp_path, embedder="none") as db:
            await db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
            await db.add_user("mia", role="owner")
            token = await db.make_token("mia")
            mia = await (
                db.signed_in(token) if signing == "sent" else db.holding(token.split("_")[1])
            )
            assert len(looked) == 1
            with suppress(BadAsk):  # some have nothing to work on
                await DONE[name](mia)

    asyncio.run(main())
    assert len(looked) >= 2
    assert threading.current_thread() not in looked
    if name in CHANGES:  # before its first row in the access log, and when its turn comes
        assert len(looked) == 3
    elif name not in ("ingest", "execute"):
        assert len(looked) == 2
