"""Several processes that are one server: the rules and messages between them, without a server."""

import asyncio
import socket
from collections.abc import Coroutine
from typing import Any

import pytest
from waiting import SECONDS, until_true

from redask.core.access.ask_shares import AskClaim
from redask.core.errors import Overloaded, StoreFailed
from redask.core.serving_limits import ALONE, ProcessPlace
from redask.server.connection_limits import ACCEPTED_AT_ONCE, accepted_at_once
from redask.server.listening_sockets import VARIABLE, ListeningSockets
from redask.server.pgwire.own_sessions.sessions_elsewhere import session_numbers
from redask.server.readiness import WORKER_MISSING, Readiness, is_ready
from redask.server.session_table import SESSION_SECONDS, SessionTable
from redask.server.supervising import process_link
from redask.server.supervising.message_channel import MessageChannel
from redask.server.supervising.process_link import ProcessLink, ProcessStart, place_of
from redask.server.supervising.shared_state import SharedState
from redask.server.supervising.supervisor import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    STEADY_SECONDS,
    pause_after,
)
from redask.server.wrong_tokens import WrongTokens


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, SECONDS))


# --- rules -------------------------------------------------------------------------------------


def test_the_pause_before_a_replacement_doubles_up_to_a_bound_and_begins_anew() -> None:
    pauses, pause = [], 0.0
    for _ in range(12):
        pause = pause_after(1.0, pause)
        pauses.append(pause)
    assert pauses[:4] == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE, 8 * FIRST_PAUSE]
    assert pauses[-1] == LONGEST_PAUSE
    assert pause_after(STEADY_SECONDS, LONGEST_PAUSE) == FIRST_PAUSE


@pytest.mark.parametrize("port", [None, 50051])
def test_a_process_reads_its_place_once(port: int | None) -> None:
    start = ProcessStart(ProcessPlace(1, 3), 7, port)
    environment = {process_link.VARIABLE: start.written()}
    assert place_of(environment) == start
    assert place_of(environment) is None  # programs that it starts are none of the server's


def test_the_number_of_a_session_says_whose_it_is() -> None:
    alone = session_numbers()
    assert [next(alone) for _ in range(3)] == [1, 2, 3]
    every = [session_numbers(ProcessPlace(number, 3)) for number in range(3)]
    found = [[next(each) for _ in range(4)] for each in every]
    assert found == [[3, 6, 9, 12], [4, 7, 10, 13], [5, 8, 11, 14]]


def test_processes_that_share_a_queue_take_one_connection_at_a_time() -> None:
    assert accepted_at_once(ALONE) == ACCEPTED_AT_ONCE
    assert accepted_at_once(ProcessPlace(0, 2)) == 1


def test_a_server_that_misses_a_process_says_so_and_is_ready() -> None:
    missing = [0]
    state = Readiness(ListeningSockets({}), lambda: missing[0])
    state.opened()
    assert state.reasons() == ()
    missing[0] = 1
    assert state.reasons() == (WORKER_MISSING,)
    assert is_ready(state.reasons())
    state.stopping()
    assert state.reasons() == ("stopping", WORKER_MISSING)


def test_a_port_is_reserved_for_processes_that_open_it_and_handed_over() -> None:
    environment: dict[str, str] = {}
    before = ListeningSockets(environment)
    port = before.reserve("grpc", "127.0.0.1", 0).getsockname()[1]
    before.hand_over(before.copy())
    before.close()
    assert not before.all_open
    after = ListeningSockets(environment)
    assert VARIABLE not in environment
    kept = after.reserve("grpc", "127.0.0.1", 0)
    assert kept.getsockname()[1] == port
    for _ in range(2):  # as many as the server has
        with socket.socket() as opened:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            opened.bind(("127.0.0.1", port))
            opened.listen()
    after.close()


# --- what is shared ------------------------------------------------------------------------------


def test_a_session_ends_with_its_time_and_when_it_is_dropped() -> None:
    now = [0.0]
    table = SessionTable[str](lambda: now[0])
    table.put("a", AskClaim("t", "mia"), "first")
    table.put("b", AskClaim("t", "mia"), "second")
    assert (table.get("a"), table.get("b"), table.get("c")) == ("first", "second", None)
    assert table.drop("b")
    assert not table.drop("b")
    now[0] = SESSION_SECONDS
    assert table.get("a") is None


