"""A host on loopback that speaks OpenAI's /embeddings; its vectors are `Hashed`'s."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from loopback import Loopback, Received, Wire

from redask.embedding.models.hashed import Hashed

Reply = tuple[int, bytes]


def embedded(body: dict[str, Any]) -> Reply:
    """What a good host answers; last text first, for the index tells the order."""
    vectors = Hashed().embed(body["input"])
    data = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
    return 200, json.dumps({"data": data[::-1]}).encode()


@dataclass
class EmbeddingHost:
    """What it was asked, and what it is to answer: nothing at all where it is silent."""

    url: str = ""
    reply: Callable[[dict[str, Any]], Reply] = embedded
    silent: bool = False
    calls: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    def answer(self, received: Received) -> Wire:
        self.calls.append(received.body | {"path": received.path})
        self.keys.append(received.headers.get("authorization"))
        if self.silent:
            return Wire(silent=True)
        status, content = self.reply(received.body)
        if status in (301, 302, 307):
            return Wire(status, content, headers=(("Location", content.decode()),))
        return Wire(status, content)


@contextmanager
def hosting() -> Iterator[EmbeddingHost]:
    """A host that runs until the end of the block."""
    host = EmbeddingHost()
    with Loopback() as server:
        server.play(host.answer)
        host.url = server.url
        yield host
