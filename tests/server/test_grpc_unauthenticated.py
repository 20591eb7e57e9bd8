"""gRPC calls that hold on: unauthenticated, silent, in crowds; who behaves is served beside them.

The authenticator is played, so that a call lasts exactly as long as a test wants.
"""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from fuzz_grpc import DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE, SETTINGS, frame, header
from fuzz_grpc import packed as packed_message
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from waiting import SECONDS, until_true

from redask.core.access.ask_shares import AskClaim
from redask.core.errors import Unauthenticated
from redask.core.model import AnswerToken, Ask, Emit
from redask.server.admission import Admission
from redask.server.grpc import calls as grpc_calls
from redask.server.grpc import public_services, service
from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.generated import redask_pb2_grpc
from redask.server.sessions import Authenticator

MIA = (("authorization", "Bearer mia"),)
WELL = health_pb2.HealthCheckRequest(service="redask.v1.Redask")
HEALTH = b"/grpc.health.v1.Health/"


class Played(Authenticator):
    """An authenticator with one caller, and her session, which waits for `released`."""

    claim = AskClaim("local", "mia")
    public = ()

    def __init__(self) -> None:
        self.released = asyncio.Event()
        self.running = 0

    async def sign_in(self, token: str | None, address: str = "") -> Any:
        if token != "mia":
            raise Unauthenticated("who?")
        return self

    async def plan(self, ask: Ask) -> dict[str, object]:
        self.running += 1
        try:
            await self.released.wait()
            return {"said": ask.question * 20_000}
        finally:
            self.running -= 1

    async def answer(self, ask: Ask, emit: Emit) -> None:
        await emit(AnswerToken("before"))
        await self.released.wait()
        await emit(AnswerToken("after"))


class Scene:
    """A started transport, a client of it, and raw sockets."""

    def __init__(self, authenticator: Played, server: service.GrpcServer, channel: Any) -> None:
        self.authenticator, self.server, self.channel = authenticator, server, channel
        self.stub: Any = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
        self.health: Any = health_pb2_grpc.HealthStub(channel)
        self._sockets: list[socket.socket] = []

    def raw(self, path: bytes, *frames: tuple[int, bytes], window: int = 65535) -> socket.socket:
        """A call by hand, on a connection of its own, that nobody reads the reply of."""
        fields = [(b":method", b"POST"), (b":scheme", b"http"), (b":path", path)]
        fields += [(b":authority", b"a"), (b"te", b"trailers")]
        fields += [(b"content-type", b"application/grpc"), (b"authorization", b"Bearer mia")]
        sent = PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, window))
        sent += frame(HEADERS, END_HEADERS, 1, b"".join(header(*each) for each in fields))
        sent += b"".join(frame(DATA, flags, 1, body) for flags, body in frames)
        made = socket.create_connection(("127.0.0.1", self.server.port), timeout=SECONDS)
        made.sendall(sent)
        self._sockets.append(made)
        return made

    async def received(self, wire: socket.socket, what: bytes) -> bytes:
        """What a raw call hears, up to these bytes or the end."""
        found = b""
        while what not in found:
            piece = await asyncio.to_thread(wire.recv, 65536)
            if not piece:
                break
            found += piece
        return found

    async def until(self, condition: Callable[[], bool]) -> None:
        await until_true(condition)

    def close(self) -> None:
        for each in self._sockets:
            each.close()


@asynccontextmanager
async def opened(at_once: int = 4, waiting: int = 4) -> AsyncIterator[Scene]:
    authenticator, admission = Played(), Admission(at_once, waiting)
    server, port = await service.serve(authenticator, admission, "127.0.0.1", 0)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        scene = Scene(authenticator, server, channel)
        try:
            yield scene
        finally:
            scene.close()
            await server.stop(0)
            await admission.close(0)


def play(scene: Callable[[Scene], Awaitable[None]], **admission: int) -> None:
    async def main() -> None:
        async with asyncio.timeout(SECONDS), opened(**admission) as made:
            await scene(made)

    asyncio.run(main())


def test_an_unauthenticated_client_with_a_method_that_is_no_text_breaks_no_running_stream() -> None:
    async def scene(made: Scene) -> None:
        stream = made.stub.AskStream(pb.AskRequest(question="x"), metadata=MIA)
        assert (await stream.read()).answer_token.text == "before"
        for path in (b"/redask.v1.Redask/\xc1sk", b"/\xff", b"\xff"):
            wire = made.raw(path, (END_STREAM, b""))
            await made.received(wire, b"grpc-status")
        made.authenticator.released.set()
        assert (await stream.read()).answer_token.text == "after"
        assert await stream.read() is grpc.aio.EOF
        assert await stream.code() is grpc.StatusCode.OK

    play(scene)


