"""HAProxy as docs/postgresql.md configures it: `with proxy(place, nodes) as url`."""

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

PAGE = Path(__file__).parents[2] / "docs" / "postgresql.md"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def configured(port: int, nodes: list[str], *, checks: bool) -> str:
    """The page's configuration for these nodes, without TLS.

    Without `checks` a busy machine is not down; with them a node is looked at more often.
    """
    found = re.search(r"```haproxy haproxy.cfg\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    text = found[1]
    text = text.replace("bind :8443 ssl crt /etc/haproxy/redask.pem", f"bind 127.0.0.1:{port}")
    for number, node in enumerate(nodes, start=1):
        text, count = re.subn(rf"10\.0\.0\.1{number}:8080", urlsplit(node).netloc, text)
        assert count == 1
    return (
        text.replace("inter 2s", "inter 200ms") if checks else text.replace("fall 2", "fall 1000")
    )


@contextmanager
def proxy(place: Path, nodes: list[str], *, checks: bool = False) -> Iterator[str]:
    program = shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    assert program, "haproxy is missing: tools/clients.sh installs it"
    port, file = free_port(), place / "haproxy.cfg"
    file.write_text(configured(port, nodes, checks=checks))
    running = subprocess.Popen([program, "-db", "-f", str(file)], stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait()
