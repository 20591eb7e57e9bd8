"""What workers have their parent do gives way on the processor, and is one at a time a tenant."""

import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from contextvars import ContextVar
from functools import partial
from pathlib import Path

import pytest
from waiting import SECONDS, until

from redask.app import parts, process_parts
from redask.core.access.worker_shares import ASK_NICENESS, SAME_TENANT, SAME_USER, Lane, WorkerClaim
from redask.core.ports import Embedder
from redask.core.settings import Settings
from redask.core.synonyms import Synonyms
from redask.embedding.models.hashed import Hashed
from redask.embedding.models.openai_embeddings import OpenAiCompatible, RemoteModel
from redask.engine.processes.parent_threads import ParentThreads
from redask.engine.processes.worker_processes import WorkerProcesses

ADA, EVE = WorkerClaim("north", "ada", Lane.ASK), WorkerClaim("south", "eve", Lane.ASK)
WHOSE: ContextVar[str] = ContextVar("whose", default="nobody's")


@pytest.fixture
def threads() -> Iterator[ParentThreads]:
    with closing(ParentThreads()) as made:
        yield made


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no niceness here")
def test_work_is_as_nice_as_its_call_and_nothing_else_is(threads: ParentThreads) -> None:
    own = os.nice(0)
    found = [threads.run("north", each, niceness) for each in (3, 8, 3, 30)]
    assert found == [min(19, own + each) for each in (3, 8, 3, 30)]
    assert niceness() == own


def test_what_it_raises_and_the_context_of_its_caller_are_the_callers(
    threads: ParentThreads,
) -> None:
    WHOSE.set("ada's")
    assert threads.run("north", 3, WHOSE.get) == "ada's"
    with pytest.raises(KeyError):
        threads.run("north", 3, partial(dict[str, int]().__getitem__, "x"))


def test_a_tenants_work_is_done_one_at_a_time_and_anothers_meanwhile(
    threads: ParentThreads,
) -> None:
    going, begun = threading.Event(), []

    def wait(name: str) -> str:
        begun.append(name)
        assert going.wait(SECONDS)
        return name

    with ThreadPoolExecutor(4) as callers:
        asked = [
            callers.submit(threads.run, "south", each, partial(wait, f"south {each}"))
            for each in (3, 5, 8)
        ]
        assert until(lambda: len(begun) == 1)
        assert threads.run("north", 3, lambda: "north") == "north"
        assert len(begun) == 1
        going.set()
        assert sorted(each.result(SECONDS) for each in asked) == ["south 3", "south 5", "south 8"]
    assert not threads._turns  # a tenant that has nothing there is forgotten


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no niceness here")
def test_worker_processes_have_work_done_at_the_niceness_of_their_call(tmp_path: Path) -> None:
    going, arrived, nice = threading.Event(), threading.Semaphore(0), list[int]()
    own = os.nice(0)  # of this thread

    def noted() -> None:
        nice.append(niceness() - own)
        arrived.release()
        assert going.wait(SECONDS)

    made = WorkerProcesses(
        *("worker_services:make", (str(tmp_path),)),
        size=4,
        parent_work={"noted": noted, "niceness": lambda: niceness() - own},
        parent_threads=ParentThreads(),
    )
    with closing(made) as pool, ThreadPoolExecutor(2) as callers:
        call = partial(pool.call, "from_parent", timeout_seconds=SECONDS)
        first = callers.submit(call, "noted", claim=EVE)
        assert arrived.acquire(timeout=SECONDS)
        second = callers.submit(call, "niceness", claim=EVE)  # after the first
        assert call("niceness", claim=ADA) == [ASK_NICENESS] * 2
        assert not second.done()
        going.set()
        first.result(SECONDS)
        assert nice[0] == ASK_NICENESS
        assert second.result(SECONDS) == [ASK_NICENESS + SAME_TENANT + SAME_USER] * 2


@pytest.mark.parametrize(
    ("embedder", "gives_way"),
    [(Hashed(), True), (OpenAiCompatible(RemoteModel("http://127.0.0.1:9/v1", "m")), False)],
)
def test_only_what_is_embedded_on_this_machine_gives_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedder: Embedder, gives_way: bool
) -> None:
    """Texts that are embedded elsewhere take no processor here: they go at once."""
    given: list[object] = []

    class Noted:
        def __init__(self, *_: object, **named: object) -> None:
            given.append(named["parent_threads"])

        def warm(self) -> "Noted":
            return self

        def close(self) -> None:
            pass

    monkeypatch.setattr(process_parts, "ProcessSelector", Noted)
    with ExitStack() as opened:
        parts.selector_of(str(tmp_path), Settings(), Synonyms(), embedder, opened, serving=True)
    assert [each is not None for each in given] == [gives_way]
