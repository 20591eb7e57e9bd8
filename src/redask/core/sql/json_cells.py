"""A value of a SELECT as JSON has it: `json_value`.

numeric                  text with all its digits        "12.50"
date, time, timestamp    ISO 8601 text                   "2026-05-04T09:00:00"
uuid                     text
NaN, Infinity            text                            "NaN"
bytea                    text in hexadecimal digits      "\\\\x00ff"
json, jsonb              their text
"""

import math
from datetime import date, time
from decimal import Decimal
from uuid import UUID

_PLAIN = frozenset({str, int, bool, type(None)})


def json_value(value: object) -> object:
    """A value as JSON has it."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _special(value)
    if isinstance(value, Decimal):
        return format(value, "f") if value.is_finite() else _special(float(value))
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes):
        return f"\\x{value.hex()}"
    if isinstance(value, list | tuple):
        return [json_value(each) for each in value]
    return value


def _special(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
