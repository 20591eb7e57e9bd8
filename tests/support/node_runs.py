"""Clients on several nodes of one cluster while things break: `run(cluster, name, …)` → History.

Nodes are open databases of this process, each with connections, an index and a clock of its own.
There are eight: the first reads the primary, the others standbys; one has a clock that is three
days ahead, one is behind a proxy that is cut. `FAULTS` happen one after the other, each healed
before the next, and clients go on throughout. They write, read (the store, or by SELECT the tables
of a node), search on one node for what they wrote on another, ask, and ask a provider that costs
money, under a cap that all nodes together would exceed.
"""

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from typing import Any

import pytest
from node_histories import NOTHING, Asked, History, Operation, Searched
from postgres_cluster import Cluster, Cut
from stage import Player
from waiting import until

import redask
from redask.core.errors import AskError
from redask.core.model import Caller
from redask.core.ports import Completion
from redask.core.rules import cost
from redask.core.rules.audit_chain import Intact
from redask.core.settings import load
from redask.stores.postgres import pg_location

KEYS, NODES = 6, 8
KINDS = ("write", "read", "search", "ask", "spend")
CAP = 6_000  # billionths of a dollar: two calls at once, of which each sets more than 2,000 aside
TOML = f"""
ask.timeout_ms = 120000
ask.daily_cost_cap_usd = {cost.dollars(CAP):.9f}
"""
OWNER = Caller()
DAY = 86_400 * 10**9
Node = redask.OpenDatabase
Fault = Callable[[Cluster, Cut], AbstractContextManager[None]]


class Paid(Player):
    """Costs a billionth of a dollar a token: far less than is set aside before."""

    def price(self, prompt_tokens: int, completion_tokens: int) -> float:
        return cost.dollars(prompt_tokens + completion_tokens)

    async def complete(self, *given: Any, **rest: Any) -> Completion:
        await asyncio.sleep(0.02)  # for others to ask meanwhile
        return await super().complete(*given, **rest)


def open_node(url: str, *, ahead: int = 0) -> Node:
    """One more node; its clock is so many nanoseconds ahead."""
    return redask.open(
        url,
        settings=load(TOML, {}),
        clock=lambda: time.time_ns() + ahead,
        embedder="none",
        providers={"openai": Paid("openai", ["The pilot was late. [^1]"])},
    )


@contextmanager
def several(url: str, ahead: Sequence[int] = (0,) * NODES) -> Iterator[list[Node]]:
    """Nodes, alike but for their clocks."""
    with ExitStack() as opened:
        named = f"{url}{'&' if '?' in url else '?'}application_name=node"
        yield [
            opened.enter_context(open_node(f"{named}{number}", ahead=each))
            for number, each in enumerate(ahead)
        ]


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
        self._operations = operations
        self._lock = threading.Lock()
        self.done = 0
        self.is_mended = False  # until then clients go on, though they have done all they should

    def take(self) -> int:
        """The number of the next operation; 0 at the end."""
        with self._lock:
            self.done += 1
            return self.done if self.done <= self._operations or not self.is_mended else 0

    def wait_for(self, done: int, seconds: float) -> None:
        """Until so many operations have begun, or no longer."""
        until(lambda: self.done >= done, seconds)

    def work(self, client: int) -> None:
        chosen = random.Random(f"{self._seed}/{client}")
        while number := self.take():
            node = chosen.choice(self._nodes)
            kind = chosen.choices(KINDS, (4, 10, 2, 3, 2))[0]
            key = chosen.randrange(KEYS)
            if kind == "ask":
                self._ask(node, f"Why was pilot {key} late? ({number})")
            elif kind == "spend":
                self._ask(node, f"Who says that pilot {key} was late? ({number})", using="openai")
                self._look_at_money(node)
            elif kind == "search":
                self._search(node, chosen.choice(self._nodes), number)
            else:
                self._note(node, kind, key, number)

    def _ask(self, node: Node, question: str, **options: str) -> None:
        answered = False
        with suppress(AskError):
            answered = bool(node.ask(question, **options).answer)
        self.history.asks.append(Asked(question, answered))

    def _look_at_money(self, node: Node) -> None:
        with suppress(AskError):
            self.history.spent = max(self.history.spent, spent(node))

    def _search(self, node: Node, other: Node, number: int) -> None:
        """A row of its own for each: what fails may be written at any time."""
        with suppress(AskError):
            (urn,) = node.put("logbooks", [{"id": number, "note": f"The sign is sign{number}."}])
            found = [hit.urn for hit in other.search(f"sign{number}")]
            self.history.searches.append(Searched(urn, urn in found))

    def _note(self, node: Node, kind: str, key: int, number: int) -> None:
        begun, told, value = time.monotonic(), False, number
        with suppress(AskError):
            if kind == "write":
                node.put("pilots", [{"id": key, "value": number, "note": "The pilot was late."}])
            else:
                value = (shown if number % 2 else selected)(node, key)
            told = True
        ended = time.monotonic()
        self.history.operations.append(Operation(kind, key, value, begun, ended, told))


