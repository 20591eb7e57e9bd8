"""The protocol itself, message by message, with made-up statements."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from deadlines import let_timers_pass
from fake_pgwire import (
    FLUSH,
    SYNC,
    BackendMessage,
    FakeServer,
    RawClient,
    bind,
    cancel,
    close,
    describe,
    execute,
    framed,
    parse,
    query,
)
from waiting import until_true

from redask.core.errors import SqlError
from redask.server.admission import Admission
from redask.server.pgwire.session import prepared_statements, row_pages

Script = Callable[[FakeServer, RawClient], Awaitable[None]]


def played(script: Script, **more: Any) -> None:
    async def main() -> None:
        async with FakeServer(**more) as transport:
            await script(transport, await transport.client())

    asyncio.run(main())


def kinds(found: list[BackendMessage]) -> str:
    return "".join(each.kind for each in found)


def state(found: list[BackendMessage]) -> str:
    [error] = [each for each in found if each.kind == "E"]
    return error.fields["C"]


def test_a_simple_query_of_several_statements_answers_each() -> None:
    async def script(_: FakeServer, client: RawClient) -> None:
        found = await client.ask(query("rows 2; begin ;rows 0;commit"))
        assert kinds(found) == "TDDCCTCCZ"
        tags = [each.body for each in found if each.kind == "C"]
        assert tags == [b"SELECT 2\0", b"BEGIN\0", b"SELECT 0\0", b"COMMIT\0"]
        assert found[-1].body == b"I"
        assert [each.cells for each in found if each.kind == "D"] == [
            [b"0", "wörd 0".encode()],
            [b"1", "wörd 1".encode()],
        ]
        assert kinds(await client.ask(query(" ; "))) == "IZ"

    played(script)


def test_after_an_error_the_rest_of_a_simple_query_is_not_done() -> None:
    async def script(transport: FakeServer, client: RawClient) -> None:
        found = await client.ask(query("rows 1; nonsense; rows 2"))
        assert kinds(found) == "TDCEZ"
        assert found[3].fields["P"] == "9"
        assert transport.planners[0].ran == ["rows 1"]
        assert state(await client.ask(query("say $1"))) == "42P02"

    played(script)


def test_a_transaction_fails_and_ends() -> None:
    async def script(_: FakeServer, client: RawClient) -> None:
        async def status(sql: str) -> tuple[str, str, str]:
            found = await client.ask(query(sql))
            error = next((each.fields["C"] for each in found if each.kind == "E"), "")
            tag = next((each.body[:-1].decode() for each in found if each.kind == "C"), "")
            return tag, error, found[-1].body.decode()

        assert await status("begin") == ("BEGIN", "", "T")
        assert await status("fail BadAsk") == ("", "42601", "E")
        assert await status("rows 1") == ("", "25P02", "E")
        assert await status("nonsense") == ("", "25P02", "E")
        assert await status("begin") == ("", "25P02", "E")
        assert await status("restore") == ("RESTORE", "", "T")
        assert await status("fail BadAsk") == ("", "42601", "E")
        assert await status("commit") == ("ROLLBACK", "", "I")
        await status("begin")
        await status("fail bug")
        assert await status("rollback") == ("ROLLBACK", "", "I")
        assert kinds(await client.ask(query("commit"))) == "NCZ"
        assert kinds(await client.ask(query("begin;begin"))) == "CNCZ"

    played(script)


def test_the_extended_protocol_describes_before_it_runs() -> None:
    async def script(transport: FakeServer, client: RawClient) -> None:
        found = await client.ask(parse("say $1 $2", "s", [23]), describe("S", "s"), SYNC)
        assert kinds(found) == "1tTZ"
        assert found[1].body == b"\0\2\0\0\0\x17\0\0\0\x19"
        assert transport.planners[0].ran == []
        values = [b"\0\0\0\x07", "it's ünï".encode()]
        found = await client.ask(
            bind(values, "p", "s", formats=[1, 0], results=[0, 1]),
            describe("P", "p"),
            execute("p"),
            SYNC,
        )
        assert kinds(found) == "2TDCZ"
        assert found[2].cells == [b"7", "it's ünï".encode()]
        found = await client.ask(parse("begin"), describe("S"), bind(), execute(), SYNC)
        assert kinds(found) == "1tn2CZ"
        assert found[-1].body == b"T"

    played(script)


def test_an_empty_statement_can_be_prepared() -> None:
    async def script(_: FakeServer, client: RawClient) -> None:
        found = await client.ask(parse(" ; "), describe("S"), bind(), execute(), SYNC)
        assert kinds(found) == "1tn2IZ"

    played(script)


def test_rows_come_in_as_many_parts_as_are_asked_for() -> None:
    async def script(_: FakeServer, client: RawClient) -> None:
        start = (parse("rows 5"), bind(results=[1, 0]))
        found = await client.ask(*start, *[execute(rows=2)] * 4, SYNC)
        assert kinds(found) == "12DDsDDsDCCZ"
        assert [each.body for each in found if each.kind == "C"] == [b"SELECT 1\0", b"SELECT 0\0"]
        assert found[2].cells[0] == b"\0\0\0\0"
        assert kinds(await client.ask(*start, execute(rows=5), execute(), SYNC)) == "12DDDDDsCZ"

    played(script)


def test_a_portal_lives_until_sync_or_in_a_transaction_until_its_end() -> None:
    async def script(_: FakeServer, client: RawClient) -> None:
        opened = (parse("rows 5"), bind(portal="p"), execute("p", 1))
        await client.ask(*opened, SYNC)
        assert state(await client.ask(execute("p"), SYNC)) == "34000"
        await client.ask(query("begin"))
        await client.ask(*opened, SYNC)
        assert kinds(await client.ask(execute("p", 3), SYNC)) == "DDDsZ"
        assert state(await client.ask(bind(portal="p"), SYNC)) == "42P03"
        await client.ask(query("rollback"))
        assert state(await client.ask(execute("p"), SYNC)) == "34000"

    played(script)


def test_after_an_error_everything_is_passed_over_until_sync() -> None:
    async def script(transport: FakeServer, client: RawClient) -> None:
        found = await client.ask(
            parse("nonsense"), bind(), execute(), query("rows 1"), FLUSH, parse("rows 1"), SYNC
        )
        assert kinds(found) == "EZ"
        assert transport.planners[0].ran == []
        found = await client.ask(
            *(parse("rows 1"), bind(), execute(), SYNC),
            *(parse("fail Denied"), bind(), execute(), execute()),
        )
        assert kinds(found) == "12DCZ"
        found = await client.ask(SYNC, parse("rows 0"), bind(), execute(), SYNC)
        assert kinds(found) == "12EZ"
        assert state(found) == "42501"
        assert kinds(await client.until()) == "12CZ"

    played(script)


def test_an_error_is_sent_at_once_though_its_flush_is_ignored() -> None:
    async def script(_: FakeServer, client: RawClient) -> None:
        for bad in (parse("nonsense"), framed(b"P", b"x")):
            await client.send(bad, describe("S"), FLUSH)
            assert kinds(await client.until("E")) == "E"
            assert kinds(await client.ask(SYNC)) == "Z"

    played(script)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([bind(name="nobody")], "26000"),
        ([describe("S", "nobody")], "26000"),
        ([describe("P", "nobody")], "34000"),
        ([execute("nobody")], "34000"),
        ([parse("rows 1; rows 2")], "42601"),
        ([parse("rows 1", "a"), parse("rows 1", "a")], "42P05"),
        ([parse("say $1"), bind()], "08P01"),
        ([parse("say $1"), bind([b"x"], formats=[2])], "08P01"),
        ([parse("say $1"), bind([b"x"], formats=[0, 0])], "08P01"),
        ([parse("say $1"), bind([b"x"], results=[0, 0])], "08P01"),
        ([parse("say $1", types=[23]), bind([b"x"])], "22P02"),
        ([parse("say $1", types=[23]), bind([b"x"], formats=[1])], "22P03"),
        ([parse("tell a b"), bind(), execute(), execute()], "55000"),
        ([parse("fail bug"), bind(), execute()], "XX000"),
        ([parse("fail Overloaded"), bind(), execute()], "53300"),
        ([parse("fail ProviderFailed"), bind(), execute()], "57P03"),
        ([parse("fail refused"), bind(), execute()], "0A000"),
        ([framed(b"B", b"x")], "08P01"),
        ([framed(b"P", b"\xff\0\0\0\0")], "22021"),
    ],
)
def test_each_mistake_has_its_sqlstate_and_the_next_series_is_fine(
    messages: list[bytes], expected: str
) -> None:
    async def script(_: FakeServer, client: RawClient) -> None:
        found = await client.ask(*messages, SYNC)
        assert state(found) == expected
        # what an earlier statement set is told before ReadyForQuery, as PostgreSQL does
        assert kinds(found).replace("S", "").endswith("EZ")
        assert b"KEY-1234" not in b"".join(each.body for each in found)
        assert kinds(await client.ask(query("rows 1"))) == "TDCZ"

    played(script)


def test_bad_messages_outside_a_series_are_answered_at_once() -> None:
    async def script(_: FakeServer, client: RawClient) -> None:
        for bad, expected in ((framed(b"Q", b"x"), "08P01"), (framed(b"S", b"x"), "08P01")):
            assert state(await client.ask(bad)) == expected
        assert state(await client.ask(framed(b"F", b"anything"))) == "0A000"
        await client.send(parse("nonsense"))
        assert kinds(await client.ask(framed(b"S", b"x"))) == "EEZ"
        assert kinds(await client.ask(framed(b"d", b"a"), framed(b"c"), query("rows 0"))) == "TCZ"

    played(script)


@pytest.mark.parametrize("bad", [b"\0\0\0\0\4", b"Q\0\0\0\3", b"Q\x7f\0\0\0", b"p\0\0\0\4"])
def test_a_client_out_of_step_with_the_protocol_is_refused_and_disconnected(bad: bytes) -> None:
    async def script(_: FakeServer, client: RawClient) -> None:
        await client.send(bad)
        found = await client.until()
        assert kinds(found) == "E"
        assert (state(found), found[0].fields["S"]) == ("08P01", "FATAL")

    played(script)


def test_statements_and_portals_are_closed_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_statements, "MAX_STATEMENTS", 3)
    monkeypatch.setattr(prepared_statements, "MAX_PORTALS", 2)

    async def script(_: FakeServer, client: RawClient) -> None:
        named = [parse("rows 1", name) for name in "abc"]
        assert kinds(await client.ask(*named, SYNC)) == "111Z"
        assert state(await client.ask(parse("rows 1", "d"), SYNC)) == "54000"
        found = await client.ask(close("S", "a"), close("S", "nobody"), named[0], SYNC)
        assert kinds(found) == "331Z"
        found = await client.ask(*(bind(portal=p, name="a") for p in "xyz"), SYNC)
        assert kinds(found) == "22EZ"
        found = await client.ask(bind(portal="x", name="a"), close("P", "x"), execute("x"), SYNC)
        assert kinds(found) == "23EZ"

    played(script)


def test_a_statement_can_drop_prepared_ones() -> None:
    async def script(_: FakeServer, client: RawClient) -> None:
        named = [parse("rows 1", name) for name in "abc"]
        await client.ask(*named, SYNC)
        await client.ask(query("drop a b"))
        assert kinds(await client.ask(*named[:2], SYNC)) == "11Z"
        assert state(await client.ask(named[2], SYNC)) == "42P05"
        await client.ask(query("drop"))
        assert kinds(await client.ask(*named, SYNC)) == "111Z"

    played(script)


def test_what_is_kept_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_statements, "MAX_BYTES", 20_000)

    async def script(_: FakeServer, client: RawClient) -> None:
        big = "rows 1" + " " * 3000
        for _again in range(10):  # the one without a name is replaced
            assert kinds(await client.ask(parse(big), SYNC)) == "1Z"
        assert state(await client.ask(parse(big, "kept"), SYNC)) == "54000"
        assert kinds(await client.ask(parse("say $1"), SYNC)) == "1Z"
        assert state(await client.ask(bind([b"x" * 20_000]), SYNC)) == "54000"
        for _again in range(10):
            assert kinds(await client.ask(bind([b"x" * 15_000]), SYNC)) == "2Z"

    played(script)


def test_run_time_parameters_that_change_are_reported() -> None:
    async def script(_: FakeServer, client: RawClient) -> None:
        assert client.status["server_version"]
        found = await client.ask(query("tell TimeZone Mars"))
        assert kinds(found) == "SCZ"
        assert found[0].body == b"TimeZone\0Mars\0"

    played(script)


def test_a_statement_that_takes_too_long_is_cancelled() -> None:
    async def script(transport: FakeServer, client: RawClient) -> None:
        await client.ask(query("timeout 60"))
        await client.send(query("wait"))
        await until_true(lambda: transport.planners[0].ran[-1] == "wait")
        let_timers_pass("cancel")
        found = await client.until()
        assert state(found) == "57014"
        assert "statement_timeout" in found[0].fields["M"]
        assert transport.planners[0].left == 1
        assert kinds(await client.ask(query("rows 1"))) == "TDCZ"

    played(script)


@pytest.mark.parametrize("wire", ["simple", "extended"])
@pytest.mark.parametrize("ending", ["timeout", "request", "gone"])
def test_a_statement_whose_planning_takes_too_long_is_cancelled(wire: str, ending: str) -> None:
    async def script(transport: FakeServer, client: RawClient) -> None:
        await client.ask(query("timeout 60"))
        await client.send(*([query("ponder")] if wire == "simple" else [parse("ponder"), SYNC]))
        planner = transport.planners[0]
        await until_true(lambda: planner.ran[-1] == "ponder")
        if ending == "timeout":
            let_timers_pass("cancel")
        elif ending == "request":
            other = await transport.connect()
            await other.send(cancel(client.key))
            await other.close()
        else:
            await client.close()
            await until_true(lambda: planner.left == 1)
            return
        found = await client.until()
        assert state(found) == "57014"
        assert ("statement_timeout" in found[0].fields["M"]) is (ending == "timeout")
        assert planner.left == 1
        assert kinds(await client.ask(query("rows 1"))) == "TDCZ"

    played(script)


def test_a_full_house_is_said_to_be_but_a_transaction_can_always_be_ended() -> None:
    async def script(_: FakeServer, client: RawClient) -> None:
        assert state(await client.ask(query("rows 1"))) == "53300"
        assert kinds(await client.ask(query("begin;commit"))) == "CCZ"

    played(script, admission=Admission(0, 0))


def test_a_large_result_arrives_whole_while_the_client_reads_slowly() -> None:
    async def script(_: FakeServer, client: RawClient) -> None:
        await client.send(query("rows 30000"))
        await asyncio.sleep(0.2)
        found = await client.until()
        assert len(found) == 30_003

    played(script)


def test_what_is_done_at_once_needs_no_room_and_fails_like_the_rest() -> None:
    async def script(transport: FakeServer, client: RawClient) -> None:
        assert kinds(await client.ask(query("now"))) == "CZ"
        assert state(await client.ask(query("rows 1"))) == "53300"
        found = await client.ask(query("begin; now Denied; now"))
        assert kinds(found) == "CEZ"
        assert found[-1].body == b"E"
        assert transport.planners[0].ran[-1] == "now Denied"
        assert state(await client.ask(query("now"))) == "25P02"

    played(script, admission=Admission(0, 0))


def test_nothing_is_written_to_a_client_that_disconnected_between_statements(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def script(transport: FakeServer, client: RawClient) -> None:
        many = b"".join([parse("now"), *[bind(), execute(), SYNC] * 2000])
        [connection] = transport.server._connections
        connection.data_received(many)  # as one read brings it
        while not transport.planners[0].ran:
            await asyncio.sleep(0)
        connection.transport.abort()  # as when a send fails: nobody is told before the next turn
        for _ in range(10):
            connection.send(b"x")
            await connection.flush()
        await asyncio.wait([connection.task])

    with caplog.at_level("WARNING", logger="asyncio"):
        played(script)
    assert caplog.messages == []


def test_a_client_with_a_thousand_quick_statements_lets_others_go_first() -> None:
    async def script(transport: FakeServer, client: RawClient) -> None:
        other = await transport.client()
        await client.send(parse("now"), *[bind(), execute()] * 1000, SYNC)
        while not transport.planners[0].ran:
            await asyncio.sleep(0)
        assert kinds(await other.ask(query("now"))) == "CZ"
        assert len(transport.planners[0].ran) < 500
        assert kinds(await client.until()) == "1" + "2C" * 1000 + "Z"

    played(script)


def test_an_error_of_sql_has_its_own_sqlstate_hint_and_position() -> None:
    async def script(transport: FakeServer, client: RawClient) -> None:
        async def plan(sql: str, declared: object) -> Any:
            raise SqlError("42703", 'column "x" does not exist', position=6, hint="try y")

        transport.planners[0].plan = plan  # type: ignore[method-assign]  # planned by nobody else
        [error] = [each for each in await client.ask(query(" ;rows x")) if each.kind == "E"]
        assert [error.fields[key] for key in "CMHP"] == [
            *("42703", 'column "x" does not exist', "try y", "8")
        ]

    played(script)


def test_a_large_result_is_encoded_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[tuple[int, bool]] = []
    encode = row_pages.RowEncoder.data_rows

    def watched(self: row_pages.RowEncoder, rows: row_pages.ResultRows) -> bytes:
        threads.append((len(rows), threading.current_thread() is threading.main_thread()))
        return encode(self, rows)

    monkeypatch.setattr(row_pages.RowEncoder, "data_rows", watched)

    async def script(_: FakeServer, client: RawClient) -> None:
        found = await client.ask(query("rows 25000"))
        cells = [each.cells for each in found if each.kind == "D"]
        assert cells == [
            [str(n).encode(), None if n % 3 == 2 else f"wörd {n}".encode()] for n in range(25_000)
        ]
        assert threads == [(10_000, False), (10_000, False), (5_000, False)]
        threads.clear()
        await client.ask(query("rows 3"))
        assert threads == [(3, True)]

    played(script)


def test_a_long_text_is_read_beside_the_event_loop() -> None:
    async def script(transport: FakeServer, client: RawClient) -> None:
        seen: list[bool] = []

        def split(text: str) -> list[str]:
            seen.append(threading.current_thread() is threading.main_thread())
            return [text.strip()]

        transport.planners[0].split = split  # type: ignore[method-assign]
        await client.ask(query("rows 1"))
        await client.ask(query("rows 1" + " " * 20_000))
        assert seen == [True, False]

    played(script)
