"""The expected answer type: `of` a question, and whether a text has one: `found`.

    who, whom, whose, where, which country …       NAME     a capitalised word inside the text
    when, what year, which century …               DATE     a year, a month, 19th, century
                                                            (any other number is half a date)
    how many, how old, what percentage …           NUMBER   digits, or a number word
      which status code, what port
    what is the default, maximum, limit …          VALUE    a number outside code; half: `code`; of
                                                            a default less, unless it is said to be
      which port … by default
    which version(s), which Python version …       VERSION  3.9
    anything else, other languages too             none, and 0 is found

The first question word decides. Words of the question itself are never its answer.

`shape` of an answer:

    how do I, how to, show me, an example of …     STEPS
    list …, which … are …, which things,           LIST
      what information …

`names` are the named entities of a question: numbers of three digits and more and, if it is in
English (other languages capitalise any noun), capitalised words but for the first. It is, if it has
a question word, or opens as one that wants a yes or no: "Does … support Kafka?"
"""

import re
from collections.abc import Collection
from enum import StrEnum

from redask.core.rules import terms
from redask.core.text import compiled_later


class AnswerType(StrEnum):
    """The answer types that a pattern can recognise."""

    NAME = "name"
    DATE = "date"
    NUMBER = "number"
    VALUE = "value"
    VERSION = "version"


class AnswerShape(StrEnum):
    """What an answer should come with: steps with their code, or all of a list."""

    STEPS = "steps"
    LIST = "list"


