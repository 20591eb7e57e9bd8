"""The operators: `BINARY` and `PREFIX`, rows by name. What is not here does not exist (42883).

A template is DuckDB text over the operands, which come with the types of the row. Polymorphic
operators (`||` with arrays, array comparisons) are in `expressions`.
"""

from functools import lru_cache, partial
from typing import Literal

from redask.core.sql.binder.bound import BOOL, FLOAT8, INT4, NUMERIC, SHORT, TEXT, Bound, made
from redask.core.sql.casting import written_rules
from redask.core.sql.functions import numeric_rules
from redask.core.sql.functions.overloads import EmitCall, Overload, choose
from redask.core.sql.functions.runtime_calls import ours
from redask.core.sql.types import SqlType
from redask.core.sql.written.written_types import UNEQUAL, WRITTEN

_INTS = ("int2", "int4", "int8")
_DATE, _TIME, _STAMP, _ZONED = (
    SqlType(each) for each in ("date", "time", "timestamp", "timestamptz")
)
_SPAN, _JSONB, _JSON, _UUID, _OID = (
    SqlType(each) for each in ("interval", "jsonb", "json", "uuid", "oid")
)
_TEXTS = SqlType("text", (), True)
_BYTES = SqlType("bytea")
_COMPARISONS = ("=", "<>", "<", ">", "<=", ">=")


def _row(left: SqlType, right: SqlType, gives: SqlType, emit: EmitCall) -> Overload:
    return Overload((left, right), gives, emit)


def _wider(one: str, other: str) -> str:
    return max(one, other, key=_INTS.index)


def _integers(template: str) -> list[Overload]:
    """All pairs of integer types; the result has the wider one, as DuckDB's operator too."""
    rows = []
    for one in _INTS:
        for other in _INTS:
            gives = SqlType(_wider(one, other))
            text = f"CAST({template} AS {gives.duckdb_type})" if one != other else template
            if one != other:
                wide = gives.duckdb_type
                text = template.replace("{0}", f"CAST({{0}} AS {wide})").replace(
                    "{1}", f"CAST({{1}} AS {wide})"
                )
            rows.append(_row(SqlType(one), SqlType(other), gives, text))
    return rows


def _floats(template: str) -> list[Overload]:
    four = SqlType("float4")
    return [
        _row(four, four, four, template),
        _row(FLOAT8, FLOAT8, FLOAT8, template),
        _row(four, FLOAT8, FLOAT8, template),
        _row(FLOAT8, four, FLOAT8, template),
    ]


def _finite(sign: str) -> list[Overload]:
    """A double that is too large or too small is an error, as in PostgreSQL."""
    fault = "THEN error('pg:22003:value out of range: {}')".format

    def text(one: str, other: str) -> str:
        result = f"({one} {sign} {other})"
        zero = ""
        large = f"isinf{result} AND NOT isinf({one}) AND NOT isinf({other})"
        small = f" WHEN {result} = 0 AND {one} <> 0 AND {other} <> 0 {fault('underflow')}"
        if sign == "/":
            zero = f"WHEN {other} = 0 AND NOT isnan({one}) THEN error('pg:22012:division by zero') "
            large = f"isinf{result} AND NOT isinf({one})"
            small = f" WHEN {result} = 0 AND {one} <> 0 AND NOT isinf({other}) {fault('underflow')}"
        if sign in "+-":
            small = ""
        return f"(CASE {zero}WHEN {large} {fault('overflow')}{small} ELSE {result} END)"

    def emit(gives: SqlType, left: Bound, right: Bound) -> Bound:
        if len(left.sql) + len(right.sql) <= SHORT:
            return made(text(left.sql, right.sql), gives, left, right)
        body = text("pg_a", "pg_b")
        both = f"list_reduce([{left.sql}, {right.sql}], lambda pg_a, pg_b: {body})"
        return made(both, gives, left, right)

    return [Overload(each.takes, each.gives, partial(emit, each.gives)) for each in _floats("")]


