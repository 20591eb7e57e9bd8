"""Contract 18, the clauses as options: names, ranges, paths, and the same Ask as a statement."""

import math
from collections.abc import Callable, Mapping
from itertools import product
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core import values
from redask.core.clauses import from_options, parse
from redask.core.errors import BadAsk
from redask.core.model import Ask, Strictness
from redask.core.wire import json, outcomes

U64_MAX = (1 << 64) - 1
NUMBERS = ["limit", "min_score", "depth", "temperature", "seed", "steps"]
TEXTS = ["using", "model", "collection"]
NAMES = [*TEXTS, *NUMBERS, "strict", "cache", "nocache", "evidence", "plan"]


def refused(question: object = "q", options: Any = MappingProxyType({}), **more: str) -> BadAsk:
    with pytest.raises(BadAsk) as caught:
        from_options(question, options, **more)
    error = caught.value
    assert error.message.startswith(f"{error.detail}: expected ")
    assert error.message.isprintable()
    return error


# --- the question ----------------------------------------------------------------------


def test_no_options_is_every_default() -> None:
    assert from_options("q") == from_options("q", {}) == Ask("q")


@pytest.mark.parametrize("question", [" untrimmed\t", "it's", "a\nb\r\n", "e\u0301 ñ 😀", "\u200b"])
def test_a_question_is_kept_as_it_is(question: str) -> None:
    assert from_options(question).question == question


@pytest.mark.parametrize(
    "question",
    [None, 5, True, b"q", ["q"], {"q": 1}, "", " ", "\t\r\n\u2003", "a\x00b", "a\x7fb", "\ud800"],
)
def test_a_question_that_is_none_is_refused_by_its_name(question: object) -> None:
    assert refused(question).detail == "question"


@pytest.mark.parametrize("filler", ["x", "é"])
def test_a_question_has_at_most_32_kibibytes_in_utf8(filler: str) -> None:
    full = filler * (32 * 1024 // len(filler.encode()))
    assert from_options(full).question == full
    assert "32769 bytes" in refused(full + "x").message


# --- each option -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"strict": True}, Ask("q", strict=Strictness.ON)),
        ({"strict": False}, Ask("q", strict=Strictness.OFF)),
        ({"strict": "on"}, Ask("q", strict=Strictness.ON)),
        ({"strict": "off"}, Ask("q", strict=Strictness.OFF)),
        ({"strict": "supported"}, Ask("q", strict=Strictness.SUPPORTED)),
        ({"evidence": True}, Ask("q", evidence=True)),
        ({"strict": Strictness.OFF}, Ask("q", strict=Strictness.OFF)),
        ({"using": "B, a,,b"}, Ask("q", using=("b", "a"))),
        ({"using": " , "}, Ask("q")),
        ({"model": " Kept As Is "}, Ask("q", model=" Kept As Is ")),
        ({"collection": "a, b"}, Ask("q", collections=("a, b",))),
        ({"collection": ["a", "b", "a"]}, Ask("q", collections=("a", "b"))),
        ({"limit": 20.0}, Ask("q", limit=20)),
        ({"min_score": 0}, Ask("q", min_score=0.0)),
        ({"temperature": 0.0}, Ask("q", temperature=0.0)),
        ({"seed": 0}, Ask("q", seed=0)),
        ({"cache": {"ttl": "5m"}}, Ask("q", cache_ttl=300)),
        ({"nocache": True}, Ask("q", nocache=True)),
        ({"nocache": False, "cache": {"ttl": "5m"}}, Ask("q", cache_ttl=300)),
        (MappingProxyType({"limit": 5}), Ask("q", limit=5)),
    ],
)
def test_an_option_sets_fields_of_the_ask(options: object, expected: Ask) -> None:
    assert from_options("q", options) == expected


@pytest.mark.parametrize(
    ("option", "low", "high", "step", "kind"),
    [
        ("limit", 1, 200, 1, int),
        ("min_score", 0, 1, 1e-9, float),
        ("depth", 0, 10, 1, int),
        ("temperature", 0, 2, 1e-9, float),
        ("seed", 0, U64_MAX, 1, int),
    ],
)
def test_ranges_hold_at_their_bounds(
    option: str, low: int, high: int, step: float, kind: type
) -> None:
    for inside in (low, high, float(low)):
        value = getattr(from_options("q", {option: inside}), option)
        assert (value, type(value)) == (inside, kind)
    for outside in (low - step, high + step, -math.inf, math.inf, math.nan, 10**5000, -(10**5000)):
        assert refused(options={option: outside}).detail == f"options.{option}"


