"""Analysis of texts: words, stems, n-grams, literals, names, languages."""

import json
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core import languages
from redask.core.rules import terms
from redask.index.analysis import analyzer, vocabulary
from redask.index.analysis.analyzer import AnalysedEntity, Term
from redask.index.analysis.vocabulary import hash64, hash_bytes, stem_hash, stem_term, token
from redask.index.forward.entries import MAX_NAME_WORDS, U32, U64, all_ngrams, name_hash, ngrams

UNUSUAL_TEXTS = [
    *("", " ", "null", "Ω≈ç√∫˜µ≤≥÷", "ЁЂЃЄЅІЇЈЉЊЋЌЍЎЏАБВГД", "田中さんにあげて下さい"),
    *(
        "👩🏽\u200d❤️\u200d💋",
        "הָיְתָהtestالصفحات التّحول",
        "I\u0317\u0318n\u0347v\u032eo\u0332k",
        "𝒯𝓱𝑒 𝐪𝐮𝐢𝐜𝐤",
    ),
    *("\ufeff", "\u200b", "a\u0301", "\u0301", "'\"'", "''a''b'", "İstanbul", "ﬁn ǅ ß ẞ"),
    *("١٢٣", "\u2019s", "l'", "'s", "a's's", "\x1b[0m", "\u2028x\u2029", "\U0010fffe"),
    *("x" * 70_000, "é" * 200_000, "中" * 50_000, "a " * 200_000, "https://" + "y" * 70_000),
]


def one(content: object, language: str | None = None) -> AnalysedEntity:
    return analyzer.entity(json.dumps(content, ensure_ascii=False), language)


def tokens_of(found: AnalysedEntity) -> U64:
    return np.frombuffer(found.tokens, np.uint64)


def ends(found: AnalysedEntity) -> list[int]:
    return [int(end) for end in np.frombuffer(found.column_ends, np.uint32)]


def stems(*words: str) -> list[str]:
    return [stem_term(word) for word in words]


def test_words_are_runs_of_letters_and_digits_in_lower_case() -> None:
    assert analyzer.words("The Normans' 1st-born isn't O'Neil_here.") == [
        "the", "normans", "1st", "born", "isn't", "o'neil", "here"
    ]  # fmt: skip


def test_typographic_apostrophes_are_apostrophes() -> None:
    assert analyzer.words("l’homme – ce n’est “rien”") == ["l'homme", "ce", "n'est", "rien"]


def test_scripts_without_spaces_become_characters_and_bigrams() -> None:
    assert analyzer.words("NFL黑豹队3") == ["nfl", "黑", "黑豹", "豹", "豹队", "队", "3"]
    assert analyzer.words("猫") == ["猫"]
    assert analyzer.words("서울에") == ["서", "서울", "울", "울에", "에"]


def test_combining_marks_stay_with_their_letters() -> None:
    assert analyzer.words("हिन्दी में") == ["हिन्दी", "में"]
    assert analyzer.words("cafe\u0301 x") == ["cafe\u0301", "x"]


@given(st.text(st.characters(max_codepoint=0x24F, exclude_categories=["Cs"])))
def test_the_fast_patterns_find_the_words_of_terms(text: str) -> None:
    assert [word.removesuffix("'s") for word in analyzer.words(text)] == terms.words(text)


@given(st.text(st.sampled_from("aB1 9_-./:@+'’é中\n\twxhtps\u00a0()"), max_size=60))
def test_the_fast_search_for_literals_finds_those_of_terms(text: str) -> None:
    assert tuple(analyzer.literals(text)) == terms.literals(text)


@pytest.mark.parametrize("text", ["see www.x.org now", "(https://a.b/c?d=1), x", "mail a@b.cd"])
def test_addresses_are_literals(text: str) -> None:
    assert tuple(analyzer.literals(text)) == terms.literals(text)
    assert analyzer.literals(text)


def test_a_token_is_the_stem_above_the_surface() -> None:
    found = one({"text": "Experience experiments"})
    assert tokens_of(found).tolist() == [
        token("experience", "experi"),
        token("experiments", "experi"),
    ]
    assert found.body.split() == stems("experi", "experi")
    assert stem_hash(stem_term("experi")) == hash64("experi") & 0xFFFFFFFF
    assert tokens_of(found)[0] >> 32 == stem_hash(stem_term("experi"))


def test_columns_come_in_order_each_with_its_end_then_the_literals() -> None:
    found = one({"a": "one two", "b": {"c": ["three", 4.5, True, None]}, "d": "", "e": "AB-1"})
    assert json.loads(found.columns) == ["a", "b", "e"]
    assert ends(found) == [2, 5, 7]
    assert tokens_of(found)[7:].tolist() == [hash64("4.5"), hash64("AB-1")]
    assert found.body.split()[7:] == [
        vocabulary.literal_term("4.5"),
        vocabulary.literal_term("AB-1"),
    ]


