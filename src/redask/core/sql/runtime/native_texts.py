"""PostgreSQL functions for which a DuckDB expression gives the same result for all inputs.

    native_text("substr_from", ["c", "2"])      'substring(c, greatest(2, 1))'

`{0}`, `{1}` … stand for the arguments' texts, which are DuckDB values of the types that the row
names. An argument that a row writes twice would make nested calls grow without bound: unless
`simple` says that it is a constant or a column, `native_text` binds it once, with a lambda.

Every row is compared with a real PostgreSQL over random values in tests/core/sql. DuckDB compares
and sorts VARCHAR by the bytes of UTF-8, which is collation C, and lists as PostgreSQL does
arrays: `=`, `<`, ORDER BY, min, max and GROUP BY need no function. These differ and have no row:
initcap, reverse (DuckDB keeps grapheme clusters whole), format, and whatever raises an error.
"""

from collections.abc import Sequence
from typing import NamedTuple

_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER = "abcdefghijklmnopqrstuvwxyz"


class NativeText(NamedTuple):
    """`postgres` is the same over c0, c1 …, which have these types."""

    postgres: str
    types: tuple[str, ...]
    template: str


def _of_case(function: str, old: str, new: str) -> str:
    """Only ASCII letters change. DuckDB's function is many times faster than its translate."""
    translated = f"translate({{0}}, '{old}', '{new}')"
    return f"CASE WHEN strlen({{0}}) = length({{0}}) THEN {function}({{0}}) ELSE {translated} END"


_T, _I = "text", "int4"
STRING_TEXTS: dict[str, NativeText] = {
    "lower": NativeText("lower(c0)", (_T,), _of_case("lower", _UPPER, _LOWER)),
    "upper": NativeText("upper(c0)", (_T,), _of_case("upper", _LOWER, _UPPER)),
    "length": NativeText("length(c0)", (_T,), "CAST(length({0}) AS INTEGER)"),
    "octet_length": NativeText("octet_length(c0)", (_T,), "CAST(strlen({0}) AS INTEGER)"),
    "bit_length": NativeText("bit_length(c0)", (_T,), "CAST(bit_length({0}) AS INTEGER)"),
    "substr_from": NativeText("substr(c0, c1)", (_T, _I), "substring({0}, greatest({1}, 1))"),
    "substr": NativeText(
        "substr(c0, c1, c2)",
        (_T, _I, _I),
        "CASE WHEN {2} < 0 THEN pg_substr({0}, {1}, {2}) ELSE substring({0}, greatest({1}, 1), "
        "greatest(CAST({1} AS BIGINT) + {2} - greatest({1}, 1), 0)) END",
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
        "CASE WHEN {2} = '' OR {1} > 1000000 THEN pg_lpad({0}, {1}, {2}) "
        "ELSE lpad({0}, least({1}, 1000000), {2}) END",
    ),
    "rpad": NativeText(
        "rpad(c0, c1, c2)",
        (_T, _I, _T),
        "CASE WHEN {2} = '' OR {1} > 1000000 THEN pg_rpad({0}, {1}, {2}) "
        "ELSE rpad({0}, least({1}, 1000000), {2}) END",
    ),
    "lpad_blanks": NativeText(
        "lpad(c0, c1)",
        (_T, _I),
        "CASE WHEN {1} > 1000000 THEN pg_lpad({0}, {1}, ' ') "
        "ELSE lpad({0}, least({1}, 1000000), ' ') END",
    ),
    "rpad_blanks": NativeText(
        "rpad(c0, c1)",
        (_T, _I),
        "CASE WHEN {1} > 1000000 THEN pg_rpad({0}, {1}, ' ') "
        "ELSE rpad({0}, least({1}, 1000000), ' ') END",
    ),
}