_STEPS = re.compile(
    r"\bhow (?:do|can|could|should|would|must|does|might) (?:i|you|we|one|someone|people)\b"
    r"|\bhow to\b|\b(?:show|give) (?:me|us)\b|\bexamples? (?:of|for)\b"
    r"|\b(?:what|which) (?:is the )?commands?\b",
    re.IGNORECASE,
)
_LIST = compiled_later(
    r"^\W{0,4}(?:list|enumerate|name)\b|\bdiff(?:er|erences?|erent)\b|\bcompare"
    r"|\b(?:what|which) (?:\w{1,32} ){0,3}?(?:are|were)\b"
    r"|\b(?:what|which) (?:information|details|documents?|steps|conditions|requirements)\b"
    r"|\bwhat (?:\w{1,32} )?(?:changed|is new|was (?:fixed|added|removed))\b"
    r"|\bwhich (?:\w{1,32} ){0,2}?(?!does\b|this\b)\w{2,32}[^su\W]s\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:(who|whom|whose|where)|(when)|(how)|(?:what|which)|why)\b(?:\W{1,4}(\w{1,32}))?",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"\W{0,4}(?:is|are|was|were|do|does|did|can|could|will|would|should|must|may|has|have|had)"
    r" \w",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"\b(?:what|which) (?:is|are|was) (?:the )?(?:\w{1,32} ){0,2}?"
    r"(?:default|maximum|minimum|limit)\b"
    r"|\b(?:what|which) (?:port|size|timeout|limit|interval|ttl)\b[^?]{0,80}\bdefault\b",
    re.IGNORECASE,
)
_CODE_NUMBER = re.compile(r"\b(?:what|which) (?:\w{1,32} )?(?:code|port)\b", re.IGNORECASE)
_VERSIONED = re.compile(
    r"\b(?:what|which) (?:(?!changed|new|fixed|added|removed)\w{1,32} ){0,2}?versions?\b",
    re.IGNORECASE,
)
_VERSION = re.compile(r"(?<![\w.])v?[0-9]{1,4}(?:\.[0-9a-z]{1,8}){1,3}\b")
_NO_VALUE = re.compile(r"`[^`]{1,64}`|#[0-9]{1,10}")  # code, and numbers of issues
_DEFAULT = re.compile(
    r"\bdefault(?:s|ed|ing)?(?: (?:value|setting|is|to|of|at|being))*+\W{1,4}[\w.]{1,32}"
    r"|\(default\b|\[default",
    re.IGNORECASE,
)
_DEFAULT_IS = compiled_later(
    r"\bdefault\b[^.;]{1,80}?\b(?:is|are|to|of|at)\b[^.;]{1,60}?"
    r"(?:[0-9`]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten)\b)",
    re.IGNORECASE,
)
_STATED = re.compile(
    r"[0-9`]|\(default|\[default|\b(?:on|off|true|false|none|null)$", re.IGNORECASE
)
_NOT_SAID = 0.4
_VALUE_LINE = re.compile(
    r"(?:type: [^.]{1,80}\. )?\W{0,3}default(?: value)?\W{0,3}[:=]", re.IGNORECASE
)
_SETTING = re.compile(r"`[^`]{1,64}`|\b(?:on|off|true|false|none|null)\b", re.IGNORECASE)
_MEASURES = frozenset(
    "many much old long far tall high big large fast often deep wide heavy".split()
)
_NOUNS = {
    **dict.fromkeys(
        "century date day decade month period time year years".split(), AnswerType.DATE
    ),
    **dict.fromkeys(
        "age amount cost number percent percentage population price rate share size".split(),
        AnswerType.NUMBER,
    ),
    **dict.fromkeys(
        "city company country people person place region state team".split(), AnswerType.NAME
    ),
}
_DATE = compiled_later(
    r"\b(?:1[0-9]{3}s?|20[0-9]{2}s?|[0-9]{1,2}(?:st|nd|rd|th)|centur(?:y|ies)|decades?"
    r"|January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
_NUMBER = compiled_later(
    r"[0-9][0-9.,]{0,32}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|twenty|thirty|forty|fifty|hundred|thousand|million|billion|half|third|quarter|dozen|once"
    r"|twice)\b"
)
_LONG_NUMBER = re.compile(r"(?<![\w.,])[0-9]{3,64}(?![\w]|[.,][0-9])")
_NAME = re.compile(r"(?<=\W)[^\W\d_a-z][\w'-]{0,64}")


def of(question: str) -> AnswerType | None:
    """The expected answer type, if the first question word determines one."""
    asks = _ASKS.search(question)
    if asks is None:
        return None
    if _VALUE.search(question):
        return AnswerType.VALUE
    if _VERSIONED.search(question):
        return AnswerType.VERSION
    named, dated, measured, following = asks.groups(default="")
    if named or dated:
        return AnswerType.NAME if named else AnswerType.DATE
    if _CODE_NUMBER.search(question):
        return AnswerType.NUMBER
    if measured:
        return AnswerType.NUMBER if following.lower() in _MEASURES else None
    return _NOUNS.get(following.lower())


def shape(question: str) -> AnswerShape | None:
    """What an answer should come with, if the question says so."""
    if _STEPS.search(question):
        return AnswerShape.STEPS
    return AnswerShape.LIST if _LIST.search(question) else None


def found(expected: AnswerType | None, text: str, question_words: Collection[str]) -> float:
    """From 0 to 1: whether the text has something of that type outside `question_words`."""
    if expected is AnswerType.NAME:
        return float(_has(_NAME, text, question_words, terms.ENGLISH))
    if expected is AnswerType.NUMBER:
        return float(_has(_NUMBER, text, question_words))
    if expected is AnswerType.VERSION:
        return float(_has(_VERSION, text, question_words))
    if expected is AnswerType.VALUE:
        number = _has(_NUMBER, _NO_VALUE.sub(" ", text), question_words)
        kind = 1.0 if number else 0.5 * _has(_SETTING, text, question_words)
        is_said = "default" not in question_words or _states_default(text)
        return kind if is_said else _NOT_SAID * kind
    if expected is AnswerType.DATE:
        return (
            1.0 if _has(_DATE, text, question_words) else 0.5 * _has(_NUMBER, text, question_words)
        )
    return 0.0


def _states_default(text: str) -> bool:
    """Whether a text says what the default is: "defaults to 5", "default=off"."""
    if _DEFAULT_IS.search(text):
        return True
    return any(_STATED.search(each[0]) for each in _DEFAULT.finditer(text))


def opens_with_value(text: str) -> bool:
    """Whether a line is nothing but a value: "Default: `5`"."""
    return _VALUE_LINE.match(text) is not None


def asks_yes_or_no(question: str) -> bool:
    """Whether a question wants a yes or a no: "Does … support Kafka?"."""
    return _YES_NO.match(question) is not None


def names(question: str) -> list[str]:
    """The names and numbers in a question, in order."""
    found = [(one.start(), one[0]) for one in _LONG_NUMBER.finditer(question)]
    if _ASKS.search(question) or asks_yes_or_no(question):
        capitalised = [(one.start(), one[0]) for one in _NAME.finditer(question.lstrip(" \"'“‘("))]
        found += [one for one in capitalised if one[1].lower() not in terms.ENGLISH]
    return [name for _, name in sorted(found)]


def _has(pattern: re.Pattern[str], text: str, *known: Collection[str]) -> bool:
    for one in pattern.finditer(text):
        word = one[0].strip("`").rstrip(".,").lower()
        if not any(word in words for words in known):
            return True
    return False
