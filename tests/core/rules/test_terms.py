"""What a question is searched for (issue 2, item 4)."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Terms
from redask.core.rules import terms
from redask.core.rules.terms import extract

ADDRESSES = "10.0.0.1 10.0.0.0/8 192.168.0.1:8080 2001:db8::1 ::1 fe80::/10".split()
URLS = "https://example.com/a?b=1&c=2 http://a.b/(x) ftp://x www.example.com/x HTTP://A.B".split()
IDENTIFIERS = """
    AB1234567 CVE-2023-22809 FDD-12313 max_tokens v1 x86_64 2023-01-05 v1.2.3 1.2.3-rc.1+b5 3.14
    python3.11 ab:cd:ef:01:23:45 АБ-1234 Ünit7 a1@b
""".split()
EMAILS = ["bob@example.com", "bob.smith+x%y@mail.example.co.uk", "jürgen@müller.de"]
LITERALS = [*IDENTIFIERS, *ADDRESSES, *EMAILS, *URLS]


# --- words ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Why did customer Meyer churn?", ("customer", "meyer", "churn")),
        ("red RED Red blue", ("red", "blue")),
        ("zebra apple Zebra", ("zebra", "apple")),
        ("The dog's tail and James’s hat", ("dog", "tail", "james", "hat")),
        ("What’s that? Don't, don’t, donʼt!", ("what", "that", "don't")),
        ("Who wouldn't pay rock'n'roll", ("pay", "rock'n'roll")),
        ("and/or up-to-date opt-in", ("date", "opt")),
        ("12313 orders", ("12313", "orders")),
        ("50% of 1,000", ("50", "1", "000")),
        ("c'est l'été à Évry", ("c'est", "l'été", "à", "évry")),
    ],
)
def test_words_are_lower_cased_each_once_in_order_without_stop_words(
    question: str, words: tuple[str, ...]
) -> None:
    assert extract(question) == Terms(words, ())


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("what is the", ("what", "is", "the")),
        ("Is it? It is!", ("is", "it")),
        ("WHO are you, who?", ("who", "are", "you")),
    ],
)
def test_a_question_of_stop_words_only_is_searched_by_them(
    question: str, words: tuple[str, ...]
) -> None:
    assert extract(question) == Terms(words, ())


def test_next_to_a_literal_stop_words_are_left_out() -> None:
    assert extract("what is AB12") == Terms((), ("AB12",))


@pytest.mark.parametrize("question", ["?!?", " ∑ → ∞ ", '"   "', "___", "😀"])
def test_without_any_word_the_trimmed_question_is_the_literal(question: str) -> None:
    assert extract(question) == Terms((), (question.strip(),))


@pytest.mark.parametrize("question", ["❤️", "👩\u200d💻", "\u0301", "a \u200d b"])
def test_a_word_holds_more_than_marks_and_joiners(question: str) -> None:
    assert not {"\ufe0f", "\u200d", "\u0301"} & set(extract(question).words)


@pytest.mark.parametrize("question", ["", "   ", "\n\t"])
def test_a_blank_question_has_nothing_to_search_with(question: str) -> None:
    assert extract(question) == Terms((), ())


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("हिन्दी में क्या है", ("हिन्दी", "में", "क्या", "है")),
        ("ภาษาไทย", ("ภาษาไทย",)),
        ("من هو المدير؟", ("من", "هو", "المدير")),
        ("می\u200cخواهم", ("می\u200cخواهم",)),
        ("ΣΊΣΥΦΟΣ", ("σίσυφος",)),
        ("什么是事件？", ("什么是事件",)),
        ("Кто Иванов", ("кто", "иванов")),
        ("cafe\u0301 𝔘𑄥\U00011127", ("cafe\u0301", "𝔘𑄥\U00011127")),
        ("2023年", ("2023年",)),
    ],
)
def test_words_of_any_script_stay_whole(question: str, words: tuple[str, ...]) -> None:
    assert extract(question) == Terms(words, ())


def test_the_stop_words_are_those_of_the_caller() -> None:
    assert extract("Was ist der Grund", {"was", "ist", "der"}).words == ("grund",)
    assert extract("Was ist das", {"was", "ist", "das"}).words == ("was", "ist", "das")


@pytest.mark.parametrize("word", sorted(terms.ENGLISH))
def test_every_english_stop_word_is_left_out_in_any_case(word: str) -> None:
    assert extract(f"{word} churn {word.upper()}").words == ("churn",)


def test_words_repeat_and_keep_stop_words_when_a_text_is_indexed() -> None:
    assert terms.words("The dog and the DOG's") == ["the", "dog", "and", "the", "dog"]


# --- literals ---------------------------------------------------------------------------


@pytest.mark.parametrize("literal", LITERALS)
def test_a_literal_is_kept_as_written_and_gives_no_words(literal: str) -> None:
    assert extract(literal) == Terms((), (literal,))
    assert extract(f"Explain {literal} please") == Terms(("explain", "please"), (literal,))
    assert terms.literals(f"Explain {literal}, then {literal}") == (literal,)


FRAMES = """
    ({}) {}. {}, {}; {}: {}! {}? {}?! “{}” "{}" «{}» `{}` [{}] <{}> {}… （{}） 「{}」 {}。
    id={} ¿{}? '{}' '{}',
