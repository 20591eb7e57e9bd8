"""The templates of half b: read nothing here while writing rules of claims."""

import re

from claims import spans
from claims.material import Sentence
from claims.respelling import Template, framed, matches, plain_numbers, respelt
from claims.spans import MONTHS, Span

_MAGNITUDES = {"thousand": 3, "million": 6, "billion": 9}
_IN_MAGNITUDE = re.compile(
    r"(?<![\w.,/-])(?<!to )(?<!and )(?<!or )\d{1,3}(?:\.\d{1,2})? (?:thousand|million|billion)\b"
)
_FULL_DATE = re.compile(
    rf"(?:on )?(?:{spans.DAY_MONTH.pattern}|{spans.MONTH} \d\d?(?: ,|,)? \d{{4}}\b)"
)
_PERCENT = re.compile(r"(?<=\d)(?:%| percent)(?! ?(?:CI|confidence))(?=[ .,)])")
_CONVERSIONS = {
    "km": (1000, "m"), "kilometres": (1000, "metres"), "kilometers": (1000, "meters"),
    "kg": (1000, "g"), "hours": (60, "minutes"), "h": (60, "min"), "weeks": (7, "days"),
    "minutes": (60, "seconds"), "cm": (10, "mm"), "g": (1000, "mg"), "mg": (1000, "µg"),
    "years": (12, "months"), "m": (100, "cm"), "feet": (12, "inches"), "days": (24, "hours"),
}  # fmt: skip
_CONVERTED = re.compile(
    r"(?<![\w.,/$£€×-])(?<!- )(?<!to )(?<!and )(?<!or )(?<!× )[1-9]\d{0,2} (?:"
    + "|".join(_CONVERSIONS)
    + r")(?![\w/^²³-]| (?:old|to|or|and|per|/)|\. \d)"
)
_NAMES = {
    "km": "kilometres", "kg": "kilograms", "mg": "milligrams", "cm": "centimetres",
    "mm": "millimetres", "ml": "millilitres", "ft": "feet", "lb": "pounds", "mi": "miles",
    "GHz": "gigahertz", "MHz": "megahertz", "min": "minutes", "°C": "degrees Celsius",
}  # fmt: skip
_NAMED = re.compile(r"(?<=\d )(?:" + "|".join(_NAMES) + r")(?![\w/^²³-]| /)")
_DOLLARS = re.compile(
    r"(?<!US)(?<!US )\$ ?\d[\d,]*+(?:\.\d+)?+(?! ?(?:million|billion|trillion|[\dMmBb]))"
)


def _rounded(text: str, span: Span) -> str | None:
    value = int(span.text.replace(",", "")) if "." not in span.text else 0
    rough = re.search(
        r"(?:about|around|than|over|some|nearly|almost|least|most|to|and|\$|£|€)\W*$",
        text[: span.start],
    )
    if value < 10_000 or rough or not re.match(r" [a-z]{4,}", text[span.end :]):
        return None
    if value >= 1_000_000:
        return f"about {value / 1e6:.1f} million"
    return f"about {round(value, -3):,}" if value % 1000 else None


def _out_of_magnitude(_: str, span: Span) -> str:
    number, magnitude = span.text.split(" ")
    whole, _, decimals = number.partition(".")
    return f"{int((whole + decimals).ljust(len(whole) + _MAGNITUDES[magnitude], '0')):,}"


def _into_magnitude(_: str, span: Span) -> str | None:
    plain = span.text.replace(",", "")
    for magnitude, zeros in (("billion", 9), ("million", 6), ("thousand", 3)):
        if re.fullmatch(rf"[1-9]\d{{0,2}}0{{{zeros}}}", plain):
            return f"{plain[:-zeros]} {magnitude}"
    return None


def _date(span: Span) -> tuple[int, int, int] | None:
    month = re.search(spans.MONTH, span.text)
    numbers = re.findall(r"\d+", span.text)
    return (int(numbers[1]), MONTHS.index(month[0]) + 1, int(numbers[0])) if month else None


