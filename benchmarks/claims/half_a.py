"""Half a: the mutators and templates that the writer of the rules may look at."""

import re
from random import Random

from claims import spans
from claims.changes import (
    Edit,
    Styles,
    first_of,
    grouped,
    is_approximate,
    is_new_number,
    of_passage,
    opposites,
)
from claims.material import Sentence
from claims.respelling import Template, framed, matches, plain_numbers, respelt
from claims.spans import MONTHS, SMALL, Span

_AUXILIARY = re.compile(
    r"(?<![\w-])(?:is|was|are|were|has|have|had|did|does|do|can|will|would|should)(?= [a-z]+)"
)
_NO_FLIP = re.compile(
    r"\b(?:not|n't|no|never|none|neither|nor|whether|if|some|many|most|few|several|often|sometimes|"
    r"usually|partly|only|may|might|unless|without|hardly|rarely|seldom|unclear|unknown)\b",
    re.I,
)
_NOT_AFTER = re.compile(r"\s(?:to|only|not|necessarily|all|also|still|been|also|both)\b")
_NOT = re.compile(
    r"(?<= )(?P<aux>is|was|are|were|has|have|had|did|does|do|could|can|will|would|should) not(?= )"
)
_UNITS = {
    "second": "minute", "minute": "hour", "hour": "day", "day": "week", "week": "month",
    "month": "year", "year": "month", "decade": "year", "kilometre": "metre", "kilometer": "meter",
    "mile": "yard", "metre": "kilometre", "meter": "kilometer", "foot": "inch", "feet": "inches",
    "inch": "foot", "acre": "square mile", "ton": "kilogram", "tonne": "kilogram",
}  # fmt: skip
_SYMBOLS = {
    "mg": "g", "g": "kg", "kg": "g", "ml": "l", "mL": "L", "cm": "m", "mm": "cm", "km": "m",
    "m": "km", "MHz": "GHz", "GHz": "MHz", "kW": "MW", "MW": "GW", "MB": "GB", "GB": "MB",
    "h": "min", "min": "h",
}  # fmt: skip
_QUANTITY = r"(?<![\w.,/-])(?P<number>(?:\d[\d,]*(?:\.\d+)?|" + "|".join(SMALL) + r")(?:-| - | ))"
_WITH_WORD = re.compile(_QUANTITY + r"(?P<unit>" + "|".join(_UNITS) + r")(?P<plural>s?)(?![\w-])")
_WITH_SYMBOL = re.compile(
    r"(?<![\w.,/$£€-])(?P<number>\d[\d,]*(?:\.\d+)? ?)(?P<unit>"
    + "|".join(_SYMBOLS)
    + r")(?![\w/^²³-]| /)"
)
_MONEY = re.compile(r"(?:US)?\$ ?(?=\d)|£ ?(?=\d)|€ ?(?=\d)")


def _digit(sentence: Sentence, draw: Random) -> Edit | None:
    """One digit is another."""

    def changed(span: Span) -> str | None:
        if not span.text[0].isdigit() or is_approximate(sentence.text, span):
            return None
        place = draw.choice([n for n, letter in enumerate(span.text) if letter.isdigit()])
        digits = [each for each in "123456789" if each != span.text[place]]
        now = span.text[:place] + draw.choice(digits) + span.text[place + 1 :]
        return now if is_new_number(sentence.passage, now) and now not in ("1", "0") else None

    return first_of(spans.numbers(sentence.text), draw, changed)


def _tenfold(sentence: Sentence, draw: Random) -> Edit | None:
    """Ten times as much."""

    def changed(span: Span) -> str | None:
        if not span.text[0].isdigit() or "." in span.text:
            return None
        now = grouped(int(span.text.replace(",", "")) * 10, span.text)
        return now if int(now.replace(",", "")) and is_new_number(sentence.passage, now) else None

    return first_of(spans.numbers(sentence.text), draw, changed)


def _word(sentence: Sentence, draw: Random) -> Edit | None:
    """A small number in words is another."""

    def changed(span: Span) -> str | None:
        if span.text not in SMALL or is_approximate(sentence.text, span):
            return None
        now = draw.choice(SMALL)
        return now if is_new_number(sentence.passage, now) else None

    return first_of(spans.numbers(sentence.text), draw, changed)


def _year(sentence: Sentence, draw: Random) -> Edit | None:
    """A year is two to nine years off."""

    def changed(span: Span) -> str | None:
        now = int(span.text) + draw.choice((-1, 1)) * draw.randint(2, 9)
        return str(now) if now not in spans.years_of(sentence.passage.text) else None

    return first_of(spans.years(sentence.text), draw, changed)


def _month(sentence: Sentence, draw: Random) -> Edit | None:
    """A month is another."""
    patterns = (spans.DAY_MONTH, spans.MONTH_DAY, spans.IN_MONTH)
    found = [
        Span(match.start("month"), match.end("month"), match["month"])
        for pattern in patterns
        for match in pattern.finditer(sentence.text)
    ]

    def changed(_: Span) -> str | None:
        now = draw.choice(MONTHS)
        day = r"\b(?:29|30|31)\b"  # no 31 February
        if spans.holds(sentence.passage, now) or re.search(day, sentence.text):
            return None
        return now

    return first_of(found, draw, changed)