""".split()


@pytest.mark.parametrize("frame", FRAMES)
def test_punctuation_around_a_literal_belongs_to_the_sentence(frame: str) -> None:
    assert [terms.literals(frame.format(each)) for each in LITERALS] == [(e,) for e in LITERALS]


@pytest.mark.parametrize("literal", [*IDENTIFIERS, *ADDRESSES, *EMAILS])
def test_a_script_without_spaces_does_not_stick_to_a_literal(literal: str) -> None:
    assert extract(f"错误{literal}的原因") == Terms(("错误", "的原因"), (literal,))


@pytest.mark.parametrize("literal", [*EMAILS, *URLS])
def test_a_label_with_a_colon_does_not_hide_an_address(literal: str) -> None:
    assert terms.literals(f"contact:{literal}") == (literal,)


@pytest.mark.parametrize("suffix", ["'s", "’s", "'S", "ʼs"])
def test_the_possessive_of_a_literal_is_cut_off(suffix: str) -> None:
    assert extract(f"AB1234567{suffix} status") == Terms(("status",), ("AB1234567",))


def test_what_only_starts_like_a_possessive_is_a_word() -> None:
    assert extract("AB1234567'sub") == Terms(("sub",), ("AB1234567",))


@pytest.mark.parametrize("address", ["::ffff:10.0.0.1", "64:ff9b::192.0.2.33"])
def test_an_ipv4_address_inside_an_ipv6_address_is_part_of_it(address: str) -> None:
    assert terms.literals(f"ping {address} now") == (address,)


def test_literals_stand_in_order_each_once_in_the_case_given() -> None:
    question = 'is AB12 like ab12, "Two Words" or AB12 at http://x.y?'
    assert extract(question).literals == ("AB12", "ab12", "Two Words", "http://x.y")


def test_parentheses_belong_to_a_url_only_in_pairs() -> None:
    assert terms.literals("(see http://a.b/(x).), (http://a.b/c).") == (
        *("http://a.b/(x)", "http://a.b/c"),
    )


@pytest.mark.parametrize("text", ["file.txt", "and/or", "12313", "a@b", "C++", "dead::beef", "x:y"])
def test_what_holds_no_digit_and_no_underscore_is_no_literal(text: str) -> None:
    assert terms.literals(text) == ()


@pytest.mark.parametrize(
    "question",
    ['"Big Cat"', "“Big Cat”", "„Big Cat“", "„Big Cat”", "«Big Cat»", "`Big Cat`", "'Big Cat'"],
)
def test_a_quoted_phrase_is_a_literal_and_its_words_are_words(question: str) -> None:
    assert extract(f"the {question}!") == Terms(("big", "cat"), ("Big Cat",))


def test_a_literal_inside_a_quoted_phrase_is_found_too() -> None:
    assert extract('"error AB12 again"') == Terms(("error",), ("error AB12 again", "AB12"))


@pytest.mark.parametrize("size", [200, 201])
def test_a_quoted_phrase_has_at_most_200_characters(size: int) -> None:
    phrase = "x " * (size // 2) + "x" * (size % 2)
    assert extract(f'"{phrase}"').literals == ((phrase,) if size == 200 else ())


@pytest.mark.parametrize(
    "question",
    ["dog's cat's", "dogs' and cats' food", '"open', '"two\nlines"', "rock 'n' roll", '""'],
)
def test_an_apostrophe_or_an_unpaired_quote_makes_no_phrase(question: str) -> None:
    assert "two\nlines" not in extract(question).literals
    assert terms.literals(question) == ()
    assert extract(f"{question} x").literals == ()


def test_a_source_yields_the_literals_of_a_question_but_for_quoted_phrases() -> None:
    text = 'He said "no way" about AB12 and 10.0.0.1.'
    assert terms.literals(text) == ("AB12", "10.0.0.1")


# --- any input --------------------------------------------------------------------------

TEXT = st.text(st.sampled_from("ab1 .-_@:/'\"“”()é年ि\u200d\n") | st.characters(codec=None))


@given(TEXT)
def test_any_question_yields_something_to_search_with(question: str) -> None:
    found = extract(question)
    assert bool(found.words or found.literals) == bool(question.strip())
    assert found == extract(question)


@given(TEXT)
def test_literals_are_exact_pieces_of_the_question_and_words_are_lower_case(question: str) -> None:
    found = extract(question)
    assert all(literal in question and literal.strip() for literal in found.literals)
    assert set(terms.literals(question)) <= set(found.literals)
    assert all(word and not any(map(str.isspace, word)) for word in found.words)
    assert len(set(found.words)) == len(found.words)
    assert len(set(found.literals)) == len(found.literals)
    assert all(word == word.lower() for word in found.words)


@given(st.lists(st.sampled_from([*LITERALS, "churn", "the", "Meyer", "事件"]), max_size=8))
def test_the_tokens_of_a_sentence_are_sorted_into_words_and_literals(tokens: list[str]) -> None:
    found = extract(" ".join(tokens))
    assert found.literals == tuple(dict.fromkeys(t for t in tokens if t in LITERALS))
    words = dict.fromkeys(t.lower() for t in tokens if t not in LITERALS)
    only_stop_words = not found.literals and set(words) == {"the"}
    assert found.words == tuple(w for w in words if w != "the" or only_stop_words)


PIECES = """
    a 年 é " ' „ `x . a. _ 1: :: a@ % a- a' http://a http:// ) () www. [ @a. ab:// 's
""".split()


@pytest.mark.parametrize("piece", [*PIECES, " ", "\u0301"])
@pytest.mark.parametrize("start", ["", "http://a"])
def test_hostile_text_takes_linear_time(start: str, piece: str) -> None:
    started = time.process_time()
    extract(start + piece * (100_000 // len(piece)))
    assert time.process_time() - started < 4  # seconds of this process, however busy the machine
