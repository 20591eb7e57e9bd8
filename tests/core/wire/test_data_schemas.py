"""The schemas of rows, collections, sources and errors: what fits, what does not."""

from collections.abc import Callable
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from redask.core.errors import BadAsk, Ungrounded
from redask.core.model import Mode, Notice
from redask.core.rules import audit
from redask.core.wire import data_schemas, outcomes, schema
from redask.core.wire.json import encode

ROW = audit.record(
    ts=1,
    tenant="local",
    user="mia",
    role="sales",
    question="q",
    sources_urns=["u"],
    provider="p",
    model="m",
    prompt_tokens=0,
    completion_tokens=0,
    cost_usd=0.0,
    answer="a",
    citations=[1],
    cache_hit=False,
    mode=Mode.STRICT,
    temperature=None,
    seed=None,
    validation_ok=True,
    retry_count=0,
    errors=[Notice("k", "d")],
    include_answer=True,
)
ENTRY = {"hash": "h", "row": ROW, "seq": 1}
COLUMN = {"name": "id", "type": "int4"}
OUTLINE = {"coverage": 1.0, "intent": "count", "missing": [], "nearest": None}
Shape = Callable[[], dict[str, object]]


def fits(value: object, described: dict[str, object]) -> bool:
    return bool(jsonschema.Draft202012Validator(described).is_valid(value))


@pytest.mark.parametrize(
    ("shape", "good", "bad"),
    [
        (data_schemas.statement, {"statement": "SELECT 1", "params": [1, None]}, {"params": []}),
        (data_schemas.statement, {"statement": "SELECT 1"}, {"statement": ""}),
        (data_schemas.statement, {"statement": "s", "params": [[1]]}, {"statement": "s", "a": 1}),
        (data_schemas.rows, {"rows": [{"a": 1}]}, {"rows": [1]}),
        (
            data_schemas.select,
            {"statement": "s", "max_rows": 1000},
            {"statement": "s", "max_rows": 0},
        ),
        (
            data_schemas.selected,
            {"columns": [COLUMN], "row_count": 0, "rows": [], "truncated": False},
            {"rows": []},
        ),
        (
            data_schemas.collections,
            {"collections": [{"columns": [COLUMN], "entities": {"row": 1}, "name": "n"}]},
            {"collections": [{"columns": [], "entities": {"row": -1}, "name": "n"}]},
        ),
        (data_schemas.nothing, {}, {"a": 1}),
        (data_schemas.urn, {"urn": "urn:reddb:row:notes/1"}, {"urn": "urn:reddb:row:notes"}),
        (
            data_schemas.outline,
            {**OUTLINE, "others": [{"sql": "s", "why": "w"}], "reason": None, "sql": "s"},
            OUTLINE,
        ),
        (data_schemas.put, {"rows": [{"id": 1}], "kind": "node"}, {"rows": [{}]}),
        (data_schemas.put, {"rows": []}, {"rows": [], "kind": "edge"}),
        (data_schemas.put, {"rows": [{"a\n": 1}]}, {"rows": [{"": 1}]}),
        (data_schemas.written, {"urns": ["u"]}, {"urns": [1]}),
        (data_schemas.audit, {"rows": [ENTRY, {**ENTRY, "today": "t"}]}, {"rows": [{"seq": 1}]}),
        (data_schemas.error, outcomes.body(BadAsk("b")), {"error": {"kind": "bad_ask"}}),
        (data_schemas.error, outcomes.body(Ungrounded("m", (Notice("k", "d"),))), {}),
        (schema.source, {"payload": "{}", "urn": "u"}, {"urn": "u"}),
    ],
)
def test_what_goes_in_and_out_fits_its_schema(shape: Shape, good: Any, bad: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(shape())
    assert fits(good, shape())
    assert not fits(bad, shape())
    assert encode(shape()) == encode(shape())


@pytest.mark.parametrize(
    ("name", "good"), [("notes", True), ("red_x", False), ("Red_x", False), ("", False)]
)
def test_names_of_collections_that_may_be_written(name: str, good: bool) -> None:
    assert fits(name, data_schemas.collection_name()) is good
    assert fits("urn:reddb:row:a/b", data_schemas.urn_text())
