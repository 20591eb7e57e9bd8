"""Names in running text: found wherever they are, the longest first, and nothing else."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from redask.index.forward.entries import MAX_NAME_WORDS, U32, U64, name_of
from redask.index.graph import mentions
from redask.index.graph.mentions import BloomFilter, Mention

# Few different words, so that names overlap and recur; as far apart as hashes are.
WORD = st.sampled_from([0x1B873593, 0x52DCE729, 0x85EBCA6B, 0xE6546B64])
WORDS = st.lists(WORD, max_size=30).map(lambda words: np.array(words, np.uint32))
NAMES = st.sets(st.lists(WORD, min_size=1, max_size=MAX_NAME_WORDS).map(tuple))


def number(name: tuple[int, ...]) -> int:
    found = name_of(np.array(name, np.uint32))
    assert found is not None
    return found


def sieve_of(numbers: set[int]) -> BloomFilter:
    bloom_filter = BloomFilter()
    bloom_filter.follow(lambda _: np.array(sorted(numbers), np.uint64), 1)
    return bloom_filter


def found_one_by_one(text: U32, known: set[tuple[int, ...]]) -> list[Mention]:
    """The same, word by word."""
    found, start = [], 0
    while start < len(text):
        sizes = range(min(MAX_NAME_WORDS, len(text) - start), 0, -1)
        fitting = [size for size in sizes if tuple(text[start : start + size].tolist()) in known]
        if fitting:
            name = tuple(text[start : start + fitting[0]].tolist())
            found.append(Mention(start, fitting[0], number(name)))
        start += fitting[0] if fitting else 1
    return found


@given(st.lists(WORDS, max_size=5), NAMES)
def test_names_are_found_as_one_by_one(texts: list[U32], known: set[tuple[int, ...]]) -> None:
    numbers = {number(name) for name in known}
    found = mentions.candidates(texts, sieve_of(numbers))
    assert [mentions.longest(some, numbers) for some in found] == [
        found_one_by_one(text, known) for text in texts
    ]


@given(st.lists(WORDS, max_size=5), NAMES)
def test_a_text_mentions_a_name_where_its_words_follow_each_other(
    texts: list[U32], known: set[tuple[int, ...]]
) -> None:
    asked = sorted(known)
    holding = [
        {
            place
            for place, text in enumerate(texts)
            if any(
                tuple(text[start : start + len(name)].tolist()) == name
                for start in range(len(text))
            )
        }
        for name in asked
    ]
    assert mentions.mentioning(texts, [(number(name), len(name)) for name in asked]) == holding


@given(st.sets(st.integers(0, 2**64 - 1), max_size=50))
def test_the_sieve_lets_every_name_through(numbers: set[int]) -> None:
    every = np.array(sorted(numbers), np.uint64)
    assert sieve_of(numbers).admits(every).all()


def test_the_sieve_holds_back_most_of_what_is_no_name() -> None:
    chance = np.random.default_rng(1)
    known = chance.integers(0, 2**64, 100_000, np.uint64)
    others = chance.integers(0, 2**64, 10_000, np.uint64)
    assert sieve_of(set(known.tolist())).admits(others).mean() < 0.01


def test_the_sieve_reads_only_what_is_new() -> None:
    log: list[int] = []

    def names_since(seq: int) -> U64:
        log.append(seq)
        return np.array([seq], np.uint64)

    bloom_filter = BloomFilter()
    for watermark in (5, 5, 3, 9):
        bloom_filter.follow(names_since, watermark)
    assert log == [0, 5]


def test_no_more_than_so_many_words_of_a_text_are_read() -> None:
    text = np.zeros(mentions.READ + 5, np.uint32)
    text[-1] = 1
    assert mentions.candidates([text], sieve_of({number((1,))})) == [[]]
