"""gRPC: the service as reflection describes it, and what its calls reply, byte for byte."""

import base64
from pathlib import Path
from typing import Any

import grpc
import world
from google.protobuf import descriptor_pool, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from started import served
from surface import Recorded

SERVICE = "redask.v1.Redask"
SAIL = {"question": "How is a torn sail mended?", "limit": 2}
_SCRIPTED = {"question": "torn sail", "using": "scripted", "limit": 1}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Ask", SAIL),
    ("Ask", {**_SCRIPTED, "seed": 2**63, "temperature": 0.5, "strict": False}),
    ("Ask", {**_SCRIPTED, "model": "inventing"}),
    ("Ask", {**_SCRIPTED, "model": "refused"}),
    ("Ask", {**_SCRIPTED, "model": "5xx"}),
    ("Ask", {"question": "torn sail", "using": "deepseek"}),
    ("Ask", {"question": "torn sail", "using": "nobody"}),
    ("Ask", {"question": "x", "collection": ["secrets"]}),
    ("Ask", {"question": "x", "limit": 201}),
    ("Ask", {"question": "sail " * 3000}),
    ("Ask", {}),
    ("AskStream", SAIL),
    ("AskStream", {**_SCRIPTED, "model": "mending"}),
    ("AskStream", {**_SCRIPTED, "model": "breaking"}),
    ("AskStream", {"question": " "}),
    ("Explain", SAIL),
    ("Explain", {"question": "x", "depth": 11}),
    ("Query", {"statement": "SELECT * FROM tickets ORDER BY id LIMIT 2"}),
    ("Query", {"statement": "ASK ? LIMIT 1", "params_json": '["torn sail"]'}),
    ("Query", {"statement": "EXPLAIN ASK 'torn sail' LIMIT 1"}),
    ("Query", {"statement": "SELECT * FROM secrets"}),
    ("Query", {"statement": "DELETE FROM tickets"}),
    ("Query", {"statement": "SELECT 1", "params_json": "{"}),
)


def record(place: Path) -> Recorded:
    """The messages come from reflection, so that no generated module is needed."""
    tokens = world.fill(place / "db")
    with served(place / "db", "--no-http", "--no-pg") as ports:
        caller = (("authorization", f"Bearer {tokens['mia']}"),)
        channel: Any = grpc.insecure_channel(f"127.0.0.1:{ports['grpc']}")
        signed_in = grpc.intercept_channel(channel, _Token(caller))
        with channel:
            known = ProtoReflectionDescriptorDatabase(signed_in)
            yield "services", sorted(known.get_services())
            file = known.FindFileContainingSymbol(SERVICE)
            yield (
                "descriptor",
                base64.b64encode(file.SerializeToString(deterministic=True)).decode(),
            )
            yield "descriptor as text", str(file)
            service = descriptor_pool.DescriptorPool(known).FindServiceByName(SERVICE)
            for number, (name, fields) in enumerate(CALLS):
                said = _called(channel, service, name, fields, caller)
                yield f"{number} {name} {str(fields)[:150]}", said
            yield "nobody", _called(channel, service, "Ask", SAIL, ())
            gone = (("authorization", f"Bearer {tokens['gone']}"),)
            yield "gone", _called(channel, service, "AskStream", SAIL, gone)
            health = channel.unary_unary("/grpc.health.v1.Health/Check")
            yield "health", health(b"").hex()
            yield "fish", _failed(lambda: channel.unary_unary(f"/{SERVICE}/Fish")(b""))


class _Token(grpc.StreamStreamClientInterceptor):  # type: ignore[misc]  # grpc has no types
    """Sends a token with each call."""

    def __init__(self, metadata: tuple[tuple[str, str], ...]) -> None:
        self._metadata = metadata

    def intercept_stream_stream(self, go_on: Any, details: Any, requests: Any) -> Any:
        return go_on(details._replace(metadata=self._metadata), requests)


def _called(channel: Any, service: Any, name: str, fields: Any, caller: Any) -> object:
    """Each reply as bytes and as text, or the status with the error that came with it."""
    method = service.methods_by_name[name]
    request = message_factory.GetMessageClass(method.input_type)(**fields)
    call = channel.unary_stream(f"/{SERVICE}/{name}")
    reply = message_factory.GetMessageClass(method.output_type)

    def replies() -> list[object]:
        found = call(request.SerializeToString(), metadata=caller, timeout=60)
        return [[raw.hex(), str(reply.FromString(raw))] for raw in found]

    return _failed(replies)


def _failed(work: Any) -> object:
    try:
        return work()
    except grpc.RpcError as error:
        told: Any = error
        trailer = {key: str(value) for key, value in told.trailing_metadata() or ()}
        return [told.code().name, told.details(), trailer]
