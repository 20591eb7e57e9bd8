"""The table of clauses: what each is called, what it takes, and what it is for.

`takes` is how the value stands in a statement; `read` checks it on every surface and
returns what goes into the Ask's `field`; `schema` is the option's JSON Schema. A row without
an option stands in statements only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from redask.core import values


class Takes(Enum):
    """How a clause's value stands in a statement."""

    NOTHING = ""
    NUMBER = "n"
    TEXT = "'text'"
    PROVIDERS = "provider | 'a,b,c'"
    NAMES = "name[, name…]"
    ON_OFF = "ON|OFF"
    TTL = "TTL '5m'"


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


_NAME: Mapping[str, object] = {"type": "string", "minLength": 1, "maxLength": 256}


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
        {"type": "string"},
    ),
    Clause("MODEL", Takes.TEXT, "model", values.name, "the provider's model", "model", _NAME),
    Clause(
        "COLLECTION",
        Takes.NAMES,
        "collections",
        values.names,
        "where to look; everywhere if not given",
        "collection",
        {"anyOf": [_NAME, {"type": "array", "items": _NAME, "minItems": 1}]},
    ),
    Clause(
        "LIMIT",
        Takes.NUMBER,
        "limit",
        values.whole(1, 200),
        "at most this many sources",
        "limit",
        {**_range("integer", 1, 200), "default": 20},
    ),
    Clause(
        "MIN_SCORE",
        Takes.NUMBER,
        "min_score",
        values.real(0, 1),
        "drop what scores lower, in every bucket",
        "min_score",
        _range("number", 0, 1),
    ),
    Clause(
        "DEPTH",
        Takes.NUMBER,
        "depth",
        values.whole(0, 10),
        "how many hops to walk along edges",
        "depth",
        {**_range("integer", 0, 10), "default": 2},
    ),
    Clause(
        "STRICT",
        Takes.ON_OFF,
        "mode",
        values.mode,
        "refuse an answer whose citations are wrong",
        "strict",
        {"type": "boolean"},
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
    ),
    Clause(
        "SEED",
        Takes.NUMBER,
        "seed",
        values.whole(0, 2**64 - 1),
        "sampling seed; derived from question and sources if not given",
        "seed",
        _range("integer", 0, 2**64 - 1),
    ),
    Clause(
        "CACHE",
        Takes.TTL,
        "cache_ttl",
        values.cache,
        "use the answer cache; what is stored lives this long",
        "cache",
        {
            "type": "object",
            "properties": {"ttl": {"type": "string", "pattern": "^[0-9]+[smhd]$"}},
            "required": ["ttl"],
            "additionalProperties": False,
        },
    ),
    Clause(
        "NOCACHE",
        Takes.NOTHING,
        "nocache",
        values.boolean,
        "bypass the answer cache",
        "nocache",
        {"type": "boolean"},
    ),
)
