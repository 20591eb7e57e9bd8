"""A host on loopback that speaks OpenAI's /embeddings; its vectors are `Hashed`'s."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from redask.embedding.models.hashed import Hashed

Reply = tuple[int, bytes]


def embedded(body: dict[str, Any]) -> Reply:
    """What a good host answers; last text first, for the index tells the order."""
    vectors = Hashed().embed(body["input"])
    data = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
    return 200, json.dumps({"data": data[::-1]}).encode()


@dataclass
class EmbeddingHost:
    """What it was asked, and what it is to answer."""

    url: str = ""
    reply: Callable[[dict[str, Any]], Reply] = embedded
    silent: bool = False  # takes a call and says nothing until the block ends
    calls: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    connections: list[Any] = field(default_factory=list)
    hangs_up: bool = False  # after a reply, without having said so
    release: Callable[[], None] = lambda: None  # lets those go that it was silent to


@contextmanager
def hosting() -> Iterator[EmbeddingHost]:
    """A host that runs until the end of the block."""
    host = EmbeddingHost()
    ended = threading.Event()
    host.release = ended.set

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            host.connections.append(self.client_address)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            host.calls.append(body | {"path": self.path})
            host.keys.append(self.headers["Authorization"])
            if host.silent:
                ended.wait()
                return
            status, content = host.reply(body)
            self.send_response(status)
            if status in (301, 302, 307):
                self.send_header("Location", content.decode())
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            if host.hangs_up:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    host.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield host
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
