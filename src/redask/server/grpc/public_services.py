"""gRPC's own services: health, for everybody, and reflection, `PublicServices(names, …)`.

Reflection is for who signs in, with the metadata of any call, unless the settings open it
(`serve.public`): `may_reflect` says so before a message is read.

A call of gRPC's synchronous server holds a thread, and an unauthenticated client may open a call
and send nothing, or read nothing. So these calls share PLACES, and when all are taken the oldest
is cancelled: an honest call is answered within a millisecond.

grpcio's own health servicer is not used: it writes to watchers while it holds the lock of all, so
that one that does not read would stop every health check.

Reflection is served as v1 and as v1alpha, which differ in their name alone: grpcio has only the
older one, so its messages serve both, and the newer one's description is made from its own.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool
from grpc_health.v1 import health, health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from redask.core.errors import AskError
from redask.core.wire import outcomes
from redask.server.grpc.calls import END, first, reader, write

PLACES = 32
REFLECTION_V1 = "grpc.reflection.v1.ServerReflection"
Send = Callable[[Any], None]
MayReflect = Callable[[Any], None]  # of a call's context; `AskError`: it may not


class PublicServices:
    """Health and reflection of services by these names, all of them serving."""

    def __init__(self, names: tuple[str, ...], may_reflect: MayReflect) -> None:
        self._may_reflect = may_reflect
        self._serving = {"", *names}
        _describe_v1()
        reflected = (*names, health.SERVICE_NAME, REFLECTION_V1, reflection.SERVICE_NAME)
        self._reflection = reflection.ReflectionServicer(reflected)
        self._watching: dict[Any, Send] = {}
        self._places: dict[Any, None] = {}  # in order of arrival
        self._lock = Lock()

    def handlers(self) -> tuple[Any, ...]:
        """For `add_generic_rpc_handlers`."""
        asked = reader(health_pb2.HealthCheckRequest)

        def watch(requests: Any, context: Any, send: Send) -> None:
            self._watch(requests, context, send)

        watch.experimental_non_blocking = True  # type: ignore[attr-defined]
        check = grpc.stream_unary_rpc_method_handler(self._check, asked, write)
        watched = grpc.stream_stream_rpc_method_handler(watch, asked, write)
        reflected = grpc.stream_stream_rpc_method_handler(
            self._reflect, reader(reflection_pb2.ServerReflectionRequest), write
        )
        return (
            grpc.method_handlers_generic_handler(
                health.SERVICE_NAME, {"Check": check, "Watch": watched}
            ),
            *(
                grpc.method_handlers_generic_handler(name, {"ServerReflectionInfo": reflected})
                for name in (REFLECTION_V1, reflection.SERVICE_NAME)
            ),
        )

    def close(self) -> None:
        """End the streams of watchers."""
        for send in list(self._watching.values()):
            send(None)

    def _check(self, requests: Any, context: Any) -> Any:
        with self._place(context):
            name = _message(first(requests), context).service
        if name not in self._serving:
            context.abort(grpc.StatusCode.NOT_FOUND, "there is no such service")
        return health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)

    def _watch(self, requests: Any, context: Any, send: Send) -> None:
        """One status, which never changes; the stream stays open until one side ends it."""
        states = health_pb2.HealthCheckResponse
        with self._place(context):
            name = _message(first(requests), context).service
            self._watching[context] = send
            if not context.add_callback(lambda: self._watching.pop(context, None)):
                self._watching.pop(context, None)
            send(states(status=states.SERVING if name in self._serving else states.SERVICE_UNKNOWN))

    def _reflect(self, requests: Any, context: Any) -> Iterator[Any]:
        good = (_message(each, context) for each in requests)
        with self._place(context):
            try:
                self._may_reflect(context)
            except AskError as error:
                code = getattr(grpc.StatusCode, outcomes.of(error).grpc)
                context.abort(code, outcomes.message(error))
            yield from self._reflection.ServerReflectionInfo(good, context)

    @contextmanager
    def _place(self, context: Any) -> Iterator[None]:
        with self._lock:
            oldest = next(iter(self._places)) if len(self._places) >= PLACES else None
            if oldest is not None:
                del self._places[oldest]
            self._places[context] = None
        if oldest is not None:
            oldest.cancel()
        try:
            yield
        finally:
            with self._lock:
                self._places.pop(context, None)


def _message(given: Any, context: Any) -> Any:
    if given is END or isinstance(given, bytes):
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "this is no message of the call's type")
    return given


def _describe_v1() -> None:
    """Let the pool that reflection reads know v1, which is v1alpha under another name."""
    pool = descriptor_pool.Default()
    found = descriptor_pb2.FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(found)
    found.name = "grpc/reflection/v1/reflection.proto"
    found.package = "grpc.reflection.v1"
    found.ClearField("options")
    for message in found.message_type:
        for field in filter(lambda each: each.type_name, message.field):
            field.type_name = field.type_name.replace(".v1alpha.", ".v1.")
    for service in found.service:
        for method in service.method:
            method.input_type = method.input_type.replace(".v1alpha.", ".v1.")
            method.output_type = method.output_type.replace(".v1alpha.", ".v1.")
    pool.Add(found)
