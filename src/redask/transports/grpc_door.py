"""gRPC: `serve(desk, gate, host, port)`; package `redask.v1`, with health and reflection.

A token travels as metadata, `authorization: Bearer …`. A deadline or a cancelled call cancels the
ask, which is audited as such. Errors are gRPC statuses from `wire.outcomes`; the JSON body of the
error is in the trailing metadata `redask-error-bin`. A stream that fails before its first frame
fails as a call; afterwards its last frame is `error`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeVar

import grpc
from google.protobuf.message import DecodeError
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from redask import clauses, errors
from redask.errors import BadAsk
from redask.model import (
    Answer,
    Answered,
    AnswerReset,
    AnswerToken,
    Ask,
    Event,
    Failed,
    SourcesFound,
)
from redask.transports import bodies
from redask.transports.desk import Desk, Gate, Session, bearer
from redask.transports.generated import redask_pb2 as pb
from redask.transports.reopening import Reopening
from redask.wire import envelope, outcomes
from redask.wire import json as canonical

MAX_MESSAGE = 4 * 1024 * 1024
MESSAGE_SECONDS = 30.0  # in which a call's message must have come
MAX_CALLS = 512  # at once on one connection
SERVICE = "redask.v1.Redask"
_OPTIONS = ("strict", "using", "model", "limit", "min_score", "depth", "temperature", "seed")
_U32 = 2**32 - 1
_MAX_TRAILER = 3000  # clients take 8 KiB of metadata, and text takes up to nine bytes a character
_MAX_TEXT = 300
_T = TypeVar("_T")


class GrpcDoor:
    """The calls of the service."""

    def __init__(self, desk: Desk, gate: Gate) -> None:
        self._desk = desk
        self._gate = gate

    async def Ask(self, _: object, context: Any) -> Any:  # noqa: N802 - gRPC's spelling
        return await self._call(context, self._answer)

    async def Explain(self, _: object, context: Any) -> Any:  # noqa: N802
        return await self._call(context, self._plan)

    async def Query(self, _: object, context: Any) -> Any:  # noqa: N802
        return await self._call(context, self._query)

    async def AskStream(self, _: object, context: Any) -> None:  # noqa: N802
        started = False
        try:
            session = await self._session(context)
            events = self._gate.stream(session.events(asked(await _message(context))))
            async with aclosing(events):
                async for event in events:
                    if event is not None:
                        await context.write(frame(event))
                        started = True
        except Exception as error:
            if not started:
                await _fail(context, error)
            shown = (
                error if isinstance(error, errors.AskError) else errors.AskError("internal error")
            )
            await context.write(frame(Failed(shown)))

    async def _call(self, context: Any, work: Callable[[Session, Any], Awaitable[_T]]) -> _T:
        try:
            session = await self._session(context)
            return await work(session, await _message(context))
        except Exception as error:
            await _fail(context, error)
            raise  # never reached: abort raises

    async def _session(self, context: Any) -> Session:
        given = dict(context.invocation_metadata() or ()).get("authorization")
        return await self._desk.sign_in(bearer(None if given is None else str(given)))

    async def _answer(self, session: Session, request: Any) -> Any:
        ask = asked(request)
        return reply(await self._gate.run(lambda: session.answer(ask)))

    async def _plan(self, session: Session, request: Any) -> Any:
        ask = asked(request)
        plan = await self._gate.run(lambda: session.plan(ask))
        return pb.ExplainReply(plan_json=canonical.encode(plan))

    async def _query(self, session: Session, request: Any) -> Any:
        params: object = []
        if request.params_json:
            try:
                params = bodies.read(request.params_json.encode())
            except BadAsk as error:
                message = error.message.replace("the body", "params_json", 1)
                raise BadAsk(message, detail="params_json") from None
        if not isinstance(params, list):
            raise BadAsk("params_json: expected a JSON list", detail="params_json")
        statement, values = request.statement, params
        rows = await self._gate.run(lambda: session.execute(statement, values))
        return pb.QueryReply(rows_json=canonical.encode(rows))


async def serve(
    desk: Desk, gate: Gate, host: str, port: int, credentials: grpc.ServerCredentials | None = None
) -> tuple[Reopening, int]:
    """A started server and the port it listens on."""
    door = GrpcDoor(desk, gate)

    async def make(again: int | None) -> tuple[grpc.aio.Server, int]:
        return await _open(door, f"{host}:{port if again is None else again}", credentials)

    server = Reopening(make)
    return server, await server.start()


async def _open(
    door: GrpcDoor, address: str, credentials: grpc.ServerCredentials | None
) -> tuple[grpc.aio.Server, int]:
    server = grpc.aio.server(
        options=[
            ("grpc.max_receive_message_length", MAX_MESSAGE),
            ("grpc.max_concurrent_streams", MAX_CALLS),
            ("grpc.so_reuseport", 0),
            ("grpc.max_connection_idle_ms", 300_000),
        ]
    )
    server.add_generic_rpc_handlers((_handlers(door),))
    healthy = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    for name in ("", SERVICE):
        await healthy.set(name, health_pb2.HealthCheckResponse.SERVING)
    reflection.enable_server_reflection(
        (SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), server
    )
    if credentials is None:
        port = server.add_insecure_port(address)
    else:
        port = server.add_secure_port(address, credentials)
    await server.start()
    return server, port


def _handlers(door: GrpcDoor) -> Any:
    """The calls by name.

    To gRPC each takes a stream of messages, of which we read one: on the wire that is the same.
    A call that ends without its message would otherwise wait for ever, and one with another
    message would be taken for a failure of ours.
    """
    one, many = grpc.stream_unary_rpc_method_handler, grpc.stream_stream_rpc_method_handler
    return grpc.method_handlers_generic_handler(
        SERVICE,
        {
            name: make(getattr(door, name), _reader(request), _write)
            for name, make, request in (
                ("Ask", one, pb.AskRequest),
                ("AskStream", many, pb.AskRequest),
                ("Explain", one, pb.AskRequest),
                ("Query", one, pb.QueryRequest),
            )
        },
    )


def _reader(kind: Any) -> Callable[[bytes], object]:
    """Reads messages of a kind; bytes that are none are handed on, to be refused."""

    def read(given: bytes) -> object:
        try:
            return kind.FromString(given)
        except DecodeError:
            return given

    return read


def _write(message: Any) -> Any:
    return message.SerializeToString()


async def _message(context: Any) -> Any:
    """The one message of a call."""
    try:
        async with asyncio.timeout(MESSAGE_SECONDS):
            given = await context.read()
    except TimeoutError:
        raise BadAsk(f"the message did not come within {MESSAGE_SECONDS:.0f} seconds") from None
    if given is grpc.aio.EOF:
        raise BadAsk("the call ended without a message", detail="message")
    if isinstance(given, bytes):
        raise BadAsk("the message is none of this call's type", detail="message")
    return given


def asked(request: Any) -> Ask:
    """The Ask of a request; names and ranges are those of every surface."""
    options: dict[str, object] = {
        name: getattr(request, name) for name in _OPTIONS if request.HasField(name)
    }
    if request.collection:
        options["collection"] = list(request.collection)
    if request.HasField("cache_ttl"):
        options["cache"] = {"ttl": request.cache_ttl}
    if request.HasField("nocache"):
        options["nocache"] = request.nocache
    return clauses.from_options(request.question, options, "")


def reply(answer: Answer) -> Any:
    """The envelope of an answer as a message."""
    return pb.AskReply(
        answer=answer.answer,
        sources_flat_json=canonical.encode(envelope.sources(answer.sources_flat)),
        citations=_citations(answer),
        validation=_validation(answer),
        **_usage(answer),
    )


def frame(event: Event) -> Any:
    """The message of an event."""
    match event:
        case SourcesFound(sources_flat):
            found = canonical.encode(envelope.sources(sources_flat))
            return pb.AskFrame(sources=pb.SourcesFrame(sources_flat_json=found))
        case AnswerToken(text):
            return pb.AskFrame(answer_token=pb.TokenFrame(text=text))
        case AnswerReset(reason):
            return pb.AskFrame(answer_reset=pb.ResetFrame(reason=reason))
        case Answered(answer):
            done = pb.DoneFrame(
                validation=_validation(answer), citations=_citations(answer), **_usage(answer)
            )
            return pb.AskFrame(validation=done)
        case Failed(error):
            code, message = outcomes.of(error).http, outcomes.message(error)
            return pb.AskFrame(error=pb.ErrorFrame(code=code, message=message))


def _citations(answer: Answer) -> list[Any]:
    ordered = sorted(answer.citations, key=lambda footnote: footnote.marker)
    return [pb.Citation(marker=each.marker, urn=each.urn) for each in ordered]


def _validation(answer: Answer) -> Any:
    found = answer.validation
    return pb.Validation(
        ok=found.ok,
        warnings=[pb.Item(kind=each.kind, detail=each.detail) for each in found.warnings],
        errors=[pb.Item(kind=each.kind, detail=each.detail) for each in found.errors],
    )


def _usage(answer: Answer) -> dict[str, Any]:
    return {
        "provider": answer.provider,
        "model": answer.model,
        "prompt_tokens": min(max(answer.prompt_tokens, 0), _U32),
        "completion_tokens": min(max(answer.completion_tokens, 0), _U32),
        "cost_usd": answer.cost_usd,
        "cache_hit": answer.cache_hit,
        "mode": answer.mode.value,
        "retry_count": answer.retry_count,
    }


async def _fail(context: Any, error: Exception) -> None:
    """End a call with the status of an error; its text is cut to what metadata may hold."""
    body = outcomes.body(error)
    encoded = canonical.encode(body)
    if len(encoded) > _MAX_TRAILER:
        shown = dict(body["error"])  # type: ignore[call-overload]
        short = {name: _cut(text) for name, text in shown.items()}
        encoded = canonical.encode({"error": short})
    context.set_trailing_metadata((("redask-error-bin", encoded),))
    code = getattr(grpc.StatusCode, outcomes.of(error).grpc)
    await context.abort(code, _cut(outcomes.message(error)))


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"
