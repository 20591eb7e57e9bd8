"""gRPC: frozen tags, the envelope's fields, deadlines, metadata, health and reflection."""

import asyncio
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from transports import Transports
from waiting import SECONDS

from redask.core.errors import BadAsk
from redask.core.wire import schema
from redask.server.grpc.generated import redask_pb2 as pb

FERRY = "When does the ferry leave?"
TAGS = {
    "AskRequest": "question strict using model collection limit min_score depth temperature seed "
    "cache_ttl nocache strictness evidence plan steps history",
    "Turn": "question answer",
    "AskReply": "answer sources_flat_json citations validation provider model prompt_tokens "
    "completion_tokens cost_usd cache_hit mode retry_count evidence_json",
    "AskFrame": "sources answer_token answer_reset validation error",
    "SourcesFrame": "sources_flat_json",
    "TokenFrame": "text",
    "ResetFrame": "reason",
    "DoneFrame": "validation citations provider model prompt_tokens completion_tokens cost_usd "
    "cache_hit mode retry_count evidence_json",
    "ErrorFrame": "code message",
    "Citation": "marker urn",
    "Validation": "ok warnings errors",
    "Item": "kind detail",
    "ExplainReply": "plan_json",
    "QueryRequest": "statement params_json",
    "QueryReply": "rows_json",
}


@pytest.fixture(scope="module")
def transports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Transports]:
    with Transports(tmp_path_factory.mktemp("grpc") / "db") as opened:
        yield opened


def test_the_tags_are_frozen() -> None:
    messages = pb.DESCRIPTOR.message_types_by_name
    assert set(messages) == set(TAGS)
    for name, fields in TAGS.items():
        found = {field.name: field.number for field in messages[name].fields}
        assert found == {each: number for number, each in enumerate(fields.split(), 1)}, name


def test_the_reply_has_the_fields_of_the_envelope() -> None:
    fields = {field.name.removesuffix("_json") for field in pb.AskReply.DESCRIPTOR.fields}
    properties: Any = schema.envelope()["properties"]
    assert fields == set(properties)


def failure(transports: Transports, call: str, request: Any, **rest: Any) -> grpc.aio.AioRpcError:
    async def main() -> grpc.aio.AioRpcError:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await getattr(transports.stub, call)(request, **rest)
        return caught.value

    return transports.run(main())


@pytest.mark.parametrize("params", ["{", "{}", "[NaN]", '[{"a":1,"a":2}]', '["\\ud800"]'])
def test_params_that_are_no_list_are_refused(transports: Transports, params: str) -> None:
    request = pb.QueryRequest(statement="SELECT 1", params_json=params)
    found = failure(transports, "Query", request, metadata=transports.clients["mia"].metadata)
    assert found.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "params_json" in (found.details() or "")


def test_without_a_token_no_client_is_served(transports: Transports) -> None:
    for metadata in ((), (("authorization", "Basic x"),), (("authorization", "Bearer x"),)):
        found = failure(transports, "Ask", pb.AskRequest(question=FERRY), metadata=metadata)
        assert found.code() is grpc.StatusCode.UNAUTHENTICATED


def test_a_deadline_ends_the_ask_and_its_row_says_cancelled(transports: Transports) -> None:
    asked = pb.AskRequest(question=f"{FERRY} Now!", using="anthropic")
    metadata, calls = transports.clients["mia"].metadata, transports.actors["anthropic"].calls
    before, seconds = len(calls), 0.4
    while len(calls) == before:  # on a slow machine the ask needs more to begin
        found = failure(transports, "Ask", asked, metadata=metadata, timeout=seconds)
        assert found.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        seconds *= 2

    async def row() -> Any:
        async with asyncio.timeout(SECONDS):
            while (
                not (found := await transports.db.audit(1))
                or found[0].row["question"] != f"{FERRY} Now!"
            ):
                await asyncio.sleep(0.01)
        return found[0].row

    assert [each["kind"] for each in transports.run(row())["errors"]] == ["cancelled"]


def test_a_long_error_still_fits_into_the_metadata(
    transports: Transports, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise BadAsk("ü" * 50_000, detail="x" * 50_000)

    monkeypatch.setattr("redask.server.grpc.service.asked", broken)
    metadata = transports.clients["mia"].metadata
    found = failure(transports, "Ask", pb.AskRequest(question=FERRY), metadata=metadata)
    assert found.code() is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_health_and_reflection_answer(transports: Transports, version: str) -> None:
    """v1 as a client of v1 asks: by its name, with messages that are the same bytes."""
    path = f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo"
    reflected = f"grpc.reflection.{version}.ServerReflection"
    request = reflection_pb2.ServerReflectionRequest
    asked = [request(list_services=""), request(file_containing_symbol=reflected)]

    async def main() -> tuple[int, list[Any]]:
        health: Any = health_pb2_grpc.HealthStub(transports.channel)
        response = await health.Check(health_pb2.HealthCheckRequest(service="redask.v1.Redask"))
        reflecting = transports.channel.stream_stream(
            path,
            request_serializer=request.SerializeToString,
            response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
        )
        metadata = transports.clients["mia"].metadata
        replies = reflecting(iter(asked), metadata=metadata)
        return response.status, [reply async for reply in replies]

    status, (listed, described) = transports.run(main())
    assert status == health_pb2.HealthCheckResponse.SERVING
    names = {each.name for each in listed.list_services_response.service}
    assert {"redask.v1.Redask", "grpc.health.v1.Health", reflected} <= names
    [file] = described.file_descriptor_response.file_descriptor_proto
    assert descriptor_pb2.FileDescriptorProto.FromString(file).package in reflected
