"""Half b, whose figures count: other styles of change than half a's, on other passages.

Whoever writes rules of claims does not read this file, nor what the check says of it.
"""

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
from claims.half_b_paraphrases import PARAPHRASES
from claims.material import Sentence
from claims.spans import MONTHS, SMALL, WEEKDAYS, Span

__all__ = ["MUTATORS", "PARAPHRASES"]

_MAGNITUDES = {"thousand": "million", "million": "billion", "billion": "million"}
_MAGNITUDE = re.compile(r"(?<=\d )(?:thousand|million|billion)\b")
_AUXILIARY = re.compile(
    r"(?<![\w-])(?:is|was|are|were|has|have|had|did|does|do|could|would|should)(?= [a-z]+)"
)
_NO_FLIP = re.compile(
    r"\b(?:not|n't|no|never|none|neither|nor|whether|if|some|many|most|few|several|often|sometimes|"
    r"usually|partly|only|may|might|unless|without|hardly|rarely|seldom|unclear|unknown|fail\w*)\b",
    re.I,
)
_NO_NOT_AFTER = re.compile(r"\s(?:to|only|necessarily|all|also|still|been|both|either|always)\b")
_HAS_DONE = re.compile(r"\b(?:have|has|had) (?=[a-z]+(?:ed|en|wn)\b)")
_NONE = re.compile(
    r"(?<=[a-z] )no (?=(?:significant |statistically significant |clear |direct |major |"
    r"further |other |additional )?(?:difference|effect|association|evidence|change|increase|"
    r"correlation|relationship|role|impact|need|[a-z]{5,}))(?!no longer)"
)
_WITHOUT = re.compile(r"(?<=[a-z] )without(?= (?!a\b)[a-z]{4,})")
_PERCENT = re.compile(r"(?<=\d)(?:%| %| percent| per cent)(?= of| in| for| among|\.| and|,)")
_NUMBER = r"(?<![\w.,/$£€-])(?P<number>\d[\d,]*(?:\.\d+)?)"
_SYSTEMS = {
    "kilometres": "miles", "kilometers": "miles", "miles": "kilometres", "km": "miles",
    "metres": "feet", "meters": "feet", "feet": "metres", "ft": "m", "inches": "centimetres",
    "pounds": "kilograms", "lb": "kg", "kilograms": "pounds", "kg": "pounds", "acres": "hectares",
    "mi": "km", "yards": "metres", "°C": "°F", "°F": "°C", "mph": "km/h",
    "gallons": "litres", "litres": "gallons", "tons": "pounds", "dollars": "euros",
    "euro": "dollars", "euros": "dollars", "yen": "dollars", "degrees C": "degrees F",
}  # fmt: skip
_PREFIXES = {
    "mg": "µg", "µg": "mg", "microg": "mg", "ng": "mg", "nM": "µM", "µM": "mM", "microM": "mM",
    "mM": "µM", "mmol": "µmol", "nm": "mm", "µm": "mm", "kDa": "MDa", "kb": "Mb", "Mb": "kb",
    "ms": "s", "kV": "V", "mV": "V", "kHz": "MHz", "mmHg": "kPa", "mm": "nm", "kPa": "MPa",
    "bp": "kb", "nmol": "mmol", "pg": "µg", "µl": "ml", "kcal": "kJ",
}  # fmt: skip
_TIMES = {
    "seconds": "hours", "minutes": "days", "hours": "weeks", "days": "months", "weeks": "years",
    "months": "days", "years": "weeks", "minute": "day", "hour": "week", "day": "month",
    "week": "year", "month": "day", "year": "week", "decades": "months",
}  # fmt: skip


def _table(units: dict[str, str], gap: str) -> re.Pattern[str]:
    names = "|".join(map(re.escape, sorted(units, key=len, reverse=True)))
    return re.compile(_NUMBER + gap + rf"(?P<unit>{names})(?![\w/^²³-]| /)")


_IN_SYSTEMS = _table(_SYSTEMS, r"(?:-| - | ?)")
_IN_PREFIXES = _table(_PREFIXES, " ?")
_IN_TIMES = re.compile(_table(_TIMES, "(?:-| - | )").pattern.replace(r"\d[\d,]*", r"[1-9][\d,]*"))


def _exchanged(sentence: Sentence, draw: Random) -> Edit | None:
    """Two digits next to each other have changed places."""

    def changed(span: Span) -> str | None:
        places = [
            n
            for n in range(len(span.text) - 1)
            if span.text[n : n + 2].isdigit() and span.text[n] != span.text[n + 1]
        ]
        if not places or is_approximate(sentence.text, span):
            return None
        n = draw.choice(places)
        now = span.text[:n] + span.text[n + 1] + span.text[n] + span.text[n + 2 :]
        return now if now[0] != "0" and is_new_number(sentence.passage, now) else None

    return first_of(spans.numbers(sentence.text), draw, changed)


