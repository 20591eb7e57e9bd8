"""The paragraph "Text" of the contracts: which characters may enter, and ASCII folding."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core import text

C0 = [chr(code) for code in range(0x20)]
LINES = "\t\n\r"
SURROGATES = ["\ud800", "\udbff", "\udc00", "\udfff"]
ANY = st.text(st.characters(codec=None) | st.sampled_from([*C0, "\x7f", *SURROGATES]))


def is_forbidden(char: str, *, lines: bool) -> bool:
    """The contract, character by character."""
    control = ord(char) < 0x20 or ord(char) == 0x7F
    return 0xD800 <= ord(char) <= 0xDFFF or (control and not (lines and char in LINES))


@pytest.mark.parametrize("char", [*C0, "\x7f", *SURROGATES], ids=ascii)
def test_a_name_holds_no_control_character_no_delete_and_no_lone_surrogate(char: str) -> None:
    assert text.forbidden(f"ab{char}c{char}") == 2
    assert text.name_fault(f"a{char}") == f"holds the character U+{ord(char):04X}"


@pytest.mark.parametrize(
    "char", [c for c in [*C0, "\x7f", *SURROGATES] if c not in LINES], ids=ascii
)
def test_a_question_holds_none_of_them_but_tab_line_feed_and_carriage_return(char: str) -> None:
    assert text.forbidden(f"ab{char}c{char}", lines=True) == 2
    fault = f"holds the character U+{ord(char):04X} at position 3"
    assert text.question_fault(f"ab{char}") == fault


@pytest.mark.parametrize("char", LINES, ids=ascii)
def test_a_question_may_hold_tab_line_feed_and_carriage_return(char: str) -> None:
    assert text.forbidden(f"a{char}b", lines=True) is None
    assert text.question_fault(f"a{char}b") is None


@pytest.mark.parametrize(
    "char", [" ", "~", "\x80", "\x85", "\u2028", "\ufeff", "é", "😀", "\ud7ff", "\ue000"]
)
def test_everything_else_is_allowed(char: str) -> None:
    assert text.forbidden(char) is None
    assert text.name_fault(char) is None
    assert text.question_fault(f"a{char}") is None


@given(ANY, st.booleans())
def test_the_first_forbidden_character_is_found(value: str, lines: bool) -> None:
    positions = [at for at, char in enumerate(value) if is_forbidden(char, lines=lines)]
    assert text.forbidden(value, lines=lines) == next(iter(positions), None)


@given(ANY)
def test_what_is_allowed_has_utf_8_and_no_unit_separator(value: str) -> None:
    for lines in (False, True):
        if text.forbidden(value, lines=lines) is None:
            assert b"\x1f" not in value.encode()


# --- names ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "is empty"),
        ("a", None),
        ("a" * 256, None),
        ("é" * 256, None),
        ("a" * 257, "is longer than 256 characters"),
        ("\0" * 257, "is longer than 256 characters"),
        ("a\nb", "holds the character U+000A"),
    ],
)
def test_a_name_has_1_to_256_characters(name: str, fault: str | None) -> None:
    assert text.name_fault(name) == fault


# --- questions --------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["", " ", "\t\r\n", "\u00a0", "\u2003\u3000", "\x85\u2028"])
def test_a_blank_question_is_refused(question: str) -> None:
    assert text.question_fault(question) == "is blank"


@pytest.mark.parametrize(
    ("question", "size"),
    [("a" * 32_768, 0), ("a" * 32_769, 32_769), ("é" * 16_384, 0), ("é" * 16_384 + "a", 32_769)],
    ids=["at", "above", "at in UTF-8", "above in UTF-8"],
)
def test_a_question_has_at_most_32_kib_in_utf_8(question: str, size: int) -> None:
    fault = f"is {size} bytes long, more than 32768" if size else None
    assert text.question_fault(question) == fault


@given(ANY)
def test_a_question_is_faultless_exactly_when_it_is_allowed_and_not_blank(question: str) -> None:
    allowed = not any(is_forbidden(char, lines=True) for char in question)
    assert (text.question_fault(question) is None) == (allowed and bool(question.strip()))


@given(ANY)
def test_every_fault_is_safe_to_print(value: str) -> None:
    for fault in (text.name_fault(value), text.question_fault(value)):
        assert (fault or "").isascii()
        assert (fault or "").isprintable()


# --- folding ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "lowered"),
    [
        ("OpenAI", "openai"),
        (string.ascii_uppercase, string.ascii_lowercase),
        ("deepsee\u212a", "deepsee\u212a"),
        ("ÉÄΣİ", "ÉÄΣİ"),
        (" GROQ ", " groq "),
        ("@[`{", "@[`{"),
        ("", ""),
    ],
)
def test_folding_is_ascii_only_and_trims_nothing(token: str, lowered: str) -> None:
    assert text.lower(token) == lowered


@given(ANY)
def test_folding_changes_ascii_capitals_and_nothing_else(token: str) -> None:
    expected = [char.lower() if char in string.ascii_uppercase else char for char in token]
    assert text.lower(token) == "".join(expected)


@pytest.mark.parametrize(
    ("char", "shown"),
    [("\0", "U+0000"), ("\x1f", "U+001F"), ("\ud800", "U+D800"), ("😀", "U+1F600")],
)
def test_a_code_point_is_shown_by_its_number(char: str, shown: str) -> None:
    assert text.codepoint(char) == shown


def test_a_pattern_that_is_compiled_later_has_the_methods_of_one_and_nothing_hidden() -> None:
    pattern = text.compiled_later("[a-z]{2}", re.IGNORECASE)
    assert pattern.fullmatch("Ab")
    assert pattern.findall("ab1Cd") == ["ab", "Cd"]
    with pytest.raises(AttributeError, match="_nothing"):
        getattr(pattern, "_nothing")  # noqa: B009 - a name with an underscore


def test_a_pattern_that_is_written_by_a_function_is_written_at_its_first_use() -> None:
    written: list[str] = []

    def write() -> str:
        written.append("[a-z]{2}")
        return written[0]

    pattern = text.compiled_later(write)
    assert written == []
    assert pattern.findall("ab1cd") == ["ab", "cd"]
    assert pattern.findall("ef") == ["ef"]
    assert len(written) == 1
