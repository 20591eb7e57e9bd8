"""Clients on several nodes of one cluster while things break: `run(cluster, name, …)` → History.

Nodes are open databases of this process, each with connections, an index and a clock of its own:
the first reads the primary, the others standbys; one has a clock that is three days ahead, one is
behind a proxy that is cut. `FAULTS` happen one after the other, each healed before the next.
"""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial

import pytest
from node_histories import NOTHING, Asked, History, Operation
from postgres_cluster import Cluster, Cut
from waiting import until

import redask
from redask.core.errors import AskError
from redask.core.model import Caller
from redask.core.ports import Account
from redask.core.rules.audit_chain import Intact
from redask.core.rules.cost import Allow, Reject, Spent, dollars
from redask.core.settings import load
from redask.stores.postgres import pg_location

TOML = '[embedder]\nname = "none"\n[ask]\ntimeout_ms = 120000'
SETTINGS = load(TOML, {})
OWNER = Caller()
KEYS, CAP, AMOUNT = 6, 20_000, 700
_THREE_DAYS = 3 * 86_400 * 10**9
Node = redask.OpenDatabase
Fault = Callable[[Cluster, Cut], AbstractContextManager[None]]


@contextmanager
def primary_stopped(servers: Cluster, _: Cut) -> Iterator[None]:
    servers.primary.stop()
    yield
    servers.primary.start()


@contextmanager
def primary_paused(servers: Cluster, _: Cut) -> Iterator[None]:
    servers.primary.pause()
    yield
    servers.primary.resume()


@contextmanager
def standby_stopped(servers: Cluster, _: Cut) -> Iterator[None]:
    servers.standbys[0].stop()
    yield
    servers.standbys[0].start()


@contextmanager
def standby_paused(servers: Cluster, _: Cut) -> Iterator[None]:
    servers.standbys[0].pause()
    yield
    servers.standbys[0].resume()


@contextmanager
def standby_lagging(servers: Cluster, _: Cut) -> Iterator[None]:
    servers.standbys[0].execute("SELECT pg_wal_replay_pause()")
    yield
    servers.standbys[0].execute("SELECT pg_wal_replay_resume()")


@contextmanager
def network_cut(_: Cluster, proxy: Cut) -> Iterator[None]:
    proxy.is_cut = True
    yield
    proxy.is_cut = False


@contextmanager
def connections_ended(servers: Cluster, _: Cut) -> Iterator[None]:
    servers.primary.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'redask'"
    )
    yield


@contextmanager
def connections_exhausted(servers: Cluster, _: Cut) -> Iterator[None]:
    servers.primary.execute("ALTER ROLE redask CONNECTION LIMIT 2")
    with connections_ended(servers, _):
        yield
    servers.primary.execute("ALTER ROLE redask CONNECTION LIMIT -1")


FAULTS = (
    standby_lagging,
    connections_ended,
    primary_stopped,
    standby_stopped,
    network_cut,
    connections_exhausted,
    standby_paused,
    primary_paused,
)


class Run:
    """Clients, nodes and what they did."""

    def __init__(self, nodes: list[Node], operations: int, seed: int) -> None:
        self.history = History(cap=CAP)
        self._nodes, self._seed = nodes, seed
        self._left = operations
        self._lock = threading.Lock()
        self.done = 0

    def take(self) -> int:
        """The number of the next operation; 0 at the end."""
        with self._lock:
            self._left -= 1
            self.done += 1
            return self.done if self._left >= 0 else 0

    def wait_for(self, done: int, seconds: float) -> None:
        """Until so many operations have begun, or no longer."""
        until(lambda: self.done >= done, seconds)

    def work(self, client: int) -> None:
        chosen = random.Random(f"{self._seed}/{client}")
        while number := self.take():
            node = chosen.choice(self._nodes)
            kind = chosen.choices(("write", "read", "ask", "spend"), (4, 10, 3, 2))[0]
            key = chosen.randrange(KEYS)
            if kind == "ask":
                self._ask(node, f"Why was pilot {key} late? ({number})")
            elif kind == "spend":
                spend(node)
            else:
                self._note(node, kind, key, number)

    def _ask(self, node: Node, question: str) -> None:
        answered = False
        with suppress(AskError):
            answered = bool(node.ask(question).answer)
        self.history.asks.append(Asked(question, answered))

    def _note(self, node: Node, kind: str, key: int, number: int) -> None:
        begun, told, value = time.monotonic(), False, number
        with suppress(AskError):
            if kind == "write":
                node.put("pilots", [{"id": key, "value": number, "note": "The pilot was late."}])
            else:
                value = shown(node, key)
            told = True
        ended = time.monotonic()
        self.history.operations.append(Operation(kind, key, value, begun, ended, told))