def _doubled(sentence: Sentence, draw: Random) -> Edit | None:
    """Twice as much."""

    def changed(span: Span) -> str | None:
        plain = span.text.replace(",", "")
        if not plain.isdigit() or int(plain) < 2:
            return None
        now = grouped(2 * int(plain), span.text)
        return now if is_new_number(sentence.passage, now) else None

    return first_of(spans.numbers(sentence.text), draw, changed)


def _beside(sentence: Sentence, draw: Random) -> Edit | None:
    """One more, or one less in the last place."""

    def changed(span: Span) -> str | None:
        if not span.text[0].isdigit() or is_approximate(sentence.text, span):
            return None
        last = int(span.text[-1])
        other = last + 1 if last < 9 and (last < 2 or draw.random() < 0.5) else last - 1
        now = f"{span.text[:-1]}{other}"
        return now if is_new_number(sentence.passage, now) and now not in ("0", "1") else None

    return first_of(spans.numbers(sentence.text), draw, changed)


def _respelt_wrong(sentence: Sentence, draw: Random) -> Edit | None:
    """A small number in words is another one, in digits."""

    def changed(span: Span) -> str | None:
        if span.text not in SMALL or is_approximate(sentence.text, span):
            return None
        now = str(draw.randint(2, 30))
        equal = int(now) == SMALL.index(span.text) + 2
        return None if equal or not is_new_number(sentence.passage, now) else now

    return first_of(spans.numbers(sentence.text), draw, changed)


def _magnitude(sentence: Sentence, draw: Random) -> Edit | None:
    """Millions are billions."""
    found = [Span(m.start(), m.end(), m[0]) for m in _MAGNITUDE.finditer(sentence.text)]

    def changed(span: Span) -> str | None:
        number = re.search(r"[\d.,]+ $", sentence.text[: span.start])
        now = _MAGNITUDES[span.text]
        return None if number and number[0] + now in sentence.passage.text else now

    return first_of(found, draw, changed)


def _year_exchanged(sentence: Sentence, draw: Random) -> Edit | None:
    """The last two digits of a year have changed places."""

    def changed(span: Span) -> str | None:
        now = span.text[:2] + span.text[3] + span.text[2]
        return now if int(now) not in spans.years_of(sentence.passage.text) else None

    return first_of(spans.years(sentence.text), draw, changed)


def _decades_off(sentence: Sentence, draw: Random) -> Edit | None:
    """A year is ten to ninety years off."""

    def changed(span: Span) -> str | None:
        now = int(span.text) + draw.choice((-10, 10)) * draw.randint(1, 9)
        return str(now) if now not in spans.years_of(sentence.passage.text) else None

    return first_of(spans.years(sentence.text), draw, changed)


def _day(sentence: Sentence, draw: Random) -> Edit | None:
    """A day of a month is another."""
    found = [
        Span(match.start("day"), match.end("day"), match["day"])
        for pattern in (spans.DAY_MONTH, spans.MONTH_DAY)
        for match in pattern.finditer(sentence.text)
        if match["day"].isdigit() and 1 <= int(match["day"]) <= 28
    ]

    def changed(_: Span) -> str | None:
        now = str(draw.randint(1, 28))
        return now if is_new_number(sentence.passage, now) else None

    return first_of(found, draw, changed)