def test_a_client_that_disconnects_cancels_what_runs() -> None:
    async def scene(made: Scene) -> None:
        call = made.stub.Explain(pb.AskRequest(question="x"), metadata=MIA)
        await made.until(lambda: made.authenticator.running == 1)
        call.cancel()
        await made.until(lambda: made.authenticator.running == 0)
        wire = made.raw(b"/redask.v1.Redask/Explain", (END_STREAM, packed_message(b"\n\1x")))
        await made.until(lambda: made.authenticator.running == 1)
        wire.close()
        await made.until(lambda: made.authenticator.running == 0)
        await made.until(lambda: not made.server._calls._open)

    play(scene)


def test_a_crowd_is_refused_at_once_and_asked_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "SPARE", 1)

    async def scene(made: Scene) -> None:
        asked = pb.AskRequest(question="x")
        calls = [made.stub.Explain(asked, metadata=MIA) for _ in range(2)]
        await made.until(lambda: made.authenticator.running == 1)
        await made.until(lambda: len(made.server._calls._open) == 2)
        made.raw(b"/redask.v1.Redask/Explain")  # says nothing, and so takes the last thread
        await made.until(lambda: len(made.server._calls._open) == 3)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await made.stub.Explain(asked, metadata=MIA, timeout=SECONDS)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        made.authenticator.released.set()
        assert all([(await call).plan_json for call in calls])

    play(scene, at_once=1, waiting=1)


def test_without_a_token_a_call_is_refused_before_its_message_came() -> None:
    async def scene(made: Scene) -> None:
        made.authenticator.sign_in = nobody  # type: ignore[method-assign]
        found = await made.received(made.raw(b"/redask.v1.Redask/Ask"), b"who?")
        assert b"who?" in found
        await made.until(lambda: not made.server._calls._open)

    async def nobody(token: str | None, address: str = "") -> Any:
        raise Unauthenticated("who?")

    play(scene)


def test_who_does_not_take_the_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grpc_calls, "SWEEP_SECONDS", 0.05)

    async def scene(made: Scene) -> None:
        made.authenticator.released.set()
        message = packed_message(b"\n\1x")
        made.raw(b"/redask.v1.Redask/Explain", (END_STREAM, message), window=0)
        await made.until(lambda: len(made.server._calls._open) == 1)
        monkeypatch.setattr(grpc_calls, "READ_SECONDS", 0)
        await made.until(lambda: not made.server._calls._open)

    play(scene)


@pytest.mark.parametrize("name", [b"Check", b"Watch", b"reflection"])
def test_silent_unauthenticated_clients_do_not_keep_others_from_health_and_reflection(
    monkeypatch: pytest.MonkeyPatch, name: bytes
) -> None:
    monkeypatch.setattr(public_services, "PLACES", 3)
    monkeypatch.setattr(service, "SPARE", 8)
    path = b"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"

    async def scene(made: Scene) -> None:
        places = made.server._public._places
        for number in range(20):  # more than there are threads
            made.raw(path if name == b"reflection" else HEALTH + name)
            await made.until(lambda number=number: len(places) == min(number + 1, 3))  # type: ignore[misc]
        for _ in range(3):
            await asyncio.sleep(0.1)  # whoever was cut off leaves
            assert (await made.health.Check(WELL, timeout=SECONDS)).status == 1
        reflecting: Any = reflection_pb2_grpc.ServerReflectionStub(made.channel)
        asked = reflection_pb2.ServerReflectionRequest(list_services="")
        response = [
            each
            async for each in reflecting.ServerReflectionInfo(
                iter([asked]), metadata=MIA, timeout=SECONDS
            )
        ]
        assert len(response[0].list_services_response.service) == 4

    play(scene, at_once=1, waiting=1)


def test_watchers_take_no_thread_however_many_and_do_not_delay_the_end() -> None:
    async def scene(made: Scene) -> None:
        watching = [made.health.Watch(WELL) for _ in range(60)]
        assert {(await each.read()).status for each in watching} == {1}
        for _ in range(20):
            made.raw(HEALTH + b"Watch", (END_STREAM, packed_message(b"")), window=0)
        nobody = health_pb2.HealthCheckRequest(service="nobody")
        unknown = made.health.Watch(nobody)
        assert (await unknown.read()).status == 3
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await made.health.Check(
                health_pb2.HealthCheckRequest(service="nobody"), timeout=SECONDS
            )
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND
        watching.pop().cancel()
        await made.until(lambda: len(made.server._public._watching) <= 80)
        made.close()
        await made.server.stop(10 * SECONDS)  # which nobody makes it wait for

    play(scene)


@pytest.mark.parametrize("path", [HEALTH + b"Check", HEALTH + b"Watch"])
@pytest.mark.parametrize("body", [b"", packed_message(b"\xff\xff")])
def test_a_health_check_that_is_no_message_is_refused(path: bytes, body: bytes) -> None:
    async def scene(made: Scene) -> None:
        wire = made.raw(path, (END_STREAM, body))
        assert b"this is no message" in await made.received(wire, b"type")

    play(scene)