@pytest.mark.parametrize("option", ["limit", "depth", "seed"])
def test_a_fraction_is_no_whole_number(option: str) -> None:
    assert "a whole number" in refused(options={option: 1.5}).message


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *product(NUMBERS, (True, False, "5", None, [5], {})),
        *product(TEXTS, (True, 5, 0.5, None, {}, b"a", "a" * 257)),
        *product(TEXTS, ("a\x00b", "a\x1fb", "a\nb", "a\x7fb", "a\ud800b")),
        *product(["strict", "nocache", "evidence"], (0, 1, "true", None, [])),
        *product(["strict"], ("ON", "", " on", "SUPPORTED", "strict", ["on"], {})),
        *product(["nocache"], ("on",)),
        *product(["cache"], ("5m", 300, True, None, ["5m"])),
        *product(["model", "collection"], ("", [], {})),
        *product(["using", "model"], (["a"], ("a",))),
    ],
)
def test_a_wrong_value_is_refused_with_its_path(option: str, value: object) -> None:
    assert refused(options={option: value}).detail == f"options.{option}"


@pytest.mark.parametrize(
    ("options", "path"),
    [
        (None, "options"),
        ([], "options"),
        ("limit", "options"),
        ({"limits": 5}, "options.limits"),
        ({"LIMIT": 5}, "options.LIMIT"),
        ({"stream": True}, "options.stream"),
        ({"explain": True}, "options.explain"),
        ({"question": "q"}, "options.question"),
        ({5: 5}, "options.5"),
        ({None: 5}, "options.null"),
        ({"collection": ["a", 5]}, "options.collection[1]"),
        ({"collection": ["a", "b", ""]}, "options.collection[2]"),
        ({"collection": [["a"]]}, "options.collection[0]"),
        ({"cache": {}}, "options.cache.ttl"),
        ({"cache": {"ttl": 300}}, "options.cache.ttl"),
        ({"cache": {"ttl": None}}, "options.cache.ttl"),
        ({"cache": {"ttl": ""}}, "options.cache.ttl"),
        ({"cache": {"ttl": "5ms"}}, "options.cache.ttl"),
        ({"cache": {"ttl": "5m", "x": 1}}, "options.cache.x"),
        ({"cache": {"TTL": "5m"}}, "options.cache.TTL"),
        ({"cache": {"ttl": "5m"}, "nocache": True}, "options.nocache"),
        ({"nocache": True, "cache": {"ttl": "5m"}}, "options.nocache"),
        ({"a'": 5}, "options.a'"),
    ],
)
def test_the_path_leads_to_what_is_wrong(options: object, path: str) -> None:
    assert refused(options=options).detail == path


@pytest.mark.parametrize(
    "key", ["a\x00\ud800", "x" * 5000, "\n", "", "é\u202e", ("a",), -(10**5000)], ids=type
)
def test_a_hostile_key_is_shown_short_and_printable(key: object) -> None:
    for options in ({key: 5}, {"cache": {key: 5}}):
        path = refused(options=options).detail
        assert path.startswith("options.")
        assert path.replace("…", "").isascii()
        assert path.isprintable()
        assert len(path) < 240


@pytest.mark.parametrize(
    ("question", "options", "message"),
    [
        (5, {}, "question: expected a question, as text, found 5"),
        (" ", {}, "question: expected a question, found one that is blank"),
        ("q", None, "options: expected an object, found null"),
        ("q", {"limit": 0}, "options.limit: expected a whole number from 1 to 200, found 0"),
        (
            "q",
            {"cache": {"ttl": "5m"}, "nocache": True},
            "options.nocache: expected either cache or nocache, found both",
        ),
        (
            "q",
            {"limits": 5},
            "options.limits: expected one of the options using, model, collection, limit, "
            "min_score, depth, strict, temperature, seed, cache, nocache, evidence, "
            "plan, steps, history, found 'limits'",
        ),
    ],
)
def test_a_message_says_where_what_was_expected_and_what_was_found(
    question: object, options: object, message: str
) -> None:
    assert refused(question, options).message == message


