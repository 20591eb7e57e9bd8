"""Functions of text."""

from dataclasses import replace
from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import BOOL, INT4, INT8, TEXT, Bound, fail, made
from redask.core.sql.casting import written_rules
from redask.core.sql.functions.overloads import Overload
from redask.core.sql.functions.runtime_calls import ours
from redask.core.sql.runtime.native_texts import NATIVE_TEXTS
from redask.core.sql.types import SqlType
from redask.core.sql.written.written_types import WRITTEN

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

_KINDS = {"text": TEXT, "int4": INT4}
_GIVES_INT = frozenset(("length", "octet_length", "bit_length", "strpos", "ascii"))
# PostgreSQL's name → rows of NATIVE_TEXTS
_NATIVE = {
    "lower": ("lower",), "upper": ("upper",), "length": ("length",), "char_length": ("length",),
    "character_length": ("length",), "octet_length": ("octet_length",),
    "bit_length": ("bit_length",), "left": ("left",), "right": ("right",),
    "replace": ("replace",), "strpos": ("strpos",), "position": ("strpos",),
    "translate": ("translate",), "starts_with": ("starts_with",), "md5": ("md5",),
    "ascii": ("ascii",), "ltrim": ("ltrim", "ltrim_blanks"), "rtrim": ("rtrim", "rtrim_blanks"),
    "btrim": ("btrim", "btrim_blanks"), "lpad": ("lpad_blanks",), "rpad": ("rpad_blanks",),
    "substr": ("substr_from",), "substring": ("substr_from",),
}  # fmt: skip


def _native(name: str) -> Overload:
    row = NATIVE_TEXTS[name]
    gives = INT4 if name in _GIVES_INT else BOOL if name == "starts_with" else TEXT
    return Overload(tuple(_KINDS[each] for each in row.types), gives, row.template)


def _substring(value: Bound, start: Bound, count: Bound) -> Bound:
    if start.integer is not None and count.integer is not None and count.integer >= 0:
        begin = max(start.integer, 1)
        end = max(start.integer + count.integer, begin)
        return made(f"substring({value.sql}, {begin}, {end - begin})", TEXT, value)
    return ours("pg_substr", TEXT)(value, start, count)


def _padded(name: str) -> Overload:
    return Overload((TEXT, INT4, TEXT), TEXT, ours(f"pg_{name}", TEXT))


FUNCTIONS: dict[str, list[Overload]] = {
    **{name: [_native(row) for row in rows] for name, rows in _NATIVE.items()},
    "overlay": [
        Overload((TEXT, TEXT, INT4), TEXT, ours("pg_overlay_whole", TEXT)),
        Overload((TEXT, TEXT, INT4, INT4), TEXT, ours("pg_overlay", TEXT)),
    ],
    "split_part": [Overload((TEXT, TEXT, INT4), TEXT, ours("pg_split_part", TEXT))],
    "initcap": [Overload((TEXT,), TEXT, ours("pg_initcap", TEXT))],
    "reverse": [Overload((TEXT,), TEXT, ours("pg_reverse", TEXT))],
    "chr": [Overload((INT4,), TEXT, ours("pg_chr", TEXT))],
    "repeat": [Overload((TEXT, INT4), TEXT, ours("pg_repeat", TEXT))],
    "to_hex": [
        Overload((INT4,), TEXT, ours("pg_to_hex4", TEXT)),
        Overload((INT8,), TEXT, ours("pg_to_hex8", TEXT)),
    ],
    "quote_ident": [Overload((TEXT,), TEXT, ours("pg_quote_ident", TEXT))],
    "quote_literal": [Overload((TEXT,), TEXT, ours("pg_quote_literal", TEXT))],
    "quote_nullable": [Overload((TEXT,), TEXT, ours("pg_quote_nullable", TEXT))],
}
for _name in ("substr", "substring"):
    FUNCTIONS[_name].append(Overload((TEXT, INT4, INT4), TEXT, _substring))
for _name in ("lpad", "rpad"):
    FUNCTIONS[_name].append(_padded(_name))
# position(a IN b) is parsed as position(b, a)


def _as_text(self: "Expressions", value: Bound) -> Bound:
    return self.coercion.coerce(value, TEXT, "implicit" if value.is_untyped else "explicit")


def _output_text(self: "Expressions", value: Bound) -> Bound:
    """As concat() and format() write it: a boolean is t or f. They take any type and infer none."""
    if value.parameter:
        number = value.parameter
        fail("42P18", f"could not determine data type of parameter ${number}", value.location)
    if value.type == BOOL:
        return value.like(
            f"(CASE WHEN {value.sql} THEN 't' WHEN NOT {value.sql} THEN 'f' END)", type=TEXT
        )
    if value.type.name in WRITTEN and not value.type.is_array:
        written_rules.check_zone(value.type, self.coercion.zone, value.location)
        return replace(value, type=TEXT)
    return _as_text(self, value)


def _concat(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if not values:
        return None
    texts = [_output_text(self, each) for each in values]
    parts = " || ".join(f"coalesce({each.sql}, '')" for each in texts)
    return made(f"({parts})", TEXT, *texts)


def _concat_ws(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) < 2:
        return None
    texts = [_as_text(self, values[0]), *(_output_text(self, each) for each in values[1:])]
    separator, *rest = texts
    listed = ", ".join(each.sql for each in rest)
    text = f"concat_ws({separator.sql}, {listed})"
    return made(text, TEXT, *texts)


def _format(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if not values:
        return None
    texts = [_as_text(self, values[0]), *(_output_text(self, each) for each in values[1:])]
    listed = ", ".join(each.sql for each in texts[1:])
    arguments = f"CAST([{listed}] AS VARCHAR[])"
    return made(f"pg_format({texts[0].sql}, {arguments})", TEXT, *texts)


def _string_to_array(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if not 2 <= len(values) <= 3:
        return None
    texts = [self.coercion.coerce(each, TEXT) for each in values]
    last = texts[2].sql if len(texts) > 2 else "CAST(NULL AS VARCHAR)"
    text = f"pg_string_to_array({texts[0].sql}, {texts[1].sql}, {last})"
    return made(text, SqlType("text", (), True), *texts)


SPECIAL = {
    "concat": _concat,
    "concat_ws": _concat_ws,
    "format": _format,
    "string_to_array": _string_to_array,
}
