"""Listening sockets that outlive a restart: `ListeningSockets.open` and `hand_over`.

SIGHUP restarts a server: what runs is finished, then the process executes itself anew. The ports of
HTTP and of PostgreSQL clients stay open meanwhile: `hand_over` names copies of their sockets in the
environment, and the new program's `open` takes them from there. Whoever connects in between waits
in the socket's queue and is served by the new program. gRPC opens its port itself, so that one is
closed for that time; its clients connect again by themselves.
"""

import os
import socket
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager

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

    def reserve(self, name: str, host: str, port: int) -> socket.socket:
        """A socket that keeps a port for processes that open it themselves, by SO_REUSEPORT."""
        inherited = self._inherited.pop(name, None)
        if inherited is not None:
            os.set_inheritable(inherited, False)
            self._opened[name] = socket.socket(fileno=inherited)
        else:
            self._opened[name] = _bind(host, port)
        return self._opened[name]

    @property
    def all_open(self) -> bool:
        """Whether none was closed."""
        return all(each.fileno() >= 0 for each in self._opened.values())

    def close(self) -> None:
        """Close all of them."""
        for each in self._opened.values():
            each.close()

    def copy(self) -> dict[str, int]:
        """Descriptors of the same sockets, which stay open when those are closed."""
        return {name: os.dup(each.fileno()) for name, each in self._opened.items()}

    def hand_over(self, copies: dict[str, int]) -> None:
        """Let the program that this process executes next have the copies."""
        for each in copies.values():
            os.set_inheritable(each, True)
        self._environment[VARIABLE] = written(copies)


def written(descriptors: dict[str, int]) -> str:
    """As the environment has them."""
    return ",".join(f"{name}={number}" for name, number in descriptors.items())


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
    with _refusing(host, port):
        family, address = _resolved(host, port)
        made = socket.create_server(address, family=family)
        # asyncio sets TCP_NODELAY only on sockets that are declared to be TCP
        return socket.socket(made.family, made.type, socket.IPPROTO_TCP, fileno=made.detach())


def _bind(host: str, port: int) -> socket.socket:
    """A socket at a port that others of this user may have, too; nobody else."""
    with _refusing(host, port):
        family, address = _resolved(host, port)
        _listen(host, port).close()  # one that somebody listens at is refused
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        made.bind(address)
        return made


def _resolved(host: str, port: int) -> tuple[int, tuple[str, int]]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = found[0]
    return family, (str(address[0]), int(address[1]))


@contextmanager
def _refusing(host: str, port: int) -> Iterator[None]:
    try:
        yield
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Misconfigured(f"port {port} of {host} cannot be opened: {reason}") from None
