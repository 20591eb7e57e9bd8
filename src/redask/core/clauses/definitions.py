"""The table of clauses: what each is called, what it takes, and what it is for.

`takes` is how the value stands in a statement; `read` checks it on every surface and
returns what goes into the Ask's `field`; `schema` is the option's JSON Schema and `grpc` its field
of the message AskRequest, which `make proto` writes; `grpc_word` is a second field, for values that
the type of the first cannot hold. A row without an option stands in statements only.

`OPTIONS` are the rows that have an option, and one that stands in no statement: the history.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from redask.core import values
from redask.core.model import PlanChoice, Strictness
from redask.core.text import MAX_NAME, MAX_QUESTION_BYTES, NAME_PATTERN, QUESTION_PATTERN


class Takes(Enum):
    """How a clause's value stands in a statement."""

    NOTHING = ""
    NUMBER = "n"
    TEXT = "'text'"
    PROVIDERS = "provider | 'a,b,c'"
    NAMES = "name[, name…]"
    STRICTNESS = "|".join(word.upper() for word in Strictness)
    PLAN = "|".join(word.upper() for word in PlanChoice)
    TTL = "TTL '5m'"
    TURNS = "turns"


@dataclass(frozen=True, slots=True)
class GrpcField:
    """A field of AskRequest. Tag, type and name are frozen: clients have them compiled in."""

    tag: int
    type: str
    name: str


@dataclass(frozen=True, slots=True)
class Clause:
    """One row; see the module."""

    keyword: str
    takes: Takes
    field: str
    read: values.Reader
    help: str
    option: str | None = None
    schema: Mapping[str, object] | None = None
    grpc: GrpcField | None = None
    grpc_word: GrpcField | None = None

    def option_of(self, value: Any) -> object:
        """The option's value, told by a surface without objects: flags, fields of a message."""
        match self.takes:
            case Takes.TTL:
                return {"ttl": value}
            case Takes.NAMES:
                return list(value)
            case Takes.TURNS:
                return [{"answer": each.answer, "question": each.question} for each in value]
            case _:
                return value


_NAME: Mapping[str, object] = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_NAME,
    "pattern": NAME_PATTERN,
}
# more than nothing, and few enough digits of any unit to be a u64 of seconds
_TTL = "^0*[1-9][0-9]{0,13}[smhd]$"
_NAMES: Mapping[str, object] = {
    "type": "array",
    "items": _NAME,
    "minItems": 1,
    "maxItems": values.MAX_NAMES,
}


def _range(kind: str, low: int, high: int) -> dict[str, object]:
    return {"type": kind, "minimum": low, "maximum": high}


