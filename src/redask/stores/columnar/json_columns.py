"""JSON text as a column has it: `jsonb_text` in a jsonb column, `plain_text` in a text column.

`value_fits` says whether a value may be in a column whose type somebody fixed.
"""

import json
from decimal import Decimal

from redask.core.sql import fixed_types
from redask.core.sql.runtime.documents import json_text
from redask.core.sql.types import SqlType
from redask.core.wire.json import text


def jsonb_text(source: str) -> str:
    """JSON text in PostgreSQL's spelling of jsonb; a double is what its shortest text says."""
    value = json.loads(source, parse_int=Decimal, parse_float=lambda each: _decimal(float(each)))
    return json_text.jsonb_text(value)


def plain_text(source: str) -> str:
    """A JSON value in a text column: a string as it is, anything else as canonical JSON."""
    value = json.loads(source)
    return value if isinstance(value, str) else text(value)


def value_fits(source: str, kind: str) -> bool:
    """Whether a JSON value fits a type, which is written as text."""
    return fixed_types.value_fits(SqlType.parse(kind), json.loads(source))


def _decimal(value: float) -> Decimal:
    return Decimal(repr(value))