def shown(node: Node, key: int) -> int:
    """The value of a key on a node."""
    found = node._async._app.backend.store.get(f"urn:reddb:row:pilots/{key}", OWNER)
    if found is None:
        return NOTHING
    return int(found.payload.partition('"value":')[2].split(",")[0].rstrip("}"))


def spend(node: Node) -> None:
    """Set an amount aside as the engine does, and book a part of it."""
    app = node._async._app

    def check(spent: Spent) -> Allow | Reject:
        fits = spent.usd + dollars(AMOUNT) <= dollars(CAP)
        return Allow() if fits else Reject("cap", 0, 0, "")

    with suppress(AskError):
        account = Account("local", app.clock() // (86_400 * 10**9), "openai")
        number = app.backend.ledger.reserve(account, AMOUNT, check)
        if isinstance(number, int):
            app.backend.ledger.settle(number, AMOUNT // 2)


@contextmanager
def opened_nodes(servers: Cluster, name: str, proxy: Cut) -> Iterator[list[Node]]:
    """Four nodes; see the module."""
    with ExitStack() as nodes, pytest.MonkeyPatch.context() as patch:

        def node(number: int, read_url: str = "", port: int | None = None, ahead: int = 0) -> Node:
            patch.setenv(pg_location.READ_URL, read_url)
            url = f"{servers.primary.url(name, port=port)}?application_name=node{number}"
            made = redask.open(
                url, settings=SETTINGS, clock=lambda: time.time_ns() + ahead, embedder="none"
            )
            return nodes.enter_context(made)

        replica = servers.standbys[0].url(name)
        yield [
            node(0),
            node(1, replica),
            node(2, replica, ahead=_THREE_DAYS),
            node(3, replica, port=proxy.port),
        ]


def run(
    servers: Cluster,
    name: str,
    *,
    operations: int,
    clients: int = 4,
    faults: tuple[Fault, ...] = FAULTS,
    seed: int = 1,
) -> History:
    """Run clients through faults, mend all, and look."""
    with Cut(servers.primary.port) as proxy, opened_nodes(servers, name, proxy) as nodes:
        happening = [partial(fault, servers, proxy) for fault in faults]
        return run_on(nodes, happening, operations=operations, clients=clients, seed=seed)


def run_on(
    nodes: list[Node],
    faults: Sequence[Callable[[], AbstractContextManager[None]]],
    *,
    operations: int,
    clients: int = 4,
    seed: int = 1,
) -> History:
    """The same on nodes that are open."""
    made = Run(nodes, operations, seed)
    threads = [threading.Thread(target=made.work, args=(at,)) for at in range(clients)]
    for each in threads:
        each.start()
    for at, fault in enumerate(faults, start=1):
        made.wait_for(operations * at // (len(faults) + 1), 3600)
        with fault():
            made.wait_for(made.done + max(operations // (3 * len(faults)), clients + 1), 20)
    for each in threads:
        each.join()
    assert until(lambda: all(is_well(node) for node in nodes)), "a node does not recover"
    look(made.history, nodes)
    return made.history


def is_well(node: Node) -> bool:
    try:
        node._async._app.backend.audit.append([])
        return shown(node, 0) >= NOTHING
    except AskError:
        return False


def look(history: History, nodes: list[Node]) -> None:
    """What all nodes show at the end."""
    for node in nodes:
        for key in range(KEYS):
            begun = time.monotonic()
            value = shown(node, key)
            read = Operation("read", key, value, begun, time.monotonic())
            history.operations.append(read)
    history.rows = rows_of(nodes[0])
    history.is_chain_intact = isinstance(nodes[0].verify_audit(), Intact)
    today = time.time_ns() // (86_400 * 10**9)
    ledger = nodes[0]._async._app.backend.ledger
    history.spent = max(ledger.total("local", day) for day in range(today - 1, today + 5))


def rows_of(node: Node) -> Counter[str]:
    rows: Counter[str] = Counter()
    before = None
    while page := node.audit(1000, before=before):
        rows.update(str(each.row["question"]) for each in page)
        before = page[-1].seq
    return rows