CLAUSES: tuple[Clause, ...] = (
    Clause(
        "USING",
        Takes.PROVIDERS,
        "using",
        values.providers,
        "the providers to ask, in failover order",
        "using",
        {"type": "string", "format": "redask-providers", "pattern": NAME_PATTERN},
        GrpcField(3, "string", "using"),
    ),
    Clause(
        "MODEL",
        Takes.TEXT,
        "model",
        values.name,
        "the provider's model",
        "model",
        _NAME,
        GrpcField(4, "string", "model"),
    ),
    Clause(
        "COLLECTION",
        Takes.NAMES,
        "collections",
        values.names,
        "where to look; everywhere if not given",
        "collection",
        {"anyOf": [_NAME, _NAMES]},
        GrpcField(5, "repeated string", "collection"),
    ),
    Clause(
        "LIMIT",
        Takes.NUMBER,
        "limit",
        values.whole(1, 200),
        "at most this many sources",
        "limit",
        {**_range("integer", 1, 200), "default": 20},
        GrpcField(6, "uint32", "limit"),
    ),
    Clause(
        "MIN_SCORE",
        Takes.NUMBER,
        "min_score",
        values.real(0, 1),
        "drop what scores lower, in every bucket",
        "min_score",
        _range("number", 0, 1),
        GrpcField(7, "double", "min_score"),
    ),
    Clause(
        "DEPTH",
        Takes.NUMBER,
        "depth",
        values.whole(0, 10),
        "how many hops to walk along edges",
        "depth",
        {**_range("integer", 0, 10), "default": 2},
        GrpcField(8, "uint32", "depth"),
    ),
    Clause(
        "STRICT",
        Takes.STRICTNESS,
        "strict",
        values.strictness,
        "refuse an answer whose citations are wrong; supported: also one whose claims are not "
        "borne out by what they cite",
        "strict",
        {"anyOf": [{"type": "boolean"}, {"type": "string", "enum": list(map(str, Strictness))}]},
        GrpcField(2, "bool", "strict"),  # true and false
        GrpcField(13, "string", "strictness"),
    ),
    Clause(
        "STREAM",
        Takes.NOTHING,
        "stream",
        values.boolean,
        "send the answer while it is written",
    ),
    Clause(
        "TEMPERATURE",
        Takes.NUMBER,
        "temperature",
        values.real(0, 2),
        "sampling temperature",
        "temperature",
        _range("number", 0, 2),
        GrpcField(9, "double", "temperature"),
    ),
    Clause(
        "SEED",
        Takes.NUMBER,
        "seed",
        values.whole(0, 2**64 - 1),
        "sampling seed; derived from question and sources if not given",
        "seed",
        _range("integer", 0, 2**64 - 1),
        GrpcField(10, "uint64", "seed"),
    ),
    Clause(
        "CACHE",
        Takes.TTL,
        "cache_ttl",
        values.cache,
        "use the answer cache; what is stored lives this long",
        "cache",
        {
            "title": "CacheChoice",
            "type": "object",
            "properties": {"ttl": {"type": "string", "pattern": _TTL}},
            "required": ["ttl"],
            "additionalProperties": False,
        },
        GrpcField(11, "string", "cache_ttl"),
    ),
    Clause(
        "NOCACHE",
        Takes.NOTHING,
        "nocache",
        values.boolean,
        "bypass the answer cache",
        "nocache",
        {"type": "boolean"},
        GrpcField(12, "bool", "nocache"),
    ),
    Clause(
        "EVIDENCE",
        Takes.NOTHING,
        "evidence",
        values.boolean,
        "show for each claim what supports it, and where that stands",
        "evidence",
        {"type": "boolean"},
        GrpcField(14, "bool", "evidence"),
    ),
    Clause(
        "PLAN",
        Takes.PLAN,
        "plan",
        values.plan_choice,
        "whether a question that needs computing is answered by a SELECT; only: it is not run",
        "plan",
        {"type": "string", "enum": list(map(str, PlanChoice)), "default": str(PlanChoice.AUTO)},
        GrpcField(15, "string", "plan"),
    ),
    Clause(
        "STEPS",
        Takes.NUMBER,
        "steps",
        values.whole(1, 2),
        "how many statements a model may write for one question",
        "steps",
        {**_range("integer", 1, 2), "default": 1},
        GrpcField(16, "uint32", "steps"),
    ),
)

HISTORY = Clause(
    "",
    Takes.TURNS,
    "history",
    values.turns,
    "earlier turns of the conversation, the oldest first, which the question may lean on",
    "history",
    {
        "type": "array",
        "maxItems": values.MAX_TURNS,
        "items": {
            "type": "object",
            "title": "HistoryTurn",
            "properties": {
                "question": {
                    "type": "string",
                    "pattern": QUESTION_PATTERN,
                    "maxLength": MAX_QUESTION_BYTES,
                },
                "answer": {"type": "string", "maxLength": values.MAX_HISTORY_BYTES},
            },
            "required": ["question", "answer"],
            "additionalProperties": False,
        },
    },
    GrpcField(17, "repeated Turn", "history"),
)
OPTIONS: tuple[Clause, ...] = (*(row for row in CLAUSES if row.option), HISTORY)