def test_wrong_tokens_that_others_count_count_here_and_for_who_begins_later() -> None:
    now = [0.0]
    heard: list[tuple[str, str, str]] = []
    first = WrongTokens(clock=lambda: now[0], told=lambda *said: heard.append(said))
    second = WrongTokens(clock=lambda: now[0], key=first.key)
    first.succeeded("10.0.0.1", "good")
    for _ in range(6):
        first.failed("10.0.0.1", "wrong")
    for each in heard:
        second.hear(*each)
    third = WrongTokens(clock=lambda: now[0], key=first.key)
    third.restore(second.kept())
    for each_one in (first, second, third):
        with pytest.raises(Overloaded):
            each_one.check("10.0.0.1", "wrong")
        each_one.check("10.0.0.1", "good")
        each_one.check("10.0.0.2", "wrong")
        each_one.check("10.0.0.1", "another")
    heard.clear()
    first.succeeded("10.0.0.1", "wrong")
    first.failed("10.0.0.1", "good")
    for said in heard:
        third.hear(*said)
    assert [word for word, _, _ in heard] == ["good", "right", "bad", "wrong"]
    third.check("10.0.0.1", "wrong")
    heard.clear()
    first.succeeded("10.0.0.1", "wrong")  # nothing new: nobody is told
    assert heard == []


# --- messages ------------------------------------------------------------------------------------


async def linked(state: SharedState, number: int, count: int, opened: Any = None) -> ProcessLink:
    """A process's link and the parent's end of it."""
    ours, its = socket.socketpair()
    channel = state.channel(number, opened or (lambda addresses: None))
    await channel.open(ours)
    talking = asyncio.ensure_future(channel.run())
    link = await ProcessLink.connect(ProcessStart(ProcessPlace(number, count), its.detach(), None))
    link.on_lost(lambda: None)
    _KEPT.append(talking)
    return link


_KEPT: list[Any] = []


async def nobody(_: int) -> None:
    """All others have ended."""


def test_processes_ask_and_tell_each_other_through_their_parent() -> None:
    async def main() -> None:
        state = SharedState(nobody)
        opened: list[list[str]] = []

        def note(addresses: list[str]) -> None:
            opened.append(addresses)

        links = [await linked(state, number, 3, note) for number in range(3)]
        links[0].tell("opened", addresses=["http://x"])
        heard: list[tuple[int, str]] = []
        for number, link in enumerate(links):
            link.on("said", lambda word, number=number: heard.append((number, word)))
            link.on("doubled", _doubled)
        links[0].tell_others("said", word="all")
        links[1].tell_process(2, "said", word="one")
        links[1].tell_process(9, "said", word="nobody")
        assert await links[2].ask_process(0, "doubled", value="é\ud800") == "é\ud800é\ud800"
        await until_true(lambda: len(heard) == 3)
        assert sorted(heard) == [(1, "all"), (2, "all"), (2, "one")]
        assert opened == [["http://x"]]
        assert links[1].others() == [0, 2]
        with pytest.raises(StoreFailed):
            await links[0].ask_process(7, "doubled", value="x")
        state.gone(2)
        with pytest.raises(StoreFailed):
            await links[0].ask_process(2, "doubled", value="x")
        await links[0].close()

    run(main())


async def _doubled(value: str) -> str:
    await asyncio.sleep(0)
    return value * 2


def test_the_parent_keeps_sessions_and_wrong_tokens_for_all() -> None:
    async def main() -> None:
        state = SharedState(nobody)
        first, second = [await linked(state, number, 2) for number in range(2)]
        heard: list[Any] = []
        second.on("wrong_token", lambda **said: heard.append(said))
        what = ["token", None, False]
        await first.ask("session_put", key="k", tenant="t", user="mia", what=what)
        assert await second.ask("session_get", key="k") == what
        assert await second.ask("session_drop", key="k") is True
        assert await first.ask("session_get", key="k") is None
        for _ in range(6):
            first.tell("wrong_token", word="wrong", of="10.0.0.1", name="n")
        await until_true(lambda: len(heard) == 6)
        state.tell_missing(1)
        begun = await second.ask("begin")
        later = WrongTokens(key=bytes.fromhex(begun["key"]))
        later.restore(begun["wrong"])
        with pytest.raises(Overloaded):
            later.check_name("10.0.0.1", "n")
        assert (begun["missing"], second.missing) == (1, 1)

    run(main())


def test_who_waits_for_an_answer_hears_that_the_parent_is_gone() -> None:
    async def main() -> None:
        async def never(_: int) -> None:
            await asyncio.Event().wait()

        state = SharedState(never)
        link = await linked(state, 1, 2)
        lost = asyncio.Event()
        link.on_lost(lost.set)
        asking = asyncio.ensure_future(link.ask("others_ended"))
        await asyncio.sleep(0)
        state.gone(1)
        with pytest.raises(StoreFailed):
            await asking
        await lost.wait()
        with pytest.raises(StoreFailed):
            await link.ask("begin")
        link.tell("wrong_token", word="wrong", of="a", name="b")  # to nobody
        await link.close()

    run(main())


def test_a_side_that_reads_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("redask.server.supervising.message_channel.MOST_UNREAD", 1000)

    async def main() -> None:
        ours, its = socket.socketpair()
        channel = MessageChannel({})
        await channel.open(ours)
        for _ in range(100):
            channel.tell("said", word="x" * 10_000)
        with pytest.raises(StoreFailed):
            await channel.ask("said")
        its.close()

    run(main())
