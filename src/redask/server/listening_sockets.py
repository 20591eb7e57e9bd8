"""Listening sockets that outlive a restart: `ListeningSockets.open` and `hand_over`.

SIGHUP restarts a server: what runs is finished, then the process executes itself anew. The ports of
HTTP and of PostgreSQL clients stay open meanwhile: `hand_over` names copies of their sockets in the
environment, and the new program's `open` takes them from there. Whoever connects in between waits
in the socket's queue and is served by the new program. gRPC opens its port itself, so that one is
closed for that time; its clients connect again by themselves.
"""

import os
import socket
from collections.abc import MutableMapping

from redask.core.errors import Misconfigured

VARIABLE = "REDASK_LISTENING"  # such as "http=7,pg=9": what a restart hands over


class ListeningSockets:
    """The sockets of one server, by the name of their transport."""

    def __init__(self, environment: MutableMapping[str, str] = os.environ) -> None:
        self._environment = environment
        self._inherited = _read(environment.pop(VARIABLE, ""))
        self._opened: dict[str, socket.socket] = {}

    def open(self, name: str, host: str, port: int) -> socket.socket:
        """The socket that was handed over, or a new one; a clear error if it cannot be had."""
        inherited = self._inherited.pop(name, None)
        found = _taken(inherited) if inherited is not None else None
        self._opened[name] = found or _listen(host, port)
        return self._opened[name]

    @property
    def all_open(self) -> bool:
        """Whether none was closed."""
        return all(each.fileno() >= 0 for each in self._opened.values())

    def copy(self) -> dict[str, int]:
        """Descriptors of the same sockets, which stay open when those are closed."""
        return {name: os.dup(each.fileno()) for name, each in self._opened.items()}

    def hand_over(self, copies: dict[str, int]) -> None:
        """Let the program that this process executes next have the copies."""
        for each in copies.values():
            os.set_inheritable(each, True)
        told = ",".join(f"{name}={number}" for name, number in copies.items())
        self._environment[VARIABLE] = told


def _read(told: str) -> dict[str, int]:
    pairs = (each.partition("=") for each in told.split(",") if each)
    return {name: int(number) for name, _, number in pairs if number.isdecimal()}


def _taken(descriptor: int) -> socket.socket | None:
    """The socket behind a descriptor; None if there is none, and a new one must be opened."""
    try:
        found = socket.socket(fileno=descriptor)
        if found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            os.set_inheritable(descriptor, False)
            return found
        found.detach()  # not ours to close
    except OSError:
        pass
    return None


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket, or a clear error; uvicorn would exit the process."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        made = socket.create_server(address[:2], family=family)
        # asyncio sets TCP_NODELAY only on sockets that are declared to be TCP
        return socket.socket(made.family, made.type, socket.IPPROTO_TCP, fileno=made.detach())
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Misconfigured(f"port {port} of {host} cannot be opened: {reason}") from None