def test_options_name_at_most_1000_collections() -> None:
    names = [f"c{number}" for number in range(1001)]
    assert from_options("q", {"collection": names[:1000]}).collections == tuple(names[:1000])
    assert refused(options={"collection": names}).detail == "options.collection"


def test_keyword_arguments_have_paths_without_a_prefix() -> None:
    assert refused(options={"limit": 0}, where="").detail == "limit"
    assert refused(options={"cache": {"ttl": "0s"}}, where="").detail == "cache.ttl"
    assert refused(options=5, where="").detail == "options"
    assert refused(options=5, where="params.options.").detail == "params.options"


# --- one value, one Ask, whatever the surface ------------------------------------------


def _names(value: Any) -> str:
    return ", ".join(f'"{name}"' for name in ([value] if isinstance(value, str) else value))


_CLAUSE: Mapping[str, Callable[[Any], str]] = {
    "cache": lambda value: f"CACHE TTL '{value['ttl']}'",
    "nocache": lambda value: "NOCACHE" if value else "",
    "evidence": lambda value: "EVIDENCE" if value else "",
    "plan": lambda value: f"PLAN {value}",
    "strict": lambda value: f"STRICT {values.strictness(value)}",
    "collection": lambda value: f"COLLECTION {_names(value)}",
    "using": lambda value: f"USING '{value}'",
    "model": lambda value: f"MODEL '{value}'",
    **{name: f"{name.upper()} {{}}".format for name in NUMBERS},
}
_TEXT = st.text("aBz ,é-_", max_size=6) | st.sampled_from(["", "a\x01b", "x" * 256, "x" * 257])
_OPTIONS: Mapping[str, st.SearchStrategy[Any]] = {
    "using": _TEXT,
    "model": _TEXT,
    "collection": _TEXT | st.lists(_TEXT, min_size=1, max_size=3),
    "limit": st.integers(0, 202) | st.floats(0.0, 201.0),
    "min_score": st.floats(0.0, 1.1) | st.integers(0, 2),
    "depth": st.integers(0, 12),
    "temperature": st.floats(0.0, 2.1) | st.integers(0, 3),
    "seed": st.integers(0, U64_MAX + 1),
    "strict": st.booleans() | st.sampled_from(["on", "off", "supported"]),
    "cache": st.sampled_from(["5m", "1d", "0s", "", "7", "5x", f"{U64_MAX}s", f"{U64_MAX}m"]).map(
        lambda ttl: {"ttl": ttl}
    ),
    "nocache": st.booleans(),
    "plan": st.sampled_from(["auto", "off", "only"]),
    "steps": st.integers(0, 3),
    "evidence": st.booleans(),
}


def outcome_of(read: Callable[..., Ask], *given: object) -> Ask | BadAsk:
    try:
        return read(*given)
    except BadAsk as error:
        return error


def _check_both(options: Mapping[str, Any]) -> None:
    clauses = " ".join(_CLAUSE[option](value) for option, value in options.items())
    by_options = outcome_of(from_options, "q", options)
    by_statement = outcome_of(parse, f"ASK ? {clauses}", ["q"])
    assert by_options == by_statement or isinstance(by_options, BadAsk)
    assert isinstance(by_options, BadAsk) is isinstance(by_statement, BadAsk)


@given(st.fixed_dictionaries({}, optional=_OPTIONS))
def test_a_statement_and_equal_options_give_the_same_ask(options: dict[str, Any]) -> None:
    _check_both(options)


@pytest.mark.parametrize("option", NAMES)
@given(st.data())
def test_each_option_is_its_clause(option: str, data: st.DataObject) -> None:
    _check_both({option: data.draw(_OPTIONS[option])})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)


@given(_JSON, _JSON | st.dictionaries(st.sampled_from(NAMES), _JSON))
def test_any_json_is_an_ask_or_a_bad_ask_that_can_be_shown(question: Any, options: Any) -> None:
    for asked in (question, "q"):
        outcome = outcome_of(from_options, asked, options)
        if isinstance(outcome, BadAsk):
            assert json.encode(outcomes.body(outcome))
        else:
            assert outcome.question == asked
