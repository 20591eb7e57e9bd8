"""The parent of several processes opens the ports: `supervise`, until it is stopped."""

import asyncio
import signal
import socket
from collections.abc import Callable

from redask.core.errors import Misconfigured
from redask.server import connection_limits
from redask.server.listening_sockets import ListeningSockets
from redask.server.serving_choices import Serving
from redask.server.supervising.supervisor import Supervisor


async def supervise(
    serving: Serving,
    workers: int,
    ready: Callable[[list[str]], None],
    say: Callable[[str], None],
) -> bool:
    """Serve with so many processes until a signal comes. → whether to begin anew

    `ready` gets each transport's address, `say` a line of what happens to the processes.
    """
    if not hasattr(socket, "SO_REUSEPORT"):
        raise Misconfigured("--workers needs a system of Unix's kind")
    sockets, grpc_port = ListeningSockets(), None
    inherited: dict[str, socket.socket] = {}
    for name, port in (("http", serving.http_port), ("pg", serving.pg_port)):
        if port is not None:
            inherited[name] = sockets.open(name, serving.host, port)
            connection_limits.queue(inherited[name])
    if serving.grpc_port is not None:
        kept = sockets.reserve("grpc", serving.host, serving.grpc_port)
        grpc_port = int(kept.getsockname()[1])
    copies: dict[str, int] = {}
    supervisor = Supervisor(workers, inherited, grpc_port, say)

    def stop() -> None:
        supervisor.stop()
        sockets.close()  # or clients would wait at a port that nobody serves

    def begin_anew() -> None:
        if not supervisor.is_stopping:
            copies.update(sockets.copy())
            stop()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, stop)
    loop.add_signal_handler(signal.SIGTERM, stop)
    loop.add_signal_handler(signal.SIGHUP, begin_anew)
    try:
        await supervisor.run(ready)
    finally:
        sockets.close()
    if copies:
        sockets.hand_over(copies)
    return bool(copies)
