"""String functions by hand-made examples; the comparison with PostgreSQL is a file of its own."""

from collections.abc import Callable
from typing import Any

import pytest

from redask.core.errors import SqlError
from redask.core.sql.runtime import pg_arrays, pg_quoting, pg_strings
from redask.core.sql.runtime.native_texts import native_text


@pytest.mark.parametrize(
    ("call", "arguments", "expected"),
    [
        (pg_strings.substr, ("abcdef", -1, 4), "ab"),
        (pg_strings.substr, ("abc", -5, 3), ""),
        (pg_strings.split_part, ("a,b,c", ",", -1), "c"),
        (pg_strings.split_part, ("abc", "", 1), "abc"),
        (pg_strings.lpad, ("ab", 7, "xyz"), "xyzxyab"),
        (pg_strings.rpad, ("abcdef", 3, "x"), "abc"),
        (pg_strings.initcap, ("hELLO wörld a1b",), "Hello WöRld A1b"),
        (pg_strings.reverse, ("e\u0301x",), "x\u0301e"),
        (pg_strings.overlay, ("abcdef", "XY", 3, -1), "abXYbcdef"),
        (pg_strings.to_hex4, (-1,), "ffffffff"),
        (pg_strings.string_to_array, ("a,b,,c", ",", ""), ["a", "b", None, "c"]),
        (pg_strings.string_to_array, ("abc", None, None), ["a", "b", "c"]),
        (pg_strings.array_to_string, (["a", None, "b"], ",", None), "a,b"),
        (pg_strings.array_to_string, (["a", None, "b"], ",", "*"), "a,*,b"),
        (pg_strings.blank_padded, ("a", 3), "a  "),
        (pg_quoting.quote_ident, ("select",), '"select"'),
        (pg_quoting.quote_literal, ("a\\b'c",), "E'a\\\\b''c'"),
        (pg_quoting.quote_nullable, (None,), "NULL"),
        (pg_quoting.format_text, ("%1$s %2$-5L|%3$*4$s", ["a", "b", "c", "3"]), "a 'b'  |  c"),
        (pg_quoting.format_text, ("%I %% %s", ["a b", None]), '"a b" % '),
        (pg_arrays.array_text, (["a b", None, "null", "", "x"],), '{"a b",NULL,"null","",x}'),
    ],
)
def test_a_function_gives(
    call: Callable[..., Any], arguments: tuple[Any, ...], expected: Any
) -> None:
    assert call(*arguments) == expected


@pytest.mark.parametrize(
    ("call", "arguments", "sqlstate"),
    [
        (pg_strings.substr, ("abc", 1, -1), "22011"),
        (pg_strings.split_part, ("a", ",", 0), "22023"),
        (pg_strings.overlay, ("a", "b", 0, 1), "22011"),
        (pg_strings.character, (0,), "54000"),
        (pg_strings.character, (-1,), "22023"),
        (pg_strings.character, (0xD800,), "54000"),
        (pg_strings.repeat, ("abc", 10**9), "54000"),
        (pg_strings.lpad, ("a", 10**9, "b"), "54000"),
        (pg_quoting.format_text, ("%", []), "22023"),
        (pg_quoting.format_text, ("%s", []), "22023"),
        (pg_quoting.format_text, ("%I", [None]), "22004"),
        (pg_arrays.trimmed_length, (1, 2), "2202E"),
    ],
)
def test_a_fault_has_postgresql_s_state(
    call: Callable[..., Any], arguments: tuple[Any, ...], sqlstate: str
) -> None:
    with pytest.raises(SqlError) as caught:
        call(*arguments)
    assert caught.value.sqlstate == sqlstate


def test_nested_native_texts_grow_linearly() -> None:
    text = "c"
    sizes = []
    for _ in range(20):
        text = native_text("substr", [text, "1", "2"], [text == "c", True, True]) or ""
        sizes.append(len(text))
    assert sizes[-1] - sizes[-2] == sizes[3] - sizes[2]


def test_a_function_without_a_row_has_no_native_text() -> None:
    assert native_text("initcap", ["c"]) is None
