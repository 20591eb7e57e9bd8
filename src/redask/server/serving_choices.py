"""What `redask serve` serves, and where: `Serving`, which `check` refuses what must not be of.

A file of its own: the parent of several processes needs it and nothing of what serves.
"""

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from redask.core.errors import Misconfigured
from redask.server.http.cross_origin import Origins

if TYPE_CHECKING:
    from redask.server.http.entering.entry_codes import EntryCodes


@dataclass(frozen=True, slots=True)
class Serving:
    """What to serve, and where; a port of None closes that transport, 0 takes any."""

    host: str = "127.0.0.1"
    http_port: int | None = 8080
    grpc_port: int | None = None
    pg_port: int | None = None
    anonymous: bool = False
    certificate: Path | None = None
    key: Path | None = None
    at_once: int = 64
    waiting: int = 256
    tenant: str | None = None  # if given, tokens must be for it
    plain_text: bool = False  # off loopback, too
    cors_origins: tuple[str, ...] = ()  # whose pages may call over HTTP
    entry: "EntryCodes | None" = None  # what a browser may come to the page with


def check(serving: Serving) -> None:
    """Refuse what must not be served."""
    if serving.anonymous and not is_loopback(serving.host):
        raise Misconfigured(
            f"without sign-in redask serves loopback addresses only, and {serving.host} is none"
        )
    if serving.certificate is None and not (is_loopback(serving.host) or serving.plain_text):
        raise Misconfigured(
            f"{serving.host} is no loopback address, and without TLS tokens and answers could be "
            "read on the way: give --certificate and --key, or --plain-text behind a proxy"
        )
    Origins(serving.cors_origins)
    if (serving.certificate is None) != (serving.key is None):
        raise Misconfigured("TLS needs both a certificate and a key")
    for path in (serving.certificate, serving.key):
        if path is not None and not path.is_file():
            raise Misconfigured(f"there is no file {path}")


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def shown(host: str) -> str:
    """A host as an address has it."""
    return f"[{host}]" if ":" in host else host