def shown(node: Node, key: int) -> int:
    """The value of a key on a node."""
    found = node._async._app.backend.store.get(f"urn:reddb:row:pilots/{key}", OWNER)
    if found is None:
        return NOTHING
    return int(found.payload.partition('"value":')[2].split(",")[0].rstrip("}"))


def selected(node: Node, key: int) -> int:
    """The same, in the tables that the node keeps."""
    found = [dict(each) for each in node.select(f"SELECT value FROM pilots WHERE id = {key}")]
    return int(str(found[0]["value"])) if found else NOTHING


def spent(node: Node) -> int:
    """What is booked or set aside today, or yesterday if more; and on days that are wrong."""
    ledger, today = node._async._app.backend.ledger, cost.day_of(time.time_ns())
    totals = {day: ledger.total("local", day) for day in range(today - 9, today + 9)}
    right = max(totals.pop(today), totals.pop(today - 1))  # a test may run over midnight
    return right + sum(totals.values())


@contextmanager
def opened_nodes(servers: Cluster, name: str, proxy: Cut) -> Iterator[list[Node]]:
    """The nodes of the module."""
    with ExitStack() as nodes, pytest.MonkeyPatch.context() as patch:

        def node(number: int, read_url: str = "", port: int | None = None, ahead: int = 0) -> Node:
            patch.setenv(pg_location.READ_URL, read_url)
            url = f"{servers.primary.url(name, port=port)}?application_name=node{number}"
            return nodes.enter_context(open_node(url, ahead=ahead))

        replica, other = (each.url(name) for each in servers.standbys)
        yield [
            node(0),
            node(1, replica),
            node(2, replica, ahead=3 * DAY),
            node(3, replica, port=proxy.port),
            *(node(number, other if number % 2 else replica) for number in range(4, NODES)),
        ]


def run(
    servers: Cluster,
    name: str,
    *,
    operations: int,
    clients: int = NODES,
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
    clients: int = NODES,
    seed: int = 1,
) -> History:
    """The same on nodes that are open."""
    made = Run(nodes, operations, seed)
    threads = [threading.Thread(target=made.work, args=(at,)) for at in range(clients)]
    for each in threads:
        each.start()
    try:
        for at, fault in enumerate(faults, start=1):
            made.wait_for(operations * at // (len(faults) + 1), 3600)
            with fault():
                made.wait_for(made.done + max(operations // (3 * len(faults)), clients + 1), 20)
        made.wait_for(made.done + clients, 20)
    finally:
        made.is_mended = True
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
    history.spent = max(history.spent, spent(nodes[0]))


def rows_of(node: Node) -> Counter[str]:
    rows: Counter[str] = Counter()
    before = None
    while page := node.audit(1000, before=before):
        rows.update(str(each.row["question"]) for each in page)
        before = page[-1].seq
    return rows
