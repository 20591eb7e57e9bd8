"""The published schemas describe exactly what goes in and out."""

import json as stdlib
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.clauses import OPTIONS, from_options
from redask.core.errors import BadAsk
from redask.core.model import Answer, Footnote, Mode, Notice, Source, Validation
from redask.core.rules.grounding.support import SupportVerdict
from redask.core.wire import envelope, json, schema

_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: _TYPES["number"](value) and value == value // 1,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
_KEYWORDS: dict[str, Callable[[Any, Any, Any], bool]] = {
    "type": lambda value, wanted, _: any(
        _TYPES[each](value) for each in ([wanted] if isinstance(wanted, str) else wanted)
    ),
    "minimum": lambda value, low, _: value >= low,
    "maximum": lambda value, high, _: value <= high,
    "minLength": lambda value, low, _: len(value) >= low,
    "maxLength": lambda value, high, _: len(value) <= high,
    "minItems": lambda value, low, _: len(value) >= low,
    "pattern": lambda value, pattern, _: re.search(pattern, value) is not None,
    "enum": lambda value, choices, _: value in choices,
    "anyOf": lambda value, choices, _: any(valid(value, choice) for choice in choices),
    "items": lambda value, each, _: all(valid(item, each) for item in value),
    "required": lambda value, names, _: all(name in value for name in names),
    "properties": lambda value, known, _: all(
        valid(value[name], each) for name, each in known.items() if name in value
    ),
    "additionalProperties": lambda value, allowed, whole: (
        allowed or set(value) <= set(whole["properties"])
    ),
    "maxItems": lambda value, high, _: len(value) <= high,
    "not": lambda value, other, _: not valid(value, other),
    "const": lambda value, wanted, _: value is wanted,
    "description": lambda *_: True,
    "title": lambda *_: True,
    "format": lambda *_: True,
    "default": lambda _, default, whole: valid(
        default, {keyword: wanted for keyword, wanted in whole.items() if keyword != "default"}
    ),
}


def valid(value: Any, described: Any) -> bool:
    """A small validator; an unknown keyword is a KeyError, so that none goes unread."""
    ordered = sorted(described.items(), key=lambda item: item[0] != "type")  # type comes first
    return all(_KEYWORDS[keyword](value, wanted, described) for keyword, wanted in ordered)


ASK = schema.ask()
ENVELOPE = schema.envelope()
EXAMPLE = envelope.build(
    Answer(
        "a[^1]",
        (Footnote(1, "u"),),
        (Source("u", "{}"),),
        Validation(True, (Notice("k", "d"),), (Notice("k", "d"),)),
        "p",
        "m",
        Mode.STRICT,
    )
)


def accepted(asked: Any) -> bool:
    if not isinstance(asked, dict) or not {"question"} <= set(asked) <= {"question", "options"}:
        return False  # the transport's part: the two names around the options
    try:
        from_options(*(asked[name] for name in ("question", "options") if name in asked))
    except BadAsk:
        return False
    return True


def test_schemas_are_canonical_and_new_objects_each_time() -> None:
    assert json.encode(ASK) == json.encode(schema.ask())
    assert json.encode(ENVELOPE) == json.encode(schema.envelope())
    assert schema.ask() is not schema.ask()


def test_every_option_is_described_with_its_help_and_its_own_schema() -> None:
    described: Any = ASK["properties"]
    assert set(described) == {"question", "options"}
    assert ASK["required"] == ["question"]
    options = described["options"]
    assert (options["required"], options["additionalProperties"]) == ([], False)
    shown = dict(options["properties"])
    seed = shown.pop("seed")
    expected = {
        row.option: {"description": row.help, **(row.schema or {})} for row in OPTIONS if row.option
    }
    number = expected.pop("seed")
    assert shown == expected
    assert seed["description"] == number.pop("description")
    assert seed["anyOf"][0] == number


@pytest.mark.parametrize(
    ("digits", "fits"),
    [("0", True), ("007", True), ("", False), ("-1", False), ("1.0", False), ("x", False)]
    + [(str(2**64 - 1 + each), each <= 0) for each in (-10, -1, 0, 1, 10)]
    + [
        (str(10**19), True),
        (str(10**18), True),
        (str(10**20), False),
        ("18446744073709551599", True),
    ],
)
def test_a_seed_may_be_a_text_of_digits_up_to_a_u64(digits: str, fits: bool) -> None:
    assert valid({"question": "q", "options": {"seed": digits}}, ASK) is fits