def test_an_entity_without_text_has_no_tokens() -> None:
    for content in ({}, {"a": None, "b": [True, {}]}, None, False, {"a": "…"}):
        found = one(content)
        assert (found.tokens, found.body, ends(found), found.name_hashes) == (b"", "", [0], b"")


def test_numbers_of_any_size_are_text() -> None:
    digits = "9" * 5_000
    found = analyzer.entity(f'{{"n":{digits}}}')
    assert len(tokens_of(found)) == 1


def test_a_batch_is_analysed_as_its_entities_are_one_by_one() -> None:
    texts = [
        "",
        "der Hund und die Katze sind nicht da",
        "the cats",
        "los gatos que están en la casa",
    ]
    given = [
        (json.dumps({"title": text, "x": text * 3}), None) for text in [*texts, *UNUSUAL_TEXTS]
    ]
    assert analyzer.entities(given) == [analyzer.entity(payload) for payload, _ in given]
    assert analyzer.entities([]) == []


@pytest.mark.parametrize("text", UNUSUAL_TEXTS)
def test_any_text_becomes_short_plain_tokens(text: str) -> None:
    found = one({"title": text, "text": f"{text} {text}"})
    parts = found.body.split(" ") if found.body.strip() else []
    assert found.body.isascii()
    assert all(len(part) <= 13 for part in parts)
    assert len([part for part in parts if part]) == len(tokens_of(found))


def test_over_long_words_match_exactly_by_their_digest() -> None:
    for size in (101, 200_000):
        word, other = "a" * size, "a" * (size - 1) + "b"
        found = one({"text": f"{word} {other}"})
        first, second = found.body.split()
        assert first != second
        (group,) = analyzer.question(word, (), ("en",)).groups
        assert [term.text for term in group] == [first]


def test_a_full_vocabulary_is_emptied_and_filled_again() -> None:
    small = vocabulary.Vocabulary("en")
    words = vocabulary.Occurrences([" ".join(f"w{number}" for number in range(400_000)).encode()])
    positions = np.arange(len(words.word_ids))
    tokens, texts = small.look_up(words, positions)
    again = small.look_up(words, positions[:10])
    assert tokens[:10].tolist() == again[0].tolist() == [token(f"w{n}", f"w{n}") for n in range(10)]
    assert texts[399_999].tobytes().decode() == stem_term("w399999") + " "


def test_threads_share_a_vocabulary() -> None:
    shared = vocabulary.Vocabulary("en")
    texts = [" ".join(f"word{n * m}" for n in range(500)).encode() for m in range(1, 9)]
    wrong: list[bytes] = []

    def read(text: bytes) -> None:
        for _ in range(20):
            words = vocabulary.Occurrences([text])
            tokens, _ = shared.look_up(words, np.arange(len(words.word_ids)))
            surfaces = [shared.stem(word) for word in text.decode().split()]
            if tokens.tolist() != [token(*pair) for pair in surfaces]:
                wrong.append(text)

    threads = [threading.Thread(target=read, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --- languages -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The committee agreed on it.", "en"),
        ("Die Kommission hat sich nicht auf den Vertrag geeinigt.", "de"),
        ("La comisión no se puso de acuerdo sobre el contrato que era suyo.", "es"),
        ("La commission ne s'est pas mise d'accord sur le contrat qui était le sien.", "fr"),
        ("De commissie heeft het niet over deze overeenkomst gehad.", "nl"),
        ("Комиссия не договорилась", "ru"),
        ("黑豹队的防守只丢了 308分", "zh"),
        ("田中さんにあげて下さい", "ja"),
        ("서울에서", "ko"),
        ("Η επιτροπή", "el"),
        ("Die Hard", "en"),
        ("", "en"),
        ("4711", "en"),
    ],
)
def test_the_language_of_a_text_is_detected(text: str, language: str) -> None:
    assert one({"text": text}).language == language


def test_a_declared_language_is_not_detected() -> None:
    assert one({"text": "the houses"}, "de").body.split() == stems("the", "hous")
    assert one({"text": "the houses"}, "tlh").body.split() == stems("the", "houses")


def test_elided_articles_are_cut_off_where_the_language_has_them() -> None:
    assert one({"text": "l'homme aujourd'hui"}, "fr").body.split() == stems("homm", "aujourd'hui")
    assert one({"text": "dell'arte"}, "it").body.split() == stems("arte")


def test_every_detectable_language_has_a_stemmer() -> None:
    assert set(languages.STOP_WORDS) <= set(languages.STEMMERS)
    assert languages.STOP_WORDS["en"] == terms.ENGLISH


# --- questions -----------------------------------------------------------------------------