def _name(sentence: Sentence, draw: Random) -> Edit | None:
    """A name is another, of as many words, from another passage."""

    def changed(span: Span) -> str | None:
        choice = spans.pool("a", span.text.count(" ") + 1)
        now = draw.choice(choice) if choice else span.text
        return None if spans.holds_any_word(sentence.passage, now) else now

    return first_of(spans.names(sentence.text), draw, changed)


def _unit_word(sentence: Sentence, draw: Random) -> Edit | None:
    """A unit is another of its kind: hours are days."""
    return _unit(sentence, draw, _WITH_WORD, _UNITS)


def _unit_symbol(sentence: Sentence, draw: Random) -> Edit | None:
    """A unit's symbol is another of its kind: mg is g."""
    return _unit(sentence, draw, _WITH_SYMBOL, _SYMBOLS)


def _unit(
    sentence: Sentence, draw: Random, pattern: re.Pattern[str], table: dict[str, str]
) -> Edit | None:
    numbers = {
        match.end("number"): match["number"]
        for match in pattern.finditer(sentence.text)
        if match["number"].strip(" -") != "0"
    }
    found = [
        Span(match.start("unit"), match.end("unit"), match["unit"])
        for match in pattern.finditer(sentence.text)
    ]

    def changed(span: Span) -> str | None:
        now = table[span.text]
        number = numbers.get(span.start)
        if number is None or re.search(
            rf"{re.escape(number.strip(' -'))}\W?{now}", sentence.passage.text
        ):
            return None
        return now

    return first_of(found, draw, changed)


def _currency(sentence: Sentence, draw: Random) -> Edit | None:
    """A sum is in another currency."""
    found = [Span(m.start(), m.end(), m[0]) for m in _MONEY.finditer(sentence.text)]

    def changed(span: Span) -> str | None:
        now = draw.choice([sign for sign in "$£€" if sign not in span.text])
        return None if now in sentence.passage.text else now

    return first_of(found, draw, changed)


def _currency_left_out(sentence: Sentence, draw: Random) -> Edit | None:
    """A sum of money is a plain number."""
    found = [Span(m.start(), m.end(), m[0]) for m in _MONEY.finditer(sentence.text)]

    def changed(span: Span) -> str | None:
        number = re.match(r"[\d.,]*\d", sentence.text[span.end :])
        plain = rf"(?<![\d.,$£€])(?<![$£€] ){re.escape(number[0])}(?![\d.,])" if number else ""
        return None if not number or re.search(plain, sentence.passage.text) else ""

    return first_of(found, draw, changed)


def _symbol_left_out(sentence: Sentence, draw: Random) -> Edit | None:
    """A quantity is a plain number."""
    found = [
        Span(m.start("number") + len(m["number"].rstrip()), m.end("unit"), m["number"])
        for m in _WITH_SYMBOL.finditer(sentence.text)
    ]

    def changed(span: Span) -> str | None:
        plain = rf"(?<![\d.,]){re.escape(span.text.strip())}(?! ?[A-Za-z]|[\d.,])"
        return None if re.search(plain, sentence.passage.text) else ""

    return first_of(found, draw, changed)


def _not_added(sentence: Sentence, draw: Random) -> Edit | None:
    """`not` after the first auxiliary verb."""
    if _NO_FLIP.search(sentence.text):
        return None
    found = [Span(m.start(), m.end(), m[0]) for m in _AUXILIARY.finditer(sentence.text)]
    usable = [span for span in found if not _NOT_AFTER.match(sentence.text, span.end)]
    return first_of(usable[:1], draw, lambda span: f"{span.text} not")


def _not_removed(sentence: Sentence, draw: Random) -> Edit | None:
    """A `not` is gone."""
    found = [
        Span(match.start(), match.end(), match["aux"] + " not")
        for match in _NOT.finditer(sentence.text)
        if not re.match(
            r" (?:only|until|necessarily|just|all|yet|merely)\b", sentence.text[match.end() :]
        )
    ]
    if re.search(r"\b(?:whether|if|nor)\b", sentence.text, re.I):
        return None
    return first_of(found, draw, lambda span: span.text.removesuffix(" not"))


_MORE = opposites(
    [
        ("more", "less"),
        ("higher", "lower"),
        ("largest", "smallest"),
        ("larger", "smaller"),
        ("increased", "decreased"),
        ("increases", "decreases"),
        ("at least", "at most"),
        ("best", "worst"),
        ("better", "worse"),
        ("strongest", "weakest"),
    ],
    re.compile(
        r"\bor more|or less|no more|no less|more or|more and|once more|no better|any more", re.I
    ),
)

