"""JSON text as PostgreSQL's `jsonb` writes it: `jsonb_text`, and as a text column has it.

jsonb: keys by length in bytes, then by bytes; a blank after `:` and `,`; numbers as `numeric`
prints them, so without an exponent.
"""

import json
from decimal import Decimal
from json.encoder import encode_basestring

from redask.core.wire.json import text


def jsonb_text(source: str) -> str:
    """JSON text in the spelling of jsonb."""
    out: list[str] = []
    _write(json.loads(source, parse_int=Decimal), out)
    return "".join(out)


def plain_text(source: str) -> str:
    """A JSON value in a text column: a string as it is, anything else as canonical JSON."""
    value = json.loads(source)
    return value if isinstance(value, str) else text(value)


def _write(value: object, out: list[str]) -> None:
    if isinstance(value, str):
        out.append(encode_basestring(value))
    elif isinstance(value, dict):
        keys = sorted(value, key=lambda key: (len(key.encode()), key.encode()))
        out.append("{")
        for place, key in enumerate(keys):
            out.append(f"{', ' if place else ''}{encode_basestring(key)}: ")
            _write(value[key], out)
        out.append("}")
    elif isinstance(value, list):
        out.append("[")
        for place, each in enumerate(value):
            if place:
                out.append(", ")
            _write(each, out)
        out.append("]")
    elif value is None:
        out.append("null")
    elif isinstance(value, bool):
        out.append("true" if value else "false")
    elif isinstance(value, float):
        out.append(format(Decimal(repr(value)), "f"))
    else:
        out.append(format(value, "f"))
