"""Mentions of names: found at every position, the longest first, and nothing else."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from redask.index.forward.entries import MAX_NAME_WORDS, U32, U64, name_hash
from redask.index.graph import mentions
from redask.index.graph.mentions import BloomFilter, Mention

# Few different words, so that names overlap and recur; as far apart as hashes are.
WORD = st.sampled_from([0x1B873593, 0x52DCE729, 0x85EBCA6B, 0xE6546B64])
WORDS = st.lists(WORD, max_size=30).map(lambda words: np.array(words, np.uint32))
NAMES = st.sets(st.lists(WORD, min_size=1, max_size=MAX_NAME_WORDS).map(tuple))


def hash_of(name: tuple[int, ...]) -> int:
    found = name_hash(np.array(name, np.uint32))
    assert found is not None
    return found


def filter_of(hashes: set[int]) -> BloomFilter:
    bloom_filter = BloomFilter()
    bloom_filter.catch_up(lambda _: np.array(sorted(hashes), np.uint64), 1)
    return bloom_filter


def found_word_by_word(text: U32, known: set[tuple[int, ...]]) -> list[Mention]:
    """The same, word by word."""
    found, start = [], 0
    while start < len(text):
        sizes = range(min(MAX_NAME_WORDS, len(text) - start), 0, -1)
        fitting = [size for size in sizes if tuple(text[start : start + size].tolist()) in known]
        if fitting:
            name = tuple(text[start : start + fitting[0]].tolist())
            found.append(Mention(start, fitting[0], hash_of(name)))
        start += fitting[0] if fitting else 1
    return found


@given(st.lists(WORDS, max_size=5), NAMES)
def test_names_are_found_as_word_by_word(texts: list[U32], known: set[tuple[int, ...]]) -> None:
    hashes = {hash_of(name) for name in known}
    found = mentions.candidates(texts, filter_of(hashes))
    assert [mentions.longest_mentions(some, hashes) for some in found] == [
        found_word_by_word(text, known) for text in texts
    ]


@given(st.lists(WORDS, max_size=5), NAMES)
def test_a_text_mentions_a_name_where_its_words_are_adjacent(
    texts: list[U32], known: set[tuple[int, ...]]
) -> None:
    names = sorted(known)
    expected = [
        {
            position
            for position, text in enumerate(texts)
            if any(
                tuple(text[start : start + len(name)].tolist()) == name
                for start in range(len(text))
            )
        }
        for name in names
    ]
    assert (
        mentions.texts_mentioning(texts, [(hash_of(name), len(name)) for name in names]) == expected
    )


@given(st.sets(st.integers(0, 2**64 - 1), max_size=50))
def test_the_bloom_filter_has_no_false_negatives(hashes: set[int]) -> None:
    every = np.array(sorted(hashes), np.uint64)
    assert filter_of(hashes).may_contain(every).all()


def test_the_bloom_filter_has_few_false_positives() -> None:
    chance = np.random.default_rng(1)
    known = chance.integers(0, 2**64, 100_000, np.uint64)
    others = chance.integers(0, 2**64, 10_000, np.uint64)
    assert filter_of(set(known.tolist())).may_contain(others).mean() < 0.01


def test_the_bloom_filter_reads_only_new_names() -> None:
    log: list[int] = []

    def name_hashes_since(seq: int) -> U64:
        log.append(seq)
        return np.array([seq], np.uint64)

    bloom_filter = BloomFilter()
    for watermark in (5, 5, 3, 9):
        bloom_filter.catch_up(name_hashes_since, watermark)
    assert log == [0, 5]


def test_only_the_first_words_of_a_long_text_are_read() -> None:
    text = np.zeros(mentions.MAX_TEXT_WORDS + 5, np.uint32)
    text[-1] = 1
    assert mentions.candidates([text], filter_of({hash_of((1,))})) == [[]]
