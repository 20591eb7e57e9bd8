"""Translated patterns in DuckDB against a real PostgreSQL 15, over random patterns and texts."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import duckdb
import pytest
from postgres_oracle import Oracle, is_installed, running

from redask.core.errors import SqlError
from redask.core.sql.runtime.patterns.pg_patterns import (
    found_pattern,
    like_pattern,
    match_pattern,
    replacement_text,
    similar_pattern,
)

pytestmark = pytest.mark.skipif(not is_installed(), reason="PostgreSQL 15 is not installed")
PATTERNS = 400
ATOMS = r"a b c a b . [ab] [^a] \d \w \s ^ $ \y \m \M \Y A 1 - [a-c] [[:alpha:]] ä \. [^[:space:]]"
SIGNS = "* + ? *? +? ?? {2} {1,2} {0,1} {1,} {1,2}? {2}? * +".split()
WHOLE, NUMBERED = r"<\&\\\x\>", r"<\1|\2|\3>"  # replacements
LETTERS = "aabbcA1 -ä\n.\v_"


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with running() as ask:
        yield ask


def atom(random: Random, depth: int) -> str:
    if depth < 3 and random.random() < 0.25:
        return random.choice(["(", "(?:"]) + pattern(random, depth + 1) + ")"
    return random.choice([*ATOMS.split(), " "])


def quantified(random: Random, depth: int) -> str:
    one = atom(random, depth)
    if random.random() < 0.4 and one not in ("^", "$", r"\y", r"\m", r"\M", r"\Y"):
        return one + random.choice(SIGNS)
    return one


def pattern(random: Random, depth: int = 0) -> str:
    branches = random.choice([1, 1, 1, 1, 2])
    return "|".join(
        "".join(quantified(random, depth) for _ in range(random.randint(0 if depth else 1, 4)))
        for _ in range(branches)
    )


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class Comparison:
    """The same expression in both, over the same texts."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.duck = duckdb.connect()
        self.seen: Counter[str] = Counter()

    def same(self, name: str, theirs: str, ours: str, texts: list[str]) -> None:
        expected = self.oracle.values(theirs, ("text",), [[each] for each in texts])
        found = self.duck.execute(
            f"SELECT {ours} FROM (SELECT unnest(?::VARCHAR[]) AS c0, "
            f"unnest(range({len(texts)})) AS place) ORDER BY place",
            [texts],
        ).fetchall()
        answers: list[Any] = [("value", row[0]) for row in found]
        for text, wanted, answer in zip(texts, expected, answers, strict=True):
            assert answer == wanted, (theirs, ours, text)
        self.seen[name] += 1

    def found(self, written: str, texts: list[str], ignore_case: bool) -> None:
        """The functions that return the match."""
        sql = quoted(written.replace("%", "%%"))
        flags = "i" if ignore_case else ""
        text = quoted(found_pattern(written, ignore_case).text)
        theirs = f"regexp_substr(c0, {sql}, 1, 1, '{flags}')"
        self.same("substr", theirs, f"regexp_extract_all(c0, {text}, 0)[1]", texts)
        new, _ = replacement_text(WHOLE, 0)
        theirs = f"regexp_replace(c0, {sql}, {quoted(WHOLE)}, '{flags}')"
        self.same("replace", theirs, f"regexp_replace(c0, {text}, {quoted(new)})", texts)
        found_pattern(written, ignore_case, repeated=True)
        theirs = f"regexp_replace(c0, {sql}, {quoted(WHOLE)}, 'g{flags}')"
        self.same("replace all", theirs, f"regexp_replace(c0, {text}, {quoted(new)}, 'g')", texts)
        theirs = f"regexp_split_to_array(c0, {sql}, '{flags}')"
        self.same("split", theirs, f"string_split_regex(c0, {text})", texts)
        theirs = f"regexp_count(c0, {sql}, 1, '{flags}')"
        self.same("count", theirs, f"len(regexp_extract_all(c0, {text}))", texts)

    def groups(self, written: str, texts: list[str]) -> None:
        """The functions that return groups."""
        sql = quoted(written.replace("%", "%%"))
        found = found_pattern(written, groups="replaced")
        new, named = replacement_text(NUMBERED, found.groups)
        assert named
        theirs = f"regexp_replace(c0, {sql}, {quoted(NUMBERED)})"
        text = quoted(found.text)
        self.same("groups replaced", theirs, f"regexp_replace(c0, {text}, {quoted(new)})", texts)
        if not found_pattern(written, groups="returned").groups:
            return
        parts = ", ".join(f"regexp_extract(x, {text}, {n + 1})" for n in range(found.groups))
        ours = (
            f"list_transform([c0], lambda x: CASE WHEN regexp_matches(x, {text}) "
            f"THEN [{parts}] END)[1]"
        )
        self.same("groups returned", f"regexp_match(c0, {sql})", ours, texts)
        ours = f"regexp_extract_all(c0, {text}, 1)[1]"
        self.same("group one", f"substring(c0 from {sql})", ours, texts)


def drawn_texts(random: Random) -> list[str]:
    return ["".join(random.choices(LETTERS, k=random.randint(0, 8))) for _ in range(25)]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_translated_pattern_gives_what_postgresql_gives(oracle: Oracle, seed: int) -> None:
    random = Random(seed)
    compare = Comparison(oracle)
    for _ in range(PATTERNS):
        written, texts = pattern(random), drawn_texts(random)
        ignore_case = random.random() < 0.3
        operator = "~*" if ignore_case else "~"
        theirs = f"c0 {operator} {quoted(written.replace('%', '%%'))}"
        try:
            text = match_pattern(written, ignore_case)
        except SqlError as error:
            if error.sqlstate == "2201B":
                assert oracle.values(theirs, ("text",), [[""]]) == [("error", "2201B")]
            continue
        compare.same("match", theirs, f"regexp_matches(c0, {quoted(text)})", texts)
        with suppress(SqlError):
            compare.found(written, texts, ignore_case)
        with suppress(SqlError):
            compare.groups(written, texts)
    assert all(
        compare.seen[name] >= 10 for name in ("match", "substr", "replace all", "groups returned")
    ), compare.seen


def test_like_and_similar_to_give_what_postgresql_gives(oracle: Oracle) -> None:
    random = Random(7)
    compare = Comparison(oracle)
    for _ in range(300):
        written = "".join(random.choices("ab%_\\#äA.", k=random.randint(0, 5)))
        escape = random.choice([None, None, "", "#", "a"])
        texts = ["".join(random.choices("abA%_\\#ä.\n", k=random.randint(0, 5))) for _ in range(30)]
        tail = "" if escape is None else f" ESCAPE {quoted(escape)}"
        sql = quoted(written.replace("%", "%%"))
        try:
            like = quoted(like_pattern(written, escape))
        except SqlError:
            continue
        compare.same("like", f"c0 LIKE {sql}{tail}", f"c0 LIKE {like} ESCAPE '\\'", texts)
        try:
            similar = quoted(match_pattern(similar_pattern(written, escape)))
        except SqlError:
            continue
        theirs = f"c0 SIMILAR TO {sql}{tail}"
        compare.same("similar", theirs, f"regexp_matches(c0, {similar})", texts)
    assert min(compare.seen["like"], compare.seen["similar"]) > 50