def _shifts(way: str) -> list[Overload]:
    return [
        _row(
            each,
            INT4,
            each,
            f"CAST(pg_shift_{way}({{0}}, {{1}}, {bits}) AS {each.duckdb_type})",
        )
        for each, bits in ((SqlType("int2"), 16), (INT4, 32), (SqlType("int8"), 64))
    ]


def _compared(sign: str) -> list[Overload]:
    rows = [
        _row(SqlType(one), SqlType(other), BOOL, f"({{0}} {sign} {{1}})")
        for one in _INTS
        for other in _INTS
    ]
    rows += [Overload(each.takes, BOOL, f"({{0}} {sign} {{1}})") for each in _floats("")]
    rows.append(_row(NUMERIC, NUMERIC, BOOL, partial(_numeric_compared, sign)))
    same = (BOOL, TEXT, _TIME, _SPAN, _UUID, _OID, SqlType("name"), SqlType("char"))
    rows += [_row(each, each, BOOL, f"({{0}} {sign} {{1}})") for each in same]
    moments = (_DATE, _STAMP, _ZONED)
    for one in moments:
        for other in moments:
            text = f"({{0}} {sign} {{1}})"
            if one != other:
                text = f"(CAST({{0}} AS TIMESTAMP) {sign} CAST({{1}} AS TIMESTAMP))"
            rows.append(_row(one, other, BOOL, text))
    rows.append(_row(SqlType("name"), TEXT, BOOL, f"({{0}} {sign} {{1}})"))
    rows.append(_row(TEXT, SqlType("name"), BOOL, f"({{0}} {sign} {{1}})"))
    bpchar = SqlType("bpchar")
    text = f"(rtrim({{0}}, ' ') {sign} rtrim({{1}}, ' '))"
    rows.append(_row(bpchar, bpchar, BOOL, text))
    if sign in ("=", "<>"):
        rows.append(_row(_JSONB, _JSONB, BOOL, f"(pg_jsonb_key({{0}}) {sign} pg_jsonb_key({{1}}))"))
        rows.append(_row(SqlType("xid"), SqlType("xid"), BOOL, f"({{0}} {sign} {{1}})"))
        rows += [_row(SqlType(each), SqlType(each), BOOL, partial(_written_compared, sign))
                 for each in sorted(WRITTEN - UNEQUAL - {"bytea"})]  # fmt: skip
    rows.append(_row(_BYTES, _BYTES, BOOL, f"({{0}} {sign} {{1}})"))
    return rows


def _written_compared(sign: str, left: Bound, right: Bound) -> Bound:
    one, other = (written_rules.key(each) for each in (left, right))
    return left.like(f"({one} {sign} {other})", right, type=BOOL)


def _numeric_compared(sign: str, left: Bound, right: Bound) -> Bound:
    return numeric_rules.compare(left, right, sign)


def _matched(template: str) -> list[Overload]:
    return [_row(each, TEXT, BOOL, template) for each in (TEXT, SqlType("name"))]


ASCII_UPPER, ASCII_LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_FOLDED = "translate({%d}, '" + ASCII_UPPER + "', '" + ASCII_LOWER + "')"
_LIKE = "({0} LIKE {1} ESCAPE '\\')"
_ILIKE = f"({_FOLDED % 0} LIKE {_FOLDED % 1} ESCAPE '\\')"

POWER = (
    "(CASE WHEN {0} = 0 AND {1} < 0 THEN"
    " error('pg:2201F:zero raised to a negative power is undefined')"
    " WHEN {0} < 0 AND floor({1}) <> {1} THEN error('pg:2201F:a negative number raised to a"
    " non-integer power yields a complex result')"
    " WHEN isfinite({0}) AND isfinite({1}) AND isinf(pow({0}, {1})) THEN"
    " error('pg:22003:value out of range: overflow')"
    " WHEN isfinite({0}) AND isfinite({1}) AND {0} <> 0 AND pow({0}, {1}) = 0 THEN"
    " error('pg:22003:value out of range: underflow')"
    " ELSE pow({0}, {1}) END)"
)

