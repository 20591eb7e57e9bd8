"""How one quantity is written: `read_all(text, lowered)` reads them from left to right.

    [approximation] [sign] [currency] number [exponent | fraction] [magnitude] [unit] [or more]

The number anchors it: one search finds the next run of digits, vulgar fraction or number word;
what stands before it is looked for in the 30 characters before, what follows by anchored
patterns. So the cost is linear in the text. Runs of more than 40 digits are no quantities.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from redask.core.equivalence import number_words, numerals, units
from redask.core.equivalence.units import Unit
from redask.core.text import compiled_later


class Measure(NamedTuple):
    """One reading: the number as written, magnitudes multiplied in, and its unit."""

    number: Fraction
    digit: Fraction
    unit: Unit | None = None

    @property
    def canonical(self) -> str | None:
        return self.unit.canonical if self.unit else None

    @property
    def system(self) -> str | None:
        return self.unit.system if self.unit else None

    @property
    def value(self) -> Fraction:
        """The number in the canonical unit."""
        return self.number * self.unit.factor + self.unit.offset if self.unit else self.number

    @property
    def step(self) -> Fraction:
        """What the last written digit is worth, in the canonical unit."""
        return self.digit * self.unit.factor if self.unit else self.digit


class Quantity(NamedTuple):
    """A number in a text, with every measure it can have; the first is the likeliest."""

    span: tuple[int, int]
    measures: tuple[Measure, ...]
    approximate: bool = False
    bound: int = 0  # 2: more than; 1: at least, over; -1: up to, nearly; -2: less than
    ordinal: bool = False
    fraction: bool = False
    spelt: bool = False
    magnitude: int = 0  # the power of ten of million, k …

    @property
    def value(self) -> Fraction:
        return self.measures[0].value

    @property
    def unit(self) -> str | None:
        return self.measures[0].canonical

    @property
    def step(self) -> Fraction:
        return self.measures[0].step

    @property
    def system(self) -> str | None:
        return self.measures[0].system

    @property
    def written_unit(self) -> str | None:
        unit = self.measures[0].unit
        return unit.written if unit else None


_VULGAR = {"½": (1, 2), "¼": (1, 4), "¾": (3, 4), "⅓": (1, 3), "⅔": (2, 3), "⅕": (1, 5)} | {
    "⅖": (2, 5), "⅗": (3, 5), "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8),
    "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8),
}  # fmt: skip
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")


def _anchor() -> str:
    """Digits first, then one look behind for all others. After most is no part and no unit."""
    names = units.longest_first((*number_words.CARDINALS, *number_words.ORDINALS))
    tables = (units.WORDS, units.SYMBOLS, units.MAGNITUDES, ("and", "an", "of", "or"))
    found = (re.match("[a-z]+", name.lower()) for table in tables for name in table)
    units_next = units.longest_first(each[0] for each in found if each)
    nothing_after = rf"(?=[,;:)\]\".](?! ?or )| (?!{units_next}(?![a-z]))[a-z]{{2}}|\Z)"
    return (
        rf"(?P<digits>[0-9]++(?:[,.·'’{numerals.SPACES}][0-9]++)*+)(?:{nothing_after}(?P<alone>))?"
        rf"|(?P<vulgar>[{''.join(_VULGAR)}])|(?<![a-z])(?:(?P<word>(?:{names}"
        r"|half|an?(?= (?:dozen|hundred|thousand|million|billion|trillion|(?:third|quarter|fifth"
        r"|tenth|half) of)(?![a-z])))(?![a-z]))|(?P<point>(?<![0-9.])\.[0-9]++))"
    )


_ANCHOR = compiled_later(_anchor)
_DIGITS = re.compile(r"[0-9]+")
_AFTER_NUMBER = re.compile(r"[0-9] \Z")
_SPACED = compiled_later(r"(?: [0-9]{3}(?![0-9]|[.,:/–-][0-9]))++(?! [0-9])")
_CURRENCY = compiled_later(
    rf"(?:(?<![A-Za-z])(?:{units.longest_first(units.CURRENCY_SYMBOLS)}))[ {numerals.SPACES}]?\Z"
)
_ROUGHLY = compiled_later(
    r"(?:(?<![a-z])(?:(?P<about>about|around|approximately|approx\.?|roughly|some|circa|ca\.?|c\."
    r"|close to|estimated|etwa|rund|environ|unos|unas)"
    r"|(?P<above>more than|greater than|larger than|higher than|longer than|over|above|at least"
    r"|exceed(?:s|ed|ing)?|in excess of|upwards? of|minimum of|not? less than|not? fewer than"
    r"|mehr als|más de|plus de)"
    r"|(?P<below>less than|fewer than|lower than|smaller than|shorter than|under|below|up to"
    r"|at most|not? more than|maximum of|nearly|almost|as many as|as much as|fast"
    r"|weniger als|menos de|moins de))(?: an?| the)?\s?"
    r"|(?P<tilde>[~≈∼]|\+/-)\s?|(?P<more>[>≥]|>\s?or\s?=|>/?=)\s?|(?P<less>[<≤]|<\s?or\s?=|</?=)\s?)\Z"
)
_STRICTLY = (" than", " als", " de")
_OR_SO = re.compile(r"\+(?![/\d)-])|,? or (?:so|more|above|greater|less|fewer|below)(?![a-z])")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)(?![a-z])")
_EXPONENT = compiled_later(
    r"e([+−-]?[0-9]{1,3})(?![0-9a-z])"
    r"| ?[x×·⋅*] ?10 ?(?:\^ ?|\*\* ?|\((?=[+−-]?[0-9]{1,3}\)))?"
    r"([+−-]?[0-9]{1,3}(?![0-9])|[⁻⁺]?[⁰¹²³⁴-⁹]{1,3})\)?"
)
_OVER = re.compile(r" ?/ ?([0-9]{1,3})(?![0-9/]|[.,][0-9])")
_MIXED = compiled_later(
    rf" ?([{''.join(_VULGAR)}])| ([1-9])/([1-9][0-9]?)(?![0-9/])| and a half(?![a-z])"
)
_MAGNITUDE_NAMES = [name for name in units.MAGNITUDES if name not in units.LETTER_MAGNITUDES]
_MAGNITUDE = compiled_later(
    rf"(?:[ {numerals.SPACES}]| ?[-‐‑] ?)?(?:(?:of )?an? )?"
    rf"({units.longest_first(_MAGNITUDE_NAMES)})(?![a-z])"
)
_LETTER = re.compile(r"( ?)([mbk])(?![a-z0-9²³/°'’-])")
_JOIN = rf"(?:[ {numerals.SPACES}]?[-–‐‑][ ]?|[ {numerals.SPACES}])?"
_LETTERS = [name for name in units.SYMBOLS if name[-1].isalnum()]
_SIGNS = [name for name in units.SYMBOLS if not name[-1].isalnum()]
_SYMBOL = compiled_later(
    lambda: (
        rf"(?P<join>{_JOIN})(?P<name>(?:{units.longest_first(_LETTERS)})(?![A-Za-z0-9µ²³'’])"
        rf"|{units.longest_first(_SIGNS)})"
    )
)
_WORD = compiled_later(
    lambda: rf"(?P<join>{_JOIN})(?P<name>{units.longest_first(units.WORDS)})(?![a-z])"
)
_PER = re.compile(r" ?/ ?| per (?:an? )?| an (?=hour)| a (?=second|minute|day|week|month|year)")
_NAME_BEFORE = re.compile(r"[A-Za-z]*[A-Za-z0-9_][-‐‑]\Z")
_REACH, _MINUS = 30, "minus "
# what an approximation before a number ends in, white space aside
_ROUGH_ENDS = (
    *"about around approximately approx approx. roughly some circa ca ca. c. to estimated".split(),
    *"etwa rund environ unos unas than over above least exceed exceeds exceeded exceeding".split(),
    *"of als de under below most nearly almost as fast a an the".split(),
    *"~ ≈ ∼ +/- > ≥ = < ≤".split(),
)
_SCRIPTS_WITHOUT_SPACES = "\u0e00"  # Thai, Chinese, Japanese and above


def read_all(text: str, lowered: str) -> Iterator[Quantity]:
    """The quantities of a text; `lowered` is the same, lower case, of the same length."""
    position = 0
    while anchor := _ANCHOR.search(lowered, position):
        position = anchor.end()
        if anchor["word"]:
            spelt = number_words.read(lowered, anchor.start())
            if spelt is not None:
                quantity = _spelt(text, lowered, anchor.start(), spelt)
                position = quantity.span[1]
                yield quantity
        elif not _inside_name(text, anchor.start()):
            values = numerals.readings(anchor[0]) if anchor.lastgroup == "alone" else ()
            if values:
                measures = tuple([Measure(*reading) for reading in values])
                yield _finish(text, lowered, anchor.span(), measures, alone=True)
                continue
            found = _written(text, lowered, anchor)
            if found:
                position = found[-1].span[1]
                yield from found


def _inside_name(text: str, start: int) -> bool:
    """p53, T-1043: digits that belong to an identifier."""
    before = text[start - 1 : start]
    if before == "_" or (before.isalpha() and before < _SCRIPTS_WITHOUT_SPACES):
        return _CURRENCY.search(text, max(0, start - 4), start) is None
    if before == ".":
        return text[start - 2 : start - 1].isupper()
    if before not in ("-", "‐", "‑"):
        return False
    name = _NAME_BEFORE.search(text, max(0, start - _REACH), start)
    return name is not None and is_code(name[0][:-1])


def is_code(name: str) -> bool:
    """Whether letters before a hyphen and a number are a code: T-1043, HTTP-2, miR-141."""
    return name.isalpha() and (len(name) == 1 or not name[1:].islower())


def _written(text: str, lowered: str, anchor: re.Match[str]) -> list[Quantity]:
    start, end = anchor.span()
    if anchor["vulgar"]:
        part = Fraction(*_VULGAR[anchor[0]])
        return [_finish(text, lowered, (start, end), (Measure(part, part),), fraction=True)]
    alone = end - start <= 3 and lowered[end + 1 : end + 2].isdigit()
    if alone and not _AFTER_NUMBER.search(lowered, max(0, start - 2), start):
        spaced = _SPACED.match(lowered, end)
        if spaced and (spaced[0].count(" ") == 1 or " 0" in spaced[0]):
            end = spaced.end()
    values = numerals.readings(lowered[start:end])
    if values:
        return [_with_parts(text, lowered, (start, end), values)]
    if not set(anchor[0]) <= set("0123456789,"):
        return []
    return [  # a list without spaces
        Quantity((start + piece.start(), start + piece.end()), (Measure(*reading),))
        for piece in _DIGITS.finditer(anchor[0])
        for reading in numerals.readings(piece[0])
    ]


def _with_parts(
    text: str, lowered: str, span: tuple[int, int], values: tuple[numerals.ValueAndStep, ...]
) -> Quantity:
    """Digits and what is part of the number itself: a suffix, an exponent, a fraction."""
    start, end = span
    measures = tuple([Measure(value, step) for value, step in values])
    if ordinal := _ORDINAL.match(lowered, end):
        return Quantity((start, ordinal.end()), measures[:1], ordinal=True)
    number = measures[0].number
    if exponent := _EXPONENT.match(lowered, end):
        power = int((exponent[1] or exponent[2]).translate(_SUPERSCRIPTS))
        scale = Fraction(10) ** power
        measures = tuple(Measure(one.number * scale, one.digit * scale) for one in measures)
        return _finish(text, lowered, (start, exponent.end()), measures)
    if number.denominator == 1:
        over = _OVER.match(lowered, end)
        if over and number < int(over[1]) and lowered[start - 1 : start] != "/":
            part = Fraction(number.numerator, int(over[1]))
            measure = Measure(part, Fraction(1, int(over[1])))
            return _finish(text, lowered, (start, over.end()), (measure,), fraction=True)
        if mixed := _MIXED.match(lowered, end):
            part = _mixed_part(mixed)
            measure = Measure(number + part, Fraction(1, part.denominator))
            return _finish(text, lowered, (start, mixed.end()), (measure,), fraction=True)
    return _finish(text, lowered, span, measures)


def _mixed_part(mixed: re.Match[str]) -> Fraction:
    if mixed[1]:
        return Fraction(*_VULGAR[mixed[1]])
    return Fraction(int(mixed[2]), int(mixed[3])) if mixed[2] else Fraction(1, 2)


def _spelt(text: str, lowered: str, start: int, spelt: number_words.SpeltNumber) -> Quantity:
    step = numerals.last_step(spelt.value)
    measures = (Measure(spelt.value, step),)
    if spelt.ordinal:
        return Quantity((start, spelt.end), measures, ordinal=True, spelt=True)
    span = start, spelt.end
    return _finish(text, lowered, span, measures, fraction=spelt.fraction, spelt=True)


def _finish(
    text: str,
    lowered: str,
    span: tuple[int, int],
    measures: tuple[Measure, ...],
    *,
    fraction: bool = False,
    spelt: bool = False,
    alone: bool = False,
) -> Quantity:
    """The number with its sign and currency before, and, unless alone, magnitude and unit after."""
    start, end = span
    currency = _CURRENCY.search(text, max(0, start - 6), start)
    start = currency.start() if currency else start
    if start and text[start - 1] in "-−–" and _is_sign(lowered, start):
        start -= 1
        measures = tuple([Measure(-one.number, one.digit) for one in measures])
    elif lowered.endswith(_MINUS, 0, start) and _is_sign(lowered, start - len(_MINUS) + 1):
        start -= len(_MINUS)
        measures = tuple([Measure(-one.number, one.digit) for one in measures])
    magnitude = 0
    if not alone:
        magnitude, end = _magnitude(text, lowered, end, priced=currency is not None)
    if magnitude:
        measures = tuple([_times(one, magnitude) for one in measures])
    if currency:
        priced = units.SYMBOLS[currency[0].strip(f" {numerals.SPACES}")]
        measures = tuple(
            [Measure(one.number, one.digit, unit) for one in measures for unit in priced]
        )
    elif not alone:
        measures, end = _measured(text, lowered, end, measures, magnitude)
    about, bound = _approximation(lowered, start)
    after = None if alone else _OR_SO.match(lowered, end)
    if after:
        about, bound = True, bound or _bound_of(after[0])
    of_one = fraction and not magnitude
    return Quantity((start, end), measures, about, bound, False, of_one, spelt, magnitude)


def _magnitude(text: str, lowered: str, end: int, *, priced: bool) -> tuple[int, int]:
    """The power of ten that follows a number, and where it ends."""
    magnitude = 0
    while found := _MAGNITUDE.match(lowered, end):
        magnitude += units.MAGNITUDES[found[1]]
        end = found.end()
    letter = None if magnitude else _LETTER.match(lowered, end)
    if letter and _is_magnitude(letter, text, priced):
        return units.MAGNITUDES[letter[2]], letter.end()
    return magnitude, end


def _times(measure: Measure, magnitude: int) -> Measure:
    return Measure(measure.number * 10**magnitude, measure.digit * 10**magnitude)


def _is_sign(lowered: str, start: int) -> bool:
    """A minus, not a hyphen or the dash of a range."""
    before = lowered[max(0, start - 3) : start - 1]
    if not before.strip():
        return True
    return (
        not before[-1].isalnum()
        and before[-1] in " ([,:=<>~≈"
        and not before.strip()[-1:].isdigit()
    )


def _is_magnitude(letter: re.Match[str], text: str, priced: bool) -> bool:
    """`$5 m`, `5M`, `5k`; `5 m` and `5m` are metres, `5 K` is a temperature."""
    capital = text[letter.start(2)].isupper()
    if priced:
        return True
    if letter[1]:
        return letter[2] == "m" and capital
    return letter[2] == "k" or (letter[2] == "m" and capital)


def _measured(
    text: str, lowered: str, end: int, measures: tuple[Measure, ...], magnitude: int
) -> tuple[tuple[Measure, ...], int]:
    """The measures with the unit that follows, if one does, and where it ends."""
    found = _unit_at(text, lowered, end)
    if found is None:
        return measures, end
    rows, name, joined, unit_end = found
    if len(name) == 1 and name.isalpha():
        number = measures[0].number
        if (name == "s" and not joined) or (
            name == "y" and lowered[unit_end : unit_end + 2].strip().isdigit()
        ):
            return measures, end  # 1990s, 90s; y is `and` in Spanish
        if joined and (name.isupper() or name == "s") and 1000 <= number <= 2100:
            return measures, end  # In 2005 A Tribe …
    given = [Measure(one.number, one.digit, unit) for one in measures for unit in rows]
    if name in ("m", "B") and not joined and not magnitude:  # 5m people
        given += [_times(one, units.MAGNITUDES[name.lower()]) for one in measures]
    return tuple(given), unit_end


def _unit_at(text: str, lowered: str, end: int) -> tuple[tuple[Unit, ...], str, bool, int] | None:
    found = _WORD.match(lowered, end)
    rows = units.WORDS
    if found is None:
        found = _SYMBOL.match(text, end)
        rows = units.SYMBOLS
    if found is None:
        return None
    name, joined, end = found["name"], bool(found["join"]), found.end()
    measured = rows[name]
    if between := _PER.match(lowered, end):
        below = _WORD.match(lowered, between.end()) or _SYMBOL.match(text, between.end())
        if below is not None and not below["join"]:
            under = (units.WORDS.get(below["name"]) or units.SYMBOLS[below["name"]])[0]
            return tuple(units.per(one, under) for one in measured), name + "/", joined, below.end()
    return measured, name, joined, end


def _approximation(lowered: str, start: int) -> tuple[bool, int]:
    before = lowered[max(0, start - _REACH) : start]
    found = _ROUGHLY.search(before) if before.rstrip().endswith(_ROUGH_ENDS) else None
    if found is None:
        return False, 0
    side = bool(found["above"] or found["more"]) - bool(found["below"] or found["less"])
    words = found["above"] or found["below"] or ""
    strictly = words.endswith(_STRICTLY) and not words.startswith("no")
    return True, 2 * side if strictly else side


def _bound_of(words: str) -> int:
    if words.endswith(("less", "fewer", "below")):
        return -1
    return 0 if words.endswith("so") else 1