MUTATORS: Styles = {
    "number": {"digit": _digit, "tenfold": _tenfold, "word": _word},
    "date": {"year": _year, "month": _month},
    "name": {"whole name": _name},
    "unit": {"unit word": _unit_word, "unit symbol": _unit_symbol, "currency": _currency},
    "negation": {"not added": _not_added, "not removed": _not_removed},
    "comparison": {"opposite": _MORE},
    "unit left out": {"currency": _currency_left_out, "symbol": _symbol_left_out},
    "number of the passage": {"nearest before": of_passage(spans.numbers, True)},
    "date of the passage": {"nearest before": of_passage(spans.years, True)},
    "name of the passage": {"nearest before": of_passage(spans.names, True)},
}


def _ungrouped(_: str, span: Span) -> str | None:
    return span.text.replace(",", "") if "," in span.text else None


def _grouped(text: str, span: Span) -> str | None:
    counts = re.match(r" [a-z]{4,}", text[span.end :])  # no number of a standard or a record
    return f"{int(span.text):,}" if counts and re.fullmatch(r"[1-9]\d{3,}", span.text) else None


def _in_digits(text: str, span: Span) -> str | None:
    if span.text not in SMALL or re.match(
        r"\W*(?:hundred|thousand|million|third|quarter|fifth)", text[span.end :]
    ):
        return None
    return str(SMALL.index(span.text) + 2)


def _in_words(text: str, span: Span) -> str | None:
    counts = re.match(r" [a-z]{4,}", text[span.end :]) and not re.search(
        r"(?:[A-Z]\w*|type|phase|stage|grade|day|week|chapter|level|group|[=<>±$£€])\s?$",
        text[: span.start],
    )
    if counts and span.text.isdigit() and 2 <= int(span.text) <= 12:
        return SMALL[int(span.text) - 2]
    return None


def _day_first(_: str, span: Span) -> str | None:
    match = spans.MONTH_DAY.fullmatch(span.text)
    return f"{match['day']} {match['month']} {match['year']}" if match and match["year"] else None


def _month_first(_: str, span: Span) -> str | None:
    match = spans.DAY_MONTH.fullmatch(span.text)
    return f"{match['month']} {match['day']}, {match['year']}" if match else None


def _respaced(sentence: Sentence) -> str | None:
    """Text that was split into tokens, as people write it."""
    text = sentence.text
    if not text.endswith(" ."):
        return None
    for pattern, now in (
        (r" ([.,;:?!%)\]])", r"\1"),
        (r"([(\[$£]) ", r"\1"),
        (r" ('s|n't|'re|'ve|'ll|'d)\b", r"\1"),
        (r"(\w) - (\w)", r"\1-\2"),
        (r"`` ?| ''", '"'),
        (r" -- ", " – "),
    ):
        text = re.sub(pattern, now, text)
    return text


_PARENTHESIS = re.compile(r" \((?![^()]*\bnot\b)[^()]{3,80}\)(?= [a-z]|[,.]| [,.])")
_OPENING = re.compile(
    r"(?P<opening>(?:In|On|During|Since|By|At|From|After|Before|Until) [^,;:.()]{3,40}?) ?, "
    r"(?P<rest>[^;:()\"`]{20,160}?)(?P<end> ?\.)"
)


def _without_parenthesis(sentence: Sentence) -> str | None:
    """What stands in brackets is left out; the rest says no more than before."""
    text = _PARENTHESIS.sub("", sentence.text, count=1)
    return None if text == sentence.text else text


def _opening_last(sentence: Sentence) -> str | None:
    """`In 1954, the ferry sank.` is `The ferry sank in 1954.`"""
    match = _OPENING.fullmatch(sentence.text)
    if match is None or ", " in match["rest"] or re.search(r" (?:and|but|or) ", match["rest"]):
        return None
    opening, rest = match["opening"], match["rest"]
    return f"{rest[0].upper()}{rest[1:]} {opening[0].lower()}{opening[1:]}{match['end']}"


_PERCENT_SIGN = re.compile(r"(?<=\d)%(?! ?(?:CI|confidence))")
_PERCENT_WORD = re.compile(r"(?<=\d) percent\b")

PARAPHRASES: dict[str, Template] = {
    "according to the passage": framed("According to the passage, "),
    "separators left out": respelt(plain_numbers, _ungrouped),
    "separators added": respelt(plain_numbers, _grouped),
    "words in digits": respelt(spans.numbers, _in_digits),
    "digits in words": respelt(plain_numbers, _in_words),
    "% as percent": respelt(matches(_PERCENT_SIGN), lambda _text, _span: " percent"),
    "percent as %": respelt(matches(_PERCENT_WORD), lambda _text, _span: "%"),
    "day before month": respelt(matches(spans.MONTH_DAY), _day_first),
    "month before day": respelt(matches(spans.DAY_MONTH), _month_first),
    "respaced": _respaced,
    "without parenthesis": _without_parenthesis,
    "opening last": _opening_last,
}
