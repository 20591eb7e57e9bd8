"""Where checkpoints go, each a place of the operator's: a file, a command, a URL.

    file       lines are added to it, and on disk when that is done; made so that only its owner
               reads it
    command    gets the lines on its standard input; status 0: it has them
    url        gets them by POST, one JSON object a line; 2xx: it has them. https, or this machine

Each raises `StoreFailed` where it could not be done, within some seconds.
"""

import ipaddress
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from redask.core.errors import Misconfigured, StoreFailed
from redask.providers.sealing.operator_commands import SECONDS, run_command


@dataclass(frozen=True, slots=True)
class FileSink:
    """A file that grows."""

    path: str

    @property
    def name(self) -> str:
        """What it is called where it fails."""
        return f"file {self.path}"

    def deliver(self, lines: Sequence[str]) -> None:
        """Add lines to it, all or none."""
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                _append(descriptor, _bytes(lines))
            finally:
                os.close(descriptor)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "it is no path"
            raise StoreFailed(f"audit.seal.file cannot be written: {why}") from None


def _append(descriptor: int, data: bytes) -> None:
    """Durably add to a file; where that fails, what was added is taken back."""
    before, written = os.fstat(descriptor).st_size, 0
    try:
        while written < len(data):
            written += os.write(descriptor, data[written:])
        os.fsync(descriptor)
    except OSError:
        with suppress(OSError):
            if os.fstat(descriptor).st_size == before + written:  # else another has added to it
                os.ftruncate(descriptor, before)
        raise


@dataclass(frozen=True, slots=True)
class CommandSink:
    """A command that takes them."""

    command: str

    @property
    def name(self) -> str:
        """What it is called where it fails; its words may hold a secret."""
        return f"command {self.command.split(maxsplit=1)[0]}"

    def deliver(self, lines: Sequence[str]) -> None:
        """Run it."""
        run_command(self.command, _bytes(lines), "audit.seal.command")


@dataclass(frozen=True, slots=True)
class UrlSink:
    """An address that they are posted to."""

    url: str

    def __post_init__(self) -> None:
        """Refuse an address that would be read on the way."""
        try:
            parts = urlsplit(self.url)
            host, _ = parts.hostname or "", parts.port
        except ValueError:
            parts, host = urlsplit(""), ""
        if not host or not (parts.scheme == "https" or (parts.scheme == "http" and _is_here(host))):
            raise Misconfigured(
                "audit.seal.url must be an https:// address", detail="audit.seal.url"
            )

    @property
    def name(self) -> str:
        """What it is called where it fails; what comes after the host may be a secret."""
        return f"url {urlsplit(self.url).scheme}://{urlsplit(self.url).hostname}"

    def deliver(self, lines: Sequence[str]) -> None:
        """Post them."""
        import httpx2  # takes a while

        due = time.monotonic() + SECONDS
        head = {"content-type": "application/x-ndjson"}
        try:
            with (
                httpx2.Client(timeout=SECONDS, follow_redirects=False) as client,
                client.stream("POST", self.url, content=_bytes(lines), headers=head) as reply,
            ):
                if not reply.is_success or time.monotonic() > due:
                    raise StoreFailed(f"audit.seal.url answered HTTP {reply.status_code}")
        except (httpx2.HTTPError, httpx2.InvalidURL):
            raise StoreFailed("audit.seal.url cannot be reached") from None


def _bytes(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