BINARY: dict[str, list[Overload]] = {
    "+": [
        *_integers("({0} + {1})"),
        *_finite("+"),
        _row(NUMERIC, NUMERIC, NUMERIC, numeric_rules.add),
        _row(_DATE, INT4, _DATE, "({0} + {1})"),
        _row(INT4, _DATE, _DATE, "({1} + {0})"),
        _row(_DATE, _SPAN, _STAMP, "({0} + {1})"),
        _row(_SPAN, _DATE, _STAMP, "({1} + {0})"),
        _row(_DATE, _TIME, _STAMP, "({0} + {1})"),
        _row(_TIME, _DATE, _STAMP, "({1} + {0})"),
        _row(_STAMP, _SPAN, _STAMP, "({0} + {1})"),
        _row(_SPAN, _STAMP, _STAMP, "({1} + {0})"),
        _row(_ZONED, _SPAN, _ZONED, "({0} + {1})"),
        _row(_SPAN, _ZONED, _ZONED, "({1} + {0})"),
        _row(_TIME, _SPAN, _TIME, ours("pg_time_add", _TIME)),
        _row(_SPAN, _TIME, _TIME, ours("pg_time_add", _TIME, 1, 0)),
        _row(_SPAN, _SPAN, _SPAN, "({0} + {1})"),
    ],
    "-": [
        *_integers("({0} - {1})"),
        *_finite("-"),
        _row(NUMERIC, NUMERIC, NUMERIC, numeric_rules.subtract),
        _row(_DATE, INT4, _DATE, "({0} - {1})"),
        _row(_DATE, _DATE, INT4, "CAST(({0} - {1}) AS INTEGER)"),
        _row(_DATE, _SPAN, _STAMP, "({0} - {1})"),
        _row(_STAMP, _SPAN, _STAMP, "({0} - {1})"),
        _row(_ZONED, _SPAN, _ZONED, "({0} - {1})"),
        _row(_STAMP, _STAMP, _SPAN, "({0} - {1})"),
        _row(_ZONED, _ZONED, _SPAN, "({0} - {1})"),
        _row(_TIME, _SPAN, _TIME, ours("pg_time_minus", _TIME)),
        _row(_TIME, _TIME, _SPAN, "to_microseconds(epoch_us({0}) - epoch_us({1}))"),
        _row(_SPAN, _SPAN, _SPAN, "({0} - {1})"),
        _row(_JSONB, TEXT, _JSONB, "pg_jsonb_delete_key({0}, {1})"),
        _row(_JSONB, _TEXTS, _JSONB, "pg_jsonb_delete_keys({0}, {1})"),
        _row(_JSONB, INT4, _JSONB, "pg_jsonb_delete_index({0}, {1})"),
    ],
    "*": [
        *_integers("({0} * {1})"),
        *_finite("*"),
        _row(NUMERIC, NUMERIC, NUMERIC, numeric_rules.multiply),
        _row(_SPAN, FLOAT8, _SPAN, ours("pg_interval_mul", _SPAN)),
        _row(FLOAT8, _SPAN, _SPAN, ours("pg_interval_mul", _SPAN, 1, 0)),
    ],
    "/": [
        *_integers("({0} // {1})"),
        *_finite("/"),
        _row(NUMERIC, NUMERIC, NUMERIC, numeric_rules.divide),
        _row(_SPAN, FLOAT8, _SPAN, ours("pg_interval_div", _SPAN)),
    ],
    "%": [
        *_integers("({0} % {1})"),
        _row(NUMERIC, NUMERIC, NUMERIC, numeric_rules.modulo),
    ],
    "^": [
        _row(FLOAT8, FLOAT8, FLOAT8, POWER),
        _row(NUMERIC, NUMERIC, NUMERIC, numeric_rules.power),
    ],
    "&": _integers("({0} & {1})"),
    "|": _integers("({0} | {1})"),
    "<<": _shifts("left"),
    ">>": _shifts("right"),
    "#": _integers("xor({0}, {1})"),
    **{sign: _compared(sign) for sign in _COMPARISONS},
    "~~": _matched(_LIKE),
    "!~~": _matched(f"(NOT {_LIKE})"),
    "~~*": _matched(_ILIKE),
    "!~~*": _matched(f"(NOT {_ILIKE})"),
    "^@": [_row(TEXT, TEXT, BOOL, "starts_with({0}, {1})")],
    "->": [
        _row(_JSONB, TEXT, _JSONB, "pg_jsonb_get_key({0}, {1})"),
        _row(_JSONB, INT4, _JSONB, "pg_jsonb_get_index({0}, {1})"),
        _row(_JSON, TEXT, _JSON, "pg_json_get_key({0}, {1})"),
        _row(_JSON, INT4, _JSON, "pg_json_get_index({0}, {1})"),
    ],
    "->>": [
        _row(_JSONB, TEXT, TEXT, "pg_jsonb_get_key_text({0}, {1})"),
        _row(_JSONB, INT4, TEXT, "pg_jsonb_get_index_text({0}, {1})"),
        _row(_JSON, TEXT, TEXT, "pg_json_get_key_text({0}, {1})"),
        _row(_JSON, INT4, TEXT, "pg_json_get_index_text({0}, {1})"),
    ],
    "#>": [
        _row(_JSONB, _TEXTS, _JSONB, "pg_jsonb_get_path({0}, {1})"),
        _row(_JSON, _TEXTS, _JSON, "pg_json_get_path({0}, {1})"),
    ],
    "#>>": [
        _row(_JSONB, _TEXTS, TEXT, "pg_jsonb_get_path_text({0}, {1})"),
        _row(_JSON, _TEXTS, TEXT, "pg_json_get_path_text({0}, {1})"),
    ],
    "#-": [_row(_JSONB, _TEXTS, _JSONB, "pg_jsonb_delete_path({0}, {1})")],
    "@>": [_row(_JSONB, _JSONB, BOOL, "pg_jsonb_contains({0}, {1})")],
    "<@": [_row(_JSONB, _JSONB, BOOL, "pg_jsonb_contains({1}, {0})")],
    "?": [_row(_JSONB, TEXT, BOOL, "pg_jsonb_exists({0}, {1})")],
    "?|": [_row(_JSONB, _TEXTS, BOOL, "pg_jsonb_exists_any({0}, {1})")],
    "?&": [_row(_JSONB, _TEXTS, BOOL, "pg_jsonb_exists_all({0}, {1})")],
    "||": [
        _row(TEXT, TEXT, TEXT, "({0} || {1})"),
        _row(_BYTES, _BYTES, _BYTES, "({0} || substring({1}, 3))"),
        _row(_JSONB, _JSONB, _JSONB, "pg_jsonb_concat({0}, {1})"),
    ],
}

