"""The gRPC message AskRequest is made from the clauses, and so is what the transport reads."""

from dataclasses import replace
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from redask.core.clauses import OPTIONS, from_options
from redask.core.clauses.definitions import GrpcField
from redask.core.errors import BadAsk
from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.service import asked

ROOT = Path(__file__).parent.parent.parent
TOOL: dict[str, Any] = run_path(str(ROOT / "tools" / "proto.py"))
FROZEN = """message AskRequest {
  string question = 1;
  optional bool strict = 2;
  optional string using = 3;
  optional string model = 4;
  repeated string collection = 5;
  optional uint32 limit = 6;
  optional double min_score = 7;
  optional uint32 depth = 8;
  optional double temperature = 9;
  optional uint64 seed = 10;
  optional string cache_ttl = 11;
  optional bool nocache = 12;
  optional string strictness = 13;
  optional bool evidence = 14;
  optional string plan = 15;
  optional uint32 steps = 16;
  repeated Turn history = 17;
}
"""
# the fields of a message, and the options that say the same in JSON
SAID: list[tuple[dict[str, Any], dict[str, object]]] = [
    ({}, {}),
    ({"strict": True}, {"strict": True}),
    ({"strict": False}, {"strict": False}),
    ({"using": "openai,groq"}, {"using": "openai,groq"}),
    ({"using": ""}, {"using": ""}),
    ({"model": "m"}, {"model": "m"}),
    ({"collection": []}, {}),
    ({"collection": ["a", "b"]}, {"collection": ["a", "b"]}),
    ({"limit": 7}, {"limit": 7}),
    ({"min_score": 0.0}, {"min_score": 0.0}),
    ({"depth": 0}, {"depth": 0}),
    ({"temperature": 0.5}, {"temperature": 0.5}),
    ({"seed": 0}, {"seed": 0}),
    ({"seed": 2**64 - 1}, {"seed": 2**64 - 1}),
    ({"cache_ttl": "5m"}, {"cache": {"ttl": "5m"}}),
    ({"nocache": True}, {"nocache": True}),
    ({"nocache": False}, {"nocache": False}),
    ({"strictness": "supported"}, {"strict": "supported"}),
    ({"strictness": "off"}, {"strict": False}),
    ({"evidence": True}, {"evidence": True}),
    ({"evidence": False}, {"evidence": False}),
    ({"plan": "only"}, {"plan": "only"}),
    ({"steps": 2}, {"steps": 2}),
    ({"history": []}, {}),
    (
        {"history": [pb.Turn(question="Who?", answer="Ada.")]},
        {"history": [{"question": "Who?", "answer": "Ada."}]},
    ),
]


def test_the_message_is_frozen() -> None:
    assert TOOL["message"](OPTIONS) == FROZEN


def test_every_clause_with_an_option_has_a_field_of_its_own() -> None:
    assert [bool(row.grpc) for row in OPTIONS] == [bool(row.option) for row in OPTIONS]
    fields = [field for row in OPTIONS for field in (row.grpc, row.grpc_word) if field]
    assert len({field.tag for field in fields}) == len({field.name for field in fields})
    assert len({1, *(field.tag for field in fields)}) == len(fields) + 1


def test_the_files_are_what_make_proto_writes(tmp_path: Path) -> None:
    TOOL["generate"](tmp_path)
    folder = TOOL["PROTO"].parent
    made = sorted((tmp_path / folder).iterdir())
    assert {file.suffix for file in made} == {".proto", ".py", ".pyi"}
    for file in made:
        committed = ROOT / "src" / folder / file.name
        assert committed.read_bytes() == file.read_bytes(), f"{file.name}: run `make proto`"


def test_a_new_row_is_a_new_field_and_moves_no_other() -> None:
    row = replace(OPTIONS[0], keyword="NEW", option="new", grpc=GrpcField(18, "string", "new"))
    lines = TOOL["message"]((row, *OPTIONS)).splitlines()
    assert lines == [*FROZEN.splitlines()[:-1], "  optional string new = 18;", "}"]
    assert "optional string new = 18;" in TOOL["proto"]((row, *OPTIONS))


@pytest.mark.parametrize(("fields", "options"), SAID)
def test_a_message_says_what_the_options_say(
    fields: dict[str, Any], options: dict[str, object]
) -> None:
    assert asked(pb.AskRequest(question="q", **fields)) == from_options("q", options)


def test_every_option_is_tried() -> None:
    tried = {option for _, options in SAID for option in options}
    assert tried == {row.option for row in OPTIONS if row.option}


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"limit": 0}, "limit"),
        ({"cache_ttl": "5"}, "cache.ttl"),
        ({"history": [pb.Turn(answer="Ada.")]}, "history[0].question"),
        ({"strictness": "very"}, "strict"),
        ({"strict": True, "strictness": "on"}, "strictness"),
    ],
)
def test_what_does_not_fit_is_refused_by_the_name_of_the_option(
    fields: dict[str, Any], path: str
) -> None:
    with pytest.raises(BadAsk) as caught:
        asked(pb.AskRequest(question="q", **fields))
    assert caught.value.detail == path