@pytest.mark.parametrize(
    ("asked", "fits"),
    [
        ({"question": "q"}, True),
        ({"question": "q", "options": {}}, True),
        ({"question": " \t"}, False),
        ({"question": ""}, False),
        ({"question": 5}, False),
        ({"question": "x" * 32768}, True),
        ({"question": "x" * 32769}, False),
        ({"options": {}}, False),
        ({"question": "q", "options": None}, False),
        ({"question": "q", "stream": True}, False),
        ({"question": "q", "options": {"stream": True}}, False),
        ({"question": "q", "options": {"limit": 200}}, True),
        ({"question": "q", "options": {"limit": 20.0}}, True),
        ({"question": "q", "options": {"limit": 201}}, False),
        ({"question": "q", "options": {"limit": True}}, False),
        ({"question": "q", "options": {"limit": 1.5}}, False),
        ({"question": "q", "options": {"seed": 2**64 - 1}}, True),
        ({"question": "q", "options": {"seed": 2**64}}, False),
        ({"question": "q", "options": {"model": ""}}, False),
        ({"question": "q", "options": {"collection": "a"}}, True),
        ({"question": "q", "options": {"collection": ["a", "b"]}}, True),
        ({"question": "q", "options": {"collection": []}}, False),
        ({"question": "q", "options": {"collection": [""]}}, False),
        ({"question": "q", "options": {"collection": "x" * 256}}, True),
        ({"question": "q", "options": {"collection": "x" * 257}}, False),
        ({"question": "q", "options": {"cache": {"ttl": "5m"}}}, True),
        ({"question": "q", "options": {"cache": {"ttl": "5ms"}}}, False),
        ({"question": "q", "options": {"cache": {}}}, False),
        ({"question": "q", "options": {"cache": {"ttl": "0m"}}}, False),
        ({"question": "q", "options": {"cache": {"ttl": "007d"}}}, True),
        ({"question": "q", "options": {"cache": {"ttl": "9" * 20 + "d"}}}, False),
        ({"question": "q", "options": {"cache": {"ttl": "5m"}, "nocache": True}}, False),
        ({"question": "q", "options": {"cache": {"ttl": "5m"}, "nocache": False}}, True),
        ({"question": "q\x1f"}, False),
        ({"question": " q\n\t\r"}, True),
        ({"question": "\x7fq"}, False),
        ({"question": "q", "options": {"model": "a\x00"}}, False),
        ({"question": "q", "options": {"using": "a\x1fb"}}, False),
        ({"question": "q", "options": {"collection": ["a"] * 1001}}, False),
        ({"question": "q", "options": {"history": [{"question": "\x01", "answer": ""}]}}, False),
        ({"question": "q", "options": {"cache": {"ttl": "5m", "x": 1}}}, False),
    ],
)
def test_the_schema_and_the_reader_agree(asked: object, fits: bool) -> None:
    assert valid(asked, ASK) is accepted(asked) is fits


_JSON = st.none() | st.booleans() | st.integers(-1, 300) | st.floats() | st.text(max_size=4)
_NAMES = st.sampled_from([row.option for row in OPTIONS if row.option])
_CACHES = st.dictionaries(st.sampled_from(["ttl", "x"]), _JSON | st.just("5m"))


@given(
    _JSON, st.dictionaries(_NAMES | st.text(max_size=3), _JSON | st.lists(_JSON) | _CACHES) | _JSON
)
def test_what_is_accepted_fits_the_schema(question: Any, options: Any) -> None:
    for asked in (
        {"question": question, "options": options},
        {"question": "q", "options": options},
    ):
        assert valid(asked, ASK) or not accepted(asked)


def test_an_envelope_fits_its_schema() -> None:
    assert valid(stdlib.loads(json.encode(EXAMPLE)), ENVELOPE)
    assert ENVELOPE["required"] == sorted(EXAMPLE)
    assert sorted(ENVELOPE["properties"]) == sorted([*EXAMPLE, "evidence"])  # type: ignore[call-overload]


def test_evidence_fits_the_schema_with_the_verdicts_there_are() -> None:
    quote = {"end": 2, "place": {"page": 1}, "start": 0, "text": "a", "urn": "u"}
    shown = {"claim": {"end": 2, "start": 0}, "markers": [1], "quotes": [quote]}
    for verdict in SupportVerdict:
        found = {**shown, "verdict": verdict.value, "quotes": [quote, {**quote, "place": None}]}
        assert valid({**EXAMPLE, "evidence": [found]}, ENVELOPE)
    assert not valid({**EXAMPLE, "evidence": [{**shown, "verdict": "perhaps"}]}, ENVELOPE)


@pytest.mark.parametrize(("retries", "fits"), [(-1, False), (0, True), (1, True), (2, False)])
def test_there_is_at_most_one_retry(retries: int, fits: bool) -> None:
    assert valid({**EXAMPLE, "retry_count": retries}, ENVELOPE) is fits


def test_the_modes_of_the_schema_are_the_modes() -> None:
    properties: Any = ENVELOPE["properties"]
    assert properties["mode"]["enum"] == [mode.value for mode in Mode]


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    steps = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [
        found for step, inner in steps for found in [(*path, step), *_paths(inner, (*path, step))]
    ]


@pytest.mark.parametrize("path", _paths(EXAMPLE), ids=str)
def test_an_envelope_with_anything_missing_added_or_null_does_not_fit(
    path: tuple[Any, ...],
) -> None:
    for change in ("drop", "null", "add"):
        changed: Any = stdlib.loads(json.encode(EXAMPLE))
        inner = changed
        for step in path[:-1]:
            inner = inner[step]
        if isinstance(inner, list) and change != "null":
            continue  # lists may be of any length
        if change == "drop":
            del inner[path[-1]]
        elif change == "null":
            inner[path[-1]] = None
        else:
            inner["seed"] = 1
        assert not valid(changed, ENVELOPE), change


def test_a_plan_and_the_hits_of_a_search_are_described_key_by_key() -> None:
    plan: Any = schema.plan()
    assert {"question", "retrieval", "sources"} <= set(plan["required"])
    assert "query" in plan["properties"]
    assert "query" not in plan["required"]
    hits: Any = schema.hits()
    assert hits["properties"]["hits"]["items"]["required"] == ["payload", "score", "urn"]