def groups(question: str, present: tuple[str, ...] = ("en",)) -> list[list[str]]:
    query = analyzer.question(question, terms.extract(question).literals, present)
    return [[term.text for term in group] for group in query.groups]


def test_a_question_is_searched_without_its_stop_words() -> None:
    assert groups("What is the capital of Normandy?") == [stems("capit"), stems("normandi")]
    assert groups("Was ist die Hauptstadt?", ("de",)) == [stems("hauptstadt")]


def test_a_question_of_stop_words_is_searched_with_them() -> None:
    assert groups("who is who") == [stems("who"), stems("is")]


def test_words_of_one_stem_count_once() -> None:
    assert groups("car cars") == [stems("car")]


def test_each_language_present_adds_its_stem() -> None:
    (group,) = groups("Häusern", ("de", "en"))
    assert sorted(group) == sorted(stems("haus", "häusern"))


def test_identifiers_are_terms_of_their_own_beside_their_words() -> None:
    query = analyzer.question("CVE-2023-22809", ("CVE-2023-22809",), ("en",))
    literal = Term(vocabulary.literal_term("CVE-2023-22809"), hash64("CVE-2023-22809"), True)
    assert query.groups[-1] == (literal,)
    assert [group[0].text for group in query.groups[:-1]] == stems("cve", "2023", "22809")


def test_a_quoted_phrase_points_to_its_words() -> None:
    question = 'who wrote "The Art of War"?'
    query = analyzer.question(question, terms.extract(question).literals, ("en",))
    (phrase,) = query.phrases
    assert phrase.text == "The Art of War"
    assert [query.groups[member][0].text for member in phrase.members] == stems("art", "war")


def test_a_quoted_phrase_of_stop_words_is_searched_with_them() -> None:
    question = 'Hamlet says "to be"'
    query = analyzer.question(question, terms.extract(question).literals, ("en",))
    (phrase,) = query.phrases
    assert [query.groups[member][0].text for member in phrase.members] == stems("to", "be")


# --- names ---------------------------------------------------------------------------------


def surfaces(*words: str) -> U32:
    return np.array([hash64(word) & 0xFFFFFFFF for word in words], np.uint32)


def test_names_are_the_name_and_the_name_without_brackets() -> None:
    found = one({"title": "The Emmas (novel)", "text": "x"})
    assert np.frombuffer(found.name_hashes, np.uint64).tolist() == [
        name_hash(surfaces("the", "emmas")),
        name_hash(surfaces("the", "emmas", "novel")),
    ]
    assert found.name_stems.split() == stems("the", "emma")


def test_a_name_comes_before_a_title_and_other_columns_are_no_names() -> None:
    assert one({"name": "Ann", "title": "Dr"}).name_stems.split() == stems("ann")
    assert one({"title": "Dr", "text": "Ann"}).name_stems.split() == stems("dr")
    assert one({"text": "Ann"}).name_stems == ""
    assert one({"name": 5, "title": ["Dr"]}).name_hashes == b""


def test_names_are_found_in_columns_of_any_case() -> None:
    assert one({"Name": "Ann", "Title": "Dr"}).name_stems.split() == stems("ann")
    assert one({"TITLE": "Dr", "Text": "Ann"}).name_stems.split() == stems("dr")
    assert one({"NAME": "Bob", "name": "Ann", "title": "Dr"}).name_stems.split() == stems("ann")
    assert one({"NAME": "Bob", "name": "", "title": "Dr"}).name_stems.split() == stems("bob")
    assert one({"n\u0430me": "Ann"}).name_stems == "", "a Cyrillic letter"


def test_no_words_or_too_many_are_no_name() -> None:
    assert one({"title": "…"}).name_hashes == b""
    assert one({"title": "one two three four five six seven eight nine"}).name_hashes == b""


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=12), st.integers(1, 8))
def test_a_name_has_the_hash_of_the_same_words_in_a_text(text: list[int], size: int) -> None:
    found = ngrams(np.array(text, np.uint32), size)
    assert found.tolist() == [
        name_hash(text[start : start + size]) for start in range(len(text) - size + 1)
    ]


@given(st.lists(st.integers(0, 2**32 - 1), max_size=12))
def test_ngrams_of_all_sizes_have_the_hashes_of_each_size(text: list[int]) -> None:
    surfaces = np.array(text, np.uint32)
    found = all_ngrams(surfaces)
    assert found.shape == (MAX_NAME_WORDS, len(text))
    for size in range(1, MAX_NAME_WORDS + 1):
        whole = max(0, len(text) - size + 1)
        assert found[size - 1, :whole].tolist() == ngrams(surfaces, size).tolist()


def test_hashes_are_those_of_blake2b() -> None:
    assert hash_bytes("foo").hex() == "7403aea39baf52fb"