def _century(sentence: Sentence, draw: Random) -> Edit | None:
    """A century is another, of which the passage has no year."""
    found = [Span(m.start(), m.end(), m[0]) for m in spans.CENTURY.finditer(sentence.text)]

    def changed(span: Span) -> str | None:
        old = int(span.text[:-2])
        new = old + draw.choice((-3, -2, -1, 1, 2))
        held = {year // 100 + 1 for year in spans.years_of(sentence.passage.text)}
        now = f"{new}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(new if new < 20 else new - 20, 'th') }"
        if not 1 < new < 22 or new in held or spans.holds_any_word(sentence.passage, now):
            return None
        return now

    return first_of(found, draw, changed)


def _decade(sentence: Sentence, draw: Random) -> Edit | None:
    """A decade is another, of which the passage has no year."""
    found = [Span(m.start(), m.end(), m[0]) for m in spans.DECADE.finditer(sentence.text)]

    def changed(span: Span) -> str | None:
        now = int(span.text) + draw.choice((-30, -20, -10, 10, 20))
        years = spans.years_of(sentence.passage.text)
        return None if any(now <= year < now + 10 for year in years) else str(now)

    return first_of(found, draw, changed)


def _weekday(sentence: Sentence, draw: Random) -> Edit | None:
    """A day of the week is another."""
    found = [Span(m.start(), m.end(), m[0]) for m in spans.WEEKDAY.finditer(sentence.text)]

    def changed(_: Span) -> str | None:
        now = draw.choice(WEEKDAYS)
        return None if spans.holds(sentence.passage, now) else now

    return first_of(found, draw, changed)


def _month_of_year(sentence: Sentence, draw: Random) -> Edit | None:
    """The month before or after."""
    pattern = re.compile(rf"\b{spans.MONTH}(?= (?:of )?\d{{4}}\b)")
    found = [Span(m.start(), m.end(), m[0]) for m in pattern.finditer(sentence.text)]

    def changed(span: Span) -> str | None:
        now = MONTHS[(MONTHS.index(span.text) + draw.choice((-1, 1))) % 12]
        full = re.search(r"\b(?:29|30|31) $", sentence.text[: span.start])
        return None if full or spans.holds(sentence.passage, now) else now

    return first_of(found, draw, changed)


def _name_word(sentence: Sentence, draw: Random) -> Edit | None:
    """One word of a name of several words is another."""

    def changed(span: Span) -> str | None:
        parts = span.text.split(" ")
        if len(parts) == 1:
            return None
        place = draw.choice((0, len(parts) - 1))
        other = draw.choice(spans.pool("b", len(parts))).split(" ")[place]
        if spans.holds_any_word(sentence.passage, other):
            return None
        return " ".join((*parts[:place], other, *parts[place + 1 :]))

    return first_of(spans.names(sentence.text), draw, changed)


def _near_name(sentence: Sentence, draw: Random) -> Edit | None:
    """A name of one word is another that begins with the same letter."""

    def changed(span: Span) -> str | None:
        alike = [each for each in spans.pool("b", 1) if each[0] == span.text[0]]
        now = draw.choice(alike) if alike and " " not in span.text else span.text
        related = now[:4] == span.text[:4]
        return None if related or spans.holds_any_word(sentence.passage, now) else now

    return first_of(spans.names(sentence.text), draw, changed)


def _acronym(sentence: Sentence, draw: Random) -> Edit | None:
    """One letter of an abbreviation is another."""

    def changed(span: Span) -> str | None:
        place = draw.randrange(len(span.text))
        letter = draw.choice([each for each in "ABCDEFGHKLMNPRT" if each != span.text[place]])
        now = span.text[:place] + letter + span.text[place + 1 :]
        return None if now.lower() in sentence.passage.text.lower() else now

    return first_of(spans.acronyms(sentence.text), draw, changed)


def _percent_dropped(sentence: Sentence, draw: Random) -> Edit | None:
    """A per cent is a plain number."""
    found = [Span(m.start(), m.end(), m[0]) for m in _PERCENT.finditer(sentence.text)]

    def changed(span: Span) -> str | None:
        number = re.search(r"[\d.,]+$", sentence.text[: span.start])
        if not number or number[0] == "0":
            return None
        plain = rf"(?<![\d.,]){re.escape(number[0])}(?! ?%| percent| per cent|[\d.,])"
        return None if re.search(plain, sentence.passage.text) else ""

    return first_of(found, draw, changed)


def _unit(
    sentence: Sentence, draw: Random, pattern: re.Pattern[str], table: dict[str, str]
) -> Edit | None:
    numbers = {m.start("unit"): m["number"] for m in pattern.finditer(sentence.text)}
    found = [
        Span(m.start("unit"), m.end("unit"), m["unit"]) for m in pattern.finditer(sentence.text)
    ]

    def changed(span: Span) -> str | None:
        now = table[span.text]
        number = numbers[span.start]
        there = rf"(?<![\d.,]){re.escape(number)}[ -]{{0,3}}{re.escape(now.rstrip('s'))}"
        if float(number.replace(",", "").rstrip(".") or 0) == 0:
            return None
        return None if re.search(there, sentence.passage.text) else now

    return first_of(found, draw, changed)


def _other_system(sentence: Sentence, draw: Random) -> Edit | None:
    """Kilometres are miles."""
    return _unit(sentence, draw, _IN_SYSTEMS, _SYSTEMS)


def _other_prefix(sentence: Sentence, draw: Random) -> Edit | None:
    """Milligrams are micrograms."""
    return _unit(sentence, draw, _IN_PREFIXES, _PREFIXES)


def _other_time(sentence: Sentence, draw: Random) -> Edit | None:
    """Hours are weeks."""
    return _unit(sentence, draw, _IN_TIMES, _TIMES)


def _auxiliaries(sentence: Sentence) -> list[Span]:
    if _NO_FLIP.search(sentence.text):
        return []
    found = [Span(m.start(), m.end(), m[0]) for m in _AUXILIARY.finditer(sentence.text)]
    return [span for span in found if not _NO_NOT_AFTER.match(sentence.text, span.end)][:1]


def _contracted(sentence: Sentence, draw: Random) -> Edit | None:
    """`was` is `wasn't`."""
    return first_of(_auxiliaries(sentence), draw, lambda span: f"{span.text}n't")


def _never(sentence: Sentence, draw: Random) -> Edit | None:
    """`was` is `was never`."""
    return first_of(_auxiliaries(sentence), draw, lambda span: f"{span.text} never")


def _no_longer(sentence: Sentence, draw: Random) -> Edit | None:
    """`is` is `is no longer`."""
    present = [span for span in _auxiliaries(sentence) if span.text in ("is", "are")]
    return first_of(present, draw, lambda span: f"{span.text} no longer")


def _denied(sentence: Sentence, draw: Random) -> Edit | None:
    """The whole sentence is denied."""
    if _NO_FLIP.search(sentence.text) or not re.match(r"(?:The|A|An|In|It|This) ", sentence.text):
        return None
    frame = draw.choice(("It is not true that", "It is false that", "It is not the case that"))
    return Edit(0, 1, f"{frame} {sentence.text[0].lower()}")


def _never_once(sentence: Sentence, draw: Random) -> Edit | None:
    """`has done` is `has never once done`."""
    if _NO_FLIP.search(sentence.text):
        return None
    found = [Span(m.start(), m.end(), m[0]) for m in _HAS_DONE.finditer(sentence.text)]
    return first_of(found[:1], draw, lambda span: f"{span.text}never once ")


def _no_removed(sentence: Sentence, draw: Random) -> Edit | None:
    """`no` or `without` is gone."""
    if re.search(
        r"\b(?:not|nor|whether|no longer|no more|no less|or no|yes)\b", sentence.text, re.I
    ):
        return None
    found = [
        *(Span(m.start(), m.end(), m[0]) for m in _NONE.finditer(sentence.text)),
        *(Span(m.start(), m.end(), m[0]) for m in _WITHOUT.finditer(sentence.text)),
    ]

    def changed(span: Span) -> str | None:
        rest = sentence.text[span.end :]
        if span.text == "without":
            return None if spans.holds(sentence.passage, f"with {spans.words(rest)[0]}") else "with"
        return "a " if re.match(r"(?:\w+ )?(?:difference|effect|change|role)\b", rest) else "some "

    return first_of(found, draw, changed)


_OPPOSITE = opposites(
    [
        ("greater", "smaller"),
        ("longer", "shorter"),
        ("older", "younger"),
        ("oldest", "youngest"),
        ("above", "below"),
        ("rose", "fell"),
        ("faster", "slower"),
        ("highest", "lowest"),
        ("longest", "shortest"),
        ("greatest", "smallest"),
        ("maximum", "minimum"),
        ("most common", "least common"),
        ("most important", "least important"),
        ("majority", "minority"),
        ("reduced", "increased"),
        ("reduces", "increases"),
        ("exceeds", "stays below"),
        ("stronger", "weaker"),
        ("wider", "narrower"),
        ("more than", "fewer than"),
    ],
    re.compile(r"no longer|mentioned above|as above|above all|above and|see below", re.I),
)
_ORDER = opposites(
    [("before", "after"), ("earlier", "later"), ("first", "last"), ("earliest", "latest")],
    re.compile(
        r"no later|no earlier|sooner or|first time|at first|at last|day before|day after"
        r"|look(?:ing|ed)? after|ever after|named after|soon after|before and|first and|even after",
        re.I,
    ),
)

MUTATORS: Styles = {
    "number": {
        "digits exchanged": _exchanged,
        "doubled": _doubled,
        "one beside": _beside,
        "respelt and wrong": _respelt_wrong,
        "magnitude": _magnitude,
    },
    "date": {
        "year exchanged": _year_exchanged,
        "decades off": _decades_off,
        "day": _day,
        "century": _century,
        "decade": _decade,
        "weekday": _weekday,
        "month of year": _month_of_year,
    },
    "name": {"one word": _name_word, "same letter": _near_name, "abbreviation": _acronym},
    "unit": {
        "other system": _other_system,
        "other prefix": _other_prefix,
        "other time": _other_time,
    },
    "negation": {
        "contracted": _contracted,
        "never": _never,
        "no longer": _no_longer,
        "denied": _denied,
        "no removed": _no_removed,
        "never once": _never_once,
    },
    "comparison": {"opposite": _OPPOSITE, "order in time": _ORDER},
    "unit left out": {"per cent": _percent_dropped},
    "number of the passage": {"nearest after": of_passage(spans.numbers, False)},
    "date of the passage": {"nearest after": of_passage(spans.years, False)},
    "name of the passage": {"nearest after": of_passage(spans.names, False)},
}