def _iso(_: str, span: Span) -> str | None:
    date = _date(span)
    on = "on " if span.text.startswith("on ") else ""
    return f"{on}{date[0]:04}-{date[1]:02}-{date[2]:02}" if date else None


def _ordinal(_: str, span: Span) -> str | None:
    date = _date(span)
    if date is None:
        return None
    year, month, day = date
    ending = "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    on = "on " if span.text.startswith("on ") else ""
    return f"{on}the {day}{ending} of {MONTHS[month - 1]} {year}"


def _converted(_: str, span: Span) -> str | None:
    number, unit = span.text.split(" ")
    factor, other = _CONVERSIONS[unit]
    return f"{int(number) * factor:,} {other}"


def _dollars(_: str, span: Span) -> str:
    return f"{span.text.lstrip('$ ')} dollars"


def _contracted(sentence: Sentence) -> str | None:
    text = re.sub(
        r"\b(is|was|are|were|did|does|do|has|have|had|could|would) not\b", r"\1n't", sentence.text
    )
    return None if text == sentence.text else text


def _straight_quotes(sentence: Sentence) -> str | None:
    text = re.sub(r"`` ?([^`'\"]+?) ?''", r"“\1”", sentence.text)
    return None if text == sentence.text else text


_RELATIVE = re.compile(
    r" ?, (?:which|who) [^,;.()\"`']{5,90}(?= ?\.$| ?, (?:is|was|are|were|has|have|had)\b)"
)
_SECOND = re.compile(r" ?; [^;]{10,200}(?= ?\.$)")


def _without_relative_clause(sentence: Sentence) -> str | None:
    """`The ferry, which is blue, sank.` is `The ferry sank.`"""
    match = _RELATIVE.search(sentence.text)
    if match is None or len(sentence.text) - len(match[0]) < 40:
        return None
    rest = sentence.text[match.end() :]
    rest = re.sub(r"^ ?,", "", rest) if re.match(r" ?, [a-z]", rest) else rest
    return sentence.text[: match.start()] + rest


def _first_half(sentence: Sentence) -> str | None:
    """What stands after a semicolon is left out."""
    text = _SECOND.sub("", sentence.text)
    return None if text == sentence.text or "(" in text else text


def _joined(sentence: Sentence) -> str | None:
    """The sentence and the one that follows it in the passage, as one."""
    whole = " ".join(sentence.passage.text.split())
    place = whole.find(sentence.text)
    after = whole[place + len(sentence.text) :].strip()
    match = re.match(r"(?:The|It|This|They|He|She|In|These) [^.;:\"`]{20,140} ?\.(?= |$)", after)
    if place < 0 or match is None or len(sentence.text) > 200:
        return None
    following = match[0]
    return f"{sentence.text.rstrip(' .')}, and {following[0].lower()}{following[1:]}"


PARAPHRASES: dict[str, Template] = {
    "it is stated": framed("It is stated in the passage that "),
    "the source says": framed("The source says that "),
    "rounded, said so": respelt(plain_numbers, _rounded),
    "million in digits": respelt(matches(_IN_MAGNITUDE), _out_of_magnitude),
    "digits in millions": respelt(plain_numbers, _into_magnitude),
    "ISO date": respelt(matches(_FULL_DATE), _iso),
    "date with ordinal": respelt(matches(_FULL_DATE), _ordinal),
    "per cent": respelt(matches(_PERCENT), lambda _text, _span: " per cent"),
    "unit converted": respelt(matches(_CONVERTED), _converted),
    "unit in full": respelt(matches(_NAMED), lambda _text, span: _NAMES[span.text]),
    "dollars": respelt(matches(_DOLLARS), _dollars),
    "contracted": _contracted,
    "quotes": _straight_quotes,
    "without relative clause": _without_relative_clause,
    "first half": _first_half,
    "two joined": _joined,
}
