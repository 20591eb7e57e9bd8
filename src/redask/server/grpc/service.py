"""gRPC: `serve(authenticator, admission, …)`; package `redask.v1`, with health and reflection.

A token travels as metadata, `authorization: Bearer …`. A deadline or a cancelled call cancels the
ask, which is audited as such. Errors are gRPC statuses from `wire.outcomes`; the JSON body of the
error is in the trailing metadata `redask-error-bin`. A stream that fails before its first frame
fails as a call; afterwards its last frame is `error`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import Any

import grpc

from redask.api.asynchronous import AsyncDatabase
from redask.core import clauses, errors
from redask.core.errors import BadAsk
from redask.core.model import (
    Answer,
    Answered,
    AnswerReset,
    AnswerToken,
    Ask,
    Event,
    Failed,
    SourcesFound,
)
from redask.core.wire import envelope, outcomes
from redask.core.wire import json as canonical
from redask.server import request_json
from redask.server.admission import Admission
from redask.server.grpc.calls import END, Calls, GrpcCall, Work, address_of, token_of
from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.public_services import MayReflect, PublicServices
from redask.server.sessions import Authenticator, bearer

MAX_MESSAGE = 4 * 1024 * 1024
MESSAGE_SECONDS = 30.0  # in which a call's message must have come
MAX_CALLS = 128  # at once on one connection
IDLE_SECONDS = 300  # without a call, after which a connection is closed
SPARE = 128  # calls beside those that the admission lets in: to be refused, or asked for health
SERVICE = "redask.v1.Redask"
_BY_FIELD = {
    field.name: clause
    for clause in clauses.OPTIONS
    for field in (clause.grpc, clause.grpc_word)
    if field
}
_U32 = 2**32 - 1
_MAX_TRAILER = 3000  # clients accept 8 KiB of metadata, and text takes up to nine bytes a character
_MAX_TEXT = 300


class GrpcTransport:
    """The calls of the service."""

    def __init__(self, authenticator: Authenticator, admission: Admission) -> None:
        self._authenticator = authenticator
        self._admission = admission

    def handlers(self, calls: Calls) -> Any:
        """The calls by name."""
        return grpc.method_handlers_generic_handler(
            SERVICE,
            {
                "Ask": calls.handler(self._once(self._answer), pb.AskRequest),
                "AskStream": calls.handler(self._stream, pb.AskRequest),
                "Explain": calls.handler(self._once(self._plan), pb.AskRequest),
                "Query": calls.handler(self._once(self._query), pb.QueryRequest),
            },
        )

    def _once(self, work: Callable[[AsyncDatabase, Any], Awaitable[Any]]) -> Work:
        async def answer(call: GrpcCall) -> None:
            try:
                session = await self._session(call)
                call.write(await work(session, await _message(call)))
            except Exception as error:
                _fail(call, error)

        return answer

    async def _stream(self, call: GrpcCall) -> None:
        started = False
        try:
            session = await self._session(call)
            ask = asked(await _message(call))
            events = self._admission.of(session.claim).stream(
                lambda emit: session.answer(ask, emit)
            )
            async with aclosing(events):
                async for event in events:
                    if event is not None:
                        call.write(frame(event))
                        started = True
        except Exception as error:
            if not started:
                _fail(call, error)
                return
            shown = (
                error if isinstance(error, errors.AskError) else errors.AskError("internal error")
            )
            call.write(frame(Failed(shown)))

    def may_reflect(self) -> MayReflect:
        """Raises `AskError` unless the client of a call may ask for reflection; in a thread."""
        loop, authenticator = asyncio.get_running_loop(), self._authenticator

        def check(context: Any) -> None:
            if "reflection" not in authenticator.public:
                given, address = bearer(token_of(context)), address_of(context)
                signing_in = authenticator.sign_in(given, address)
                asyncio.run_coroutine_threadsafe(signing_in, loop).result(MESSAGE_SECONDS)

        return check

    async def _session(self, call: GrpcCall) -> AsyncDatabase:
        return await self._authenticator.sign_in(bearer(call.token()), call.address)

    async def _answer(self, session: AsyncDatabase, request: Any) -> Any:
        ask = asked(request)
        return reply(await self._admission.of(session.claim).run(lambda: session.answer(ask)))

    async def _plan(self, session: AsyncDatabase, request: Any) -> Any:
        ask = asked(request)
        plan = await self._admission.of(session.claim).run(lambda: session.plan(ask))
        return pb.ExplainReply(plan_json=canonical.encode(plan))

    async def _query(self, session: AsyncDatabase, request: Any) -> Any:
        params: object = []
        if request.params_json:
            try:
                params = await _params(request.params_json.encode())
            except BadAsk as error:
                message = error.message.replace("the body", "params_json", 1)
                raise BadAsk(message, detail="params_json") from None
        if not isinstance(params, list):
            raise BadAsk("params_json: expected a JSON list", detail="params_json")
        statement, values = request.statement, params
        rows = await self._admission.of(session.claim).run(
            lambda: session.query_json(statement, values, browsers=False)
        )
        return pb.QueryReply(rows_json=b"".join(rows))


class GrpcServer:
    """A server that has started."""

    def __init__(
        self,
        transport: GrpcTransport,
        address: str,
        credentials: grpc.ServerCredentials | None,
        room: int,
        connections: int,
        *,
        shares_port: bool = False,
    ) -> None:
        logging.getLogger("grpc").setLevel(
            logging.CRITICAL + 1
        )  # unauthenticated clients' mistakes, with traces
        self._pool = ThreadPoolExecutor(room, "grpc")
        self._server = grpc.server(
            self._pool,
            maximum_concurrent_rpcs=room,  # more are refused: no call waits unseen
            options=[
                ("grpc.max_receive_message_length", MAX_MESSAGE),
                ("grpc.max_concurrent_streams", MAX_CALLS),
                ("grpc.so_reuseport", int(shares_port)),
                ("grpc.max_connection_idle_ms", IDLE_SECONDS * 1000),
                ("grpc.max_allowed_incoming_connections", connections),
            ],
        )
        self._public = PublicServices((SERVICE,), transport.may_reflect())
        if credentials is None:
            self.port = self._server.add_insecure_port(address)
        else:
            self.port = self._server.add_secure_port(address, credentials)
        self._calls = Calls()
        handlers = (transport.handlers(self._calls), *self._public.handlers())
        self._server.add_generic_rpc_handlers(handlers)
        self._server.start()

    async def stop(self, grace: float) -> None:
        """Accept no calls any more; what still runs after `grace` seconds is cancelled."""
        stopped = self._server.stop(grace)
        self._public.close()
        await asyncio.to_thread(stopped.wait)
        await asyncio.to_thread(self._pool.shutdown)
        self._calls.close()


async def serve(
    authenticator: Authenticator,
    admission: Admission,
    host: str,
    port: int,
    credentials: grpc.ServerCredentials | None = None,
    *,
    connections: int = 1000,
    shares_port: bool = False,
) -> tuple[GrpcServer, int]:
    """A started server and the port it listens on; others of its user may, too: `shares_port`."""
    room = admission.at_once + admission.waiting + SPARE
    server = GrpcServer(
        *(GrpcTransport(authenticator, admission), f"{host}:{port}", credentials),
        *(room, connections),
        shares_port=shares_port,
    )
    return server, server.port


async def _message(call: GrpcCall) -> Any:
    """The one message of a call."""
    try:
        given = await call.message(MESSAGE_SECONDS)
    except TimeoutError:
        raise BadAsk(f"the message did not come within {MESSAGE_SECONDS:.0f} seconds") from None
    if given is END:
        raise BadAsk("the call ended without a message", detail="message")
    if isinstance(given, bytes):
        raise BadAsk("the message is none of this call's type", detail="message")
    return given


async def _params(sent: bytes) -> object:
    """What was sent as JSON; much of it is read beside the event loop."""
    if len(sent) <= request_json.LOOP_BYTES:
        return request_json.read(sent)
    return await asyncio.to_thread(request_json.read, sent)


def asked(request: Any) -> Ask:
    """The Ask of a request; names and ranges are those of every surface."""
    options: dict[str | None, object] = {}
    for field, value in request.ListFields():  # those that are set, by their tags
        clause = _BY_FIELD.get(field.name)
        if clause is not None:
            if clause.option in options:
                message = f"{field.name}: expected one field for {clause.option}, found two"
                raise BadAsk(message, detail=field.name)
            options[clause.option] = clause.option_of(value)
    return clauses.from_options(request.question, options, "")


def reply(answer: Answer) -> Any:
    """The envelope of an answer as a message."""
    return pb.AskReply(
        answer=answer.answer,
        sources_flat_json=canonical.encode(envelope.sources(answer.sources_flat)),
        citations=_citations(answer),
        validation=_validation(answer),
        evidence_json=_evidence(answer),
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
                validation=_validation(answer),
                citations=_citations(answer),
                evidence_json=_evidence(answer),
                **_usage(answer),
            )
            return pb.AskFrame(validation=done)
        case Failed(error):
            code, message = outcomes.of(error).http, outcomes.message(error)
            return pb.AskFrame(error=pb.ErrorFrame(code=code, message=message))


def _citations(answer: Answer) -> list[Any]:
    ordered = sorted(answer.citations, key=lambda footnote: footnote.marker)
    return [pb.Citation(marker=each.marker, urn=each.urn) for each in ordered]


def _evidence(answer: Answer) -> bytes | None:
    return None if answer.evidence is None else canonical.encode(envelope.evidence(answer.evidence))


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


def _fail(call: GrpcCall, error: Exception) -> None:
    """End a call with the status of an error; its text is cut to what metadata may hold."""
    body = outcomes.body(error)
    encoded = canonical.encode(body)
    if len(encoded) > _MAX_TRAILER:
        shown = dict(body["error"])  # type: ignore[call-overload]
        short = {name: _cut(text) for name, text in shown.items()}
        encoded = canonical.encode({"error": short})
    code = getattr(grpc.StatusCode, outcomes.of(error).grpc)
    call.fail(code, _cut(outcomes.message(error)), {"redask-error-bin": encoded})


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"
