"""PostgreSQL functions for which a DuckDB expression gives the same result for all inputs.

    native_text("substr", ["c", "2"])      'substring(c, greatest(2, 1))'

`{0}`, `{1}` … stand for the arguments' texts, which are DuckDB values of the types that the row
names (`text` and `int4`). A row that writes an argument twice must not be nested in itself, or
the text would double each time: `native_text` gives None for it unless `simple` says that the
argument is a constant or a column; then the Python function in `instead` is called.

Every row is compared with a real PostgreSQL over random texts in tests/core/sql. DuckDB compares
and sorts VARCHAR by the bytes of UTF-8, which is collation C: `=`, `<`, ORDER BY, min, max and
GROUP BY need no function. These do differ and have no row: initcap, reverse (DuckDB keeps
grapheme clusters whole), format, and whatever raises an error of its own.
"""

from collections.abc import Sequence
from typing import NamedTuple

_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER = "abcdefghijklmnopqrstuvwxyz"


class NativeText(NamedTuple):
    """`postgres` is the same over c0, c1 …; `instead` is a function of the runtime."""

    postgres: str
    types: tuple[str, ...]
    template: str
    instead: str = ""


_T, _I = "text", "int4"
NATIVE_TEXTS: dict[str, NativeText] = {
    "lower": NativeText("lower(c0)", (_T,), f"translate({{0}}, '{_UPPER}', '{_LOWER}')"),
    "upper": NativeText("upper(c0)", (_T,), f"translate({{0}}, '{_LOWER}', '{_UPPER}')"),
    "length": NativeText("length(c0)", (_T,), "CAST(length({0}) AS INTEGER)"),
    "octet_length": NativeText("octet_length(c0)", (_T,), "CAST(strlen({0}) AS INTEGER)"),
    "bit_length": NativeText("bit_length(c0)", (_T,), "CAST(bit_length({0}) AS INTEGER)"),
    "substr_from": NativeText("substr(c0, c1)", (_T, _I), "substring({0}, greatest({1}, 1))"),
    "substr": NativeText(
        "substr(c0, c1, c2)",
        (_T, _I, _I),
        "CASE WHEN {2} < 0 THEN pg_substr({0}, {1}, {2}) ELSE substring({0}, greatest({1}, 1), "
        "greatest(CAST({1} AS BIGINT) + {2} - greatest({1}, 1), 0)) END",
        "pg_substr",
    ),
    "left": NativeText("left(c0, c1)", (_T, _I), "left({0}, {1})"),
    "right": NativeText("right(c0, c1)", (_T, _I), "right({0}, {1})"),
    "concat2": NativeText("c0 || c1", (_T, _T), "({0} || {1})"),
    "replace": NativeText("replace(c0, c1, c2)", (_T, _T, _T), "replace({0}, {1}, {2})"),
    "strpos": NativeText("strpos(c0, c1)", (_T, _T), "CAST(strpos({0}, {1}) AS INTEGER)"),
    "translate": NativeText("translate(c0, c1, c2)", (_T, _T, _T), "translate({0}, {1}, {2})"),
    "starts_with": NativeText("starts_with(c0, c1)", (_T, _T), "starts_with({0}, {1})"),
    "md5": NativeText("md5(c0)", (_T,), "md5({0})"),
    "ascii": NativeText("ascii(c0)", (_T,), "ascii({0})"),
    "ltrim": NativeText("ltrim(c0, c1)", (_T, _T), "ltrim({0}, {1})"),
    "rtrim": NativeText("rtrim(c0, c1)", (_T, _T), "rtrim({0}, {1})"),
    "btrim": NativeText("btrim(c0, c1)", (_T, _T), "trim({0}, {1})"),
    "ltrim_blanks": NativeText("ltrim(c0)", (_T,), "ltrim({0}, ' ')"),
    "rtrim_blanks": NativeText("rtrim(c0)", (_T,), "rtrim({0}, ' ')"),
    "btrim_blanks": NativeText("btrim(c0)", (_T,), "trim({0}, ' ')"),
    "lpad": NativeText(
        "lpad(c0, c1, c2)",
        (_T, _I, _T),
        "CASE WHEN {2} = '' THEN pg_lpad({0}, {1}, {2}) ELSE lpad({0}, {1}, {2}) END",
        "pg_lpad",
    ),
    "rpad": NativeText(
        "rpad(c0, c1, c2)",
        (_T, _I, _T),
        "CASE WHEN {2} = '' THEN pg_rpad({0}, {1}, {2}) ELSE rpad({0}, {1}, {2}) END",
        "pg_rpad",
    ),
    "lpad_blanks": NativeText("lpad(c0, c1)", (_T, _I), "lpad({0}, {1}, ' ')"),
    "rpad_blanks": NativeText("rpad(c0, c1)", (_T, _I), "rpad({0}, {1}, ' ')"),
}


def native_text(name: str, arguments: Sequence[str], simple: Sequence[bool] = ()) -> str | None:
    """The DuckDB text of the function over these arguments' texts, or None; see above."""
    row = NATIVE_TEXTS.get(name)
    if row is None:
        return None
    for index in range(len(row.types)):
        is_simple = index < len(simple) and simple[index]
        if row.template.count(f"{{{index}}}") > 1 and not is_simple:
            return f"{row.instead}({', '.join(arguments)})"
    return row.template.format(*arguments)