PREFIX: dict[str, list[Overload]] = {
    "|/": [Overload((FLOAT8,), FLOAT8, "sqrt({0})")],
    "||/": [Overload((FLOAT8,), FLOAT8, "cbrt({0})")],
    "-": [
        *(Overload((SqlType(each),), SqlType(each), "(- {0})") for each in _INTS),
        Overload((FLOAT8,), FLOAT8, "(- {0})"),
        Overload((NUMERIC,), NUMERIC, numeric_rules.negate),
        Overload((_SPAN,), _SPAN, "(- {0})"),
    ],
    "+": [
        *(Overload((SqlType(each),), SqlType(each), "{0}") for each in (*_INTS, "float8")),
        Overload((NUMERIC,), NUMERIC, lambda value: value),
    ],
    "@": [
        *(Overload((SqlType(each),), SqlType(each), "abs({0})") for each in (*_INTS, "float8")),
        Overload((NUMERIC,), NUMERIC, numeric_rules.absolute),
    ],
    "~": [Overload((SqlType(each),), SqlType(each), "(~ {0})") for each in _INTS],
}
INVERSE = {"=": "<>", "<>": "=", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}
SYNONYMS = {"!=": "<>"}


@lru_cache(maxsize=4096)
def binary(
    name: str, left: SqlType, right: SqlType
) -> tuple[Overload, tuple[SqlType, ...]] | Literal["ambiguous"] | None:
    """The row of a binary operator for operands of these types, as `choose` finds it."""
    return choose(BINARY.get(name, ()), (left, right), is_operator=True)
