"""Patterns by hand-made examples: what is translated, what is refused, and how."""

import re

import pytest

from redask.core.errors import SqlError
from redask.core.sql.runtime.patterns.pattern_calls import like_text, regexp_text
from redask.core.sql.runtime.patterns.pg_patterns import (
    found_pattern,
    like_pattern,
    match_pattern,
    pattern_fault,
    replacement_text,
    similar_pattern,
)

RETURNED = r"""\d+
[^0-9]
^(.*)@(.*)$
@(.+)
^(.*?)-
^(.*?)-(.*)$
foo|bar
foobar|foo
^\s+|\s+$
(\d{4})-(\d{2})-(\d{2})
^.*/
[^/]+$
^https?://([^/]+)
\mfoo\M
(\w+)\s+(\w+)
<[^>]+>
<.*?>
\(([^)]*)\)
(jpg|png|gif)$
(\d+)\s*(kg|g|mg)
(?i)abc""".splitlines()


@pytest.mark.parametrize("pattern", RETURNED)
def test_a_common_pattern_may_return_its_groups(pattern: str) -> None:
    assert found_pattern(pattern, groups="returned").text


@pytest.mark.parametrize(
    "pattern",
    ["foo|foobar", "a?(?:ab)?", "(?:a|ab)(?:c|bcd)?", "a*?b*", "x*?(?:a|ab)+"],
)
def test_a_pattern_whose_match_re2_would_choose_otherwise_is_refused(pattern: str) -> None:
    assert match_pattern(pattern)
    with pytest.raises(SqlError, match="does not prefer") as caught:
        found_pattern(pattern)
    assert caught.value.sqlstate == "0A000"


@pytest.mark.parametrize("pattern", ["(a|b)+", "(?:x(a|ab))+", "a+?b?c(d)", "a+?(?:ab)*?(b*)b?$"])
def test_a_group_that_re2_would_fill_otherwise_is_refused(pattern: str) -> None:
    with pytest.raises(SqlError, match="is not supported"):
        found_pattern(pattern, groups="replaced")


def test_a_group_that_can_be_missing_is_replaced_but_not_returned() -> None:
    assert found_pattern(r"(\d+)(\.\d+)?", groups="replaced").groups == 2
    with pytest.raises(SqlError, match="can be missing"):
        found_pattern(r"(\d+)(\.\d+)?", groups="returned")


def test_a_pattern_that_can_match_nothing_is_refused_where_matches_follow_each_other() -> None:
    assert found_pattern("x*").nullable
    with pytest.raises(SqlError, match="can match nothing"):
        found_pattern("x*", repeated=True)


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("(", "parentheses () not balanced"),
        ("a)", "parentheses () not balanced"),
        ("[a", "brackets [] not balanced"),
        ("*a", "quantifier operand invalid"),
        ("a**", "quantifier operand invalid"),
        ("^*", "quantifier operand invalid"),
        ("a{2,1}", "invalid repetition count(s)"),
        ("a{300}", "invalid repetition count(s)"),
        ("a{1", "braces {} not balanced"),
        ("[b-a]", "invalid character range"),
        ("[[:foo:]]", "invalid character class"),
        ("a\\", "invalid escape \\ sequence"),
    ],
)
def test_an_invalid_pattern_has_postgresql_s_message(pattern: str, fault: str) -> None:
    assert pattern_fault(pattern) == f"invalid regular expression: {fault}"


@pytest.mark.parametrize(
    "pattern", [r"(a)\1", "(?=a)", "(?<!a)b", r"\bfoo", "***=a", "[[=a=]]", r"\m", "(?x)a"]
)
def test_an_unsupported_feature_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(SqlError, match=r"regular expression feature .* is not supported") as caught:
        match_pattern(pattern)
    assert caught.value.sqlstate == "0A000"


@pytest.mark.parametrize(
    "pattern", ["(a|b)*a(?:a|b){12}", "[a-z]{1,200}b{1,200}", "(?:a{200}){200}", "(" * 500]
)
def test_a_pattern_that_costs_too_much_to_look_through_is_refused(pattern: str) -> None:
    with pytest.raises(SqlError, match="is not supported"):
        found_pattern(pattern)


def test_letters_of_both_cases_are_written_out() -> None:
    text = match_pattern("aß", True)
    assert "(?i" not in text
    python = re.compile(
        re.sub(r"\\x\{([0-9a-f]+)\}", lambda m: re.escape(chr(int(m[1], 16))), text)
    )
    assert python.fullmatch("Aß")
    assert not python.fullmatch("A\u1e9e")


def test_a_replacement_is_written_for_re2() -> None:
    assert replacement_text(r"[\1\&\\\x\0\9]\ ".rstrip(), 1) == (r"[\1\0\\\\x\\0]" + "\\\\", True)
    assert replacement_text("plain", 0) == ("plain", False)


def test_like_and_similar_patterns() -> None:
    assert like_pattern("a#%\\b", "#") == "a\\%\\\\b"
    assert like_pattern("a\\", "") == "a\\\\"
    assert similar_pattern("%(b|d)_[a%].") == r"^(?:.*(?:b|d).[a%]\.)$"
    with pytest.raises(SqlError, match="must not end with escape character"):
        like_pattern("a\\")
    with pytest.raises(SqlError, match="invalid escape string"):
        like_pattern("a", "xx")
    assert "LIKE 'a%'" in like_text("c", "A%", ignore_case=True)


def test_flags_are_checked() -> None:
    with pytest.raises(SqlError, match='does not support the "global" option'):
        regexp_text("regexp_match", "c", ["a", "g"])
    with pytest.raises(SqlError, match='invalid regular expression option: "z"'):
        regexp_text("regexp_replace", "c", ["a", "b", "z"])
    with pytest.raises(SqlError, match="is not supported"):
        regexp_text("regexp_replace", "c", ["a", "b", "n"])