_A, _E = "E[]", "E"  # an array of any element type, and such an element
ARRAY_TEXTS: dict[str, NativeText] = {
    "cardinality": NativeText("cardinality(c0)", (_A,), "CAST(len({0}) AS INTEGER)"),
    "array_length": NativeText(
        "array_length(c0, c1)",
        (_A, _I),
        "CASE WHEN {1} = 1 THEN CAST(nullif(len({0}), 0) AS INTEGER) END",
    ),
    "array_upper": NativeText(
        "array_upper(c0, c1)",
        (_A, _I),
        "CASE WHEN {1} = 1 THEN CAST(nullif(len({0}), 0) AS INTEGER) END",
    ),
    "array_lower": NativeText(
        "array_lower(c0, c1)", (_A, _I), "CASE WHEN {1} = 1 AND len({0}) > 0 THEN 1 END"
    ),
    "element": NativeText("c0[c1]", (_A, _I), "list_extract({0}, nullif(greatest({1}, 0), 0))"),
    "slice": NativeText(
        "c0[c1:c2]",
        (_A, _I, _I),
        "CASE WHEN {1} IS NOT NULL AND {2} IS NOT NULL THEN "
        "list_slice({0}, greatest({1}, 1), greatest({2}, 0)) END",
    ),
    "slice_from": NativeText(
        "c0[c1:]",
        (_A, _I),
        "CASE WHEN {1} IS NOT NULL THEN list_slice({0}, greatest({1}, 1), len({0})) END",
    ),
    "slice_to": NativeText(
        "c0[:c1]",
        (_A, _I),
        "CASE WHEN {1} IS NOT NULL THEN list_slice({0}, 1, greatest({1}, 0)) END",
    ),
    "array_position": NativeText(
        "array_position(c0, c1)", (_A, _E), "CAST(list_position({0}, {1}) AS INTEGER)"
    ),
    "array_positions": NativeText(
        "array_positions(c0, c1)",
        (_A, _E),
        "CAST(list_filter(range(1, len({0}) + 1), "
        "lambda place: {0}[place] IS NOT DISTINCT FROM {1}) AS INTEGER[])",
    ),
    "array_append": NativeText("array_append(c0, c1)", (_A, _E), "list_append({0}, {1})"),
    "array_prepend": NativeText("array_prepend(c0, c1)", (_E, _A), "list_prepend({0}, {1})"),
    "array_cat": NativeText(
        "c0 || c1",
        (_A, _A),
        "CASE WHEN {0} IS NOT NULL OR {1} IS NOT NULL THEN list_concat({0}, {1}) END",
    ),
    "array_remove": NativeText(
        "array_remove(c0, c1)",
        (_A, _E),
        "list_filter({0}, lambda item: item IS DISTINCT FROM {1})",
    ),
    "array_replace": NativeText(
        "array_replace(c0, c1, c2)",
        (_A, _E, _E),
        "list_transform({0}, lambda item: "
        "CASE WHEN item IS NOT DISTINCT FROM {1} THEN {2} ELSE item END)",
    ),
    "array_contains": NativeText(
        "c0 @> c1",
        (_A, _A),
        "CASE WHEN {0} IS NOT NULL THEN list_has_all({0}, {1}) "
        "AND len(list_filter({1}, lambda item: item IS NULL)) = 0 END",
    ),
    "array_overlaps": NativeText("c0 && c1", (_A, _A), "list_has_any({0}, {1})"),
    "equals_any": NativeText(
        "c0 = ANY (c1)",
        (_E, _A),
        "CASE WHEN len({1}) = 0 THEN false ELSE list_contains({1}, {0}) OR "
        "CASE WHEN {0} IS NOT NULL AND list_position({1}, NULL) IS NULL THEN false END END",
    ),
    "differs_all": NativeText(
        "c0 <> ALL (c1)",
        (_E, _A),
        "CASE WHEN len({1}) = 0 THEN true ELSE NOT (list_contains({1}, {0}) OR "
        "CASE WHEN {0} IS NOT NULL AND list_position({1}, NULL) IS NULL THEN false END) END",
    ),
}
for _name, _sign in (("less", "<"), ("most", "<="), ("more", ">"), ("least", ">=")):
    _unknown = f"len(list_filter({{1}}, lambda item: ({{0}} {_sign} item) IS NULL))"
    for _word, _not, _found, _else in (
        ("ANY", "", "true", "false"),
        ("ALL", "NOT", "false", "true"),
    ):
        ARRAY_TEXTS[f"{_name}_{_word.lower()}"] = NativeText(
            f"c0 {_sign} {_word} (c1)",
            (_E, _A),
            f"CASE WHEN len(list_filter({{1}}, lambda item: {_not} ({{0}} {_sign} item))) > 0 "
            f"THEN {_found} WHEN {_unknown} = 0 THEN {_else} END",
        )
NATIVE_TEXTS = STRING_TEXTS | ARRAY_TEXTS


def native_text(name: str, arguments: Sequence[str], simple: Sequence[bool] = ()) -> str | None:
    """The DuckDB text of the function over these arguments' texts, or None; see above."""
    row = NATIVE_TEXTS.get(name)
    if row is None:
        return None
    texts = list(arguments)
    bound: dict[str, str] = {}
    for index, text in enumerate(arguments):
        is_simple = index < len(simple) and simple[index]
        # inside a lambda of the row's own, too, an argument must be a name
        if not is_simple and (row.template.count(f"{{{index}}}") > 1 or "lambda" in row.template):
            bound[f"a{index}"] = text
            texts[index] = f"pg_given.a{index}"
    body = row.template.format(*texts)
    if not bound:
        return body
    packed = ", ".join(f"{name} := {text}" for name, text in bound.items())
    return f"list_transform([struct_pack({packed})], lambda pg_given: {body})[1]"
