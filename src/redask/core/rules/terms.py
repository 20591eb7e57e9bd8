"""The search terms of a question: `extract` its words and its literals.

    words     runs of letters, marks and digits of any script, lower-cased, without the stop
              words of the language, each once, in order. `'s` is cut off. If there are only
              stop words, they are the words; if there is no word either, the trimmed
              question is the one literal: there is always a term.
    literals  what must match exactly as written, case included, each once, in order:
                quoted phrases   "…" “…” „…“ «…» `…` '…'   (their words are words, too)
                URLs, e-mail and IP addresses
                identifiers      letters and digits mixed or joined by - _ . / : + @
                                 (AB1234567, CVE-2023-22809, max_tokens, v1.2.3, 10.0.0.0/8)
              A plain number is a word. A compound without a digit (and/or, up-to-date) is
              words, unless it is joined by an underscore.

`literals(text)` finds the same in a source, without the quoted phrases, for the index.
Every pattern is bounded, so the time is linear in the text.
"""

import re
import unicodedata
from collections.abc import Collection
from functools import cache

from redask.core.model import Terms

ENGLISH: frozenset[str] = frozenset(
    """
    a about above after again against all am an and any are aren't as at be because been before
    being below between both but by can can't cannot could couldn't did didn't do does doesn't
    doing don't down during each few for from further had hadn't has hasn't have haven't having
    he he'd he'll her here hers herself him himself his how i i'd i'll i'm i've
    if in into is isn't it its itself me more most mustn't my myself no nor not of off
    on once only or other ought our ours ourselves out over own same shan't she she'd she'll
    should shouldn't so some such than that the their theirs them themselves then
    there these they they'd they'll they're they've this those through to too under
    until up very was wasn't we we'd we'll we're we've were weren't what when where
    which while who whom why will with won't would wouldn't you you'd you'll
    you're you've your yours yourself yourselves
    """.split()
)

_QUOTED = re.compile(
    r'"([^"\n]{1,200})"|“([^”\n]{1,200})”|„([^“”\n]{1,200})[“”]|«([^»\n]{1,200})»'
    r"|`([^`\n]{1,200})`|(?<!\w)'([^'\n]{2,200})'(?!\w)"
)
# Letters that identifiers are made of: Latin, Greek and Cyrillic. Scripts without spaces stay
# outside, or "2023年" would extend to the whole sentence.
_LETTER = "A-Za-z\u00c0-\u024f\u0370-\u052f"
_ALNUM = f"[0-9{_LETTER}]"
_URL = r"(?:[A-Za-z][A-Za-z0-9+.-]{1,20}://|www\.)"
_MAILBOX = rf"[0-9_.%+{_LETTER}-]{{1,64}}+@"
_LABEL = rf"[0-9_{_LETTER}-]"
_LITERAL = re.compile(
    rf"(?<!{_ALNUM})(?:"
    rf"(?P<url>{_URL}[^\s<>\"“”«»`（）「」『』【】，。、；：！？…]++)"
    rf"|(?P<email>{_MAILBOX}{_ALNUM}{_LABEL}{{0,63}}+(?:\.{_LABEL}{{1,63}}+)++)"
    r"|(?P<ip6>(?=[A-Fa-f:]{0,39}[0-9])(?:[0-9A-Fa-f]{0,4}:){2,7}"
    r"(?:(?:[0-9]{1,3}\.){3}[0-9]{1,3}|[0-9A-Fa-f]{1,4}|(?<=::))(?:/[0-9]{1,3})?(?![0-9A-Za-z]|:[0-9A-Za-z:]))"
    rf"|(?P<joined>{_ALNUM}++(?:(?!:{_URL}|:{_MAILBOX})[-_./:+@]{_ALNUM}++)*+)"
    r")"
)
_CLOSES = {")": "(", "]": "[", "}": "{"}
_POSSESSIVE = re.compile("['’ʼ][sS](?!\\w)")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})


def extract(question: str, stop_words: Collection[str] = ENGLISH) -> Terms:
    """The words and literals of a question."""
    quoted = [(found.start(), found[found.lastindex or 0]) for found in _QUOTED.finditer(question)]
    bare = _literals(question)
    literals = dict.fromkeys(text for _, text in sorted(quoted + bare) if text.strip())
    rest = " ".join(_between(question, bare))
    all_words = dict.fromkeys(words(rest))
    content_words = tuple(word for word in all_words if word not in stop_words)
    if not content_words and not literals:
        content_words = tuple(all_words)
    if not content_words and not literals and question.strip():
        literals = {question.strip(): None}
    return Terms(content_words, tuple(literals))


def literals(text: str) -> tuple[str, ...]:
    """The literals of a source, each once, in order, quoted phrases apart."""
    return tuple(dict.fromkeys(literal for _, literal in _literals(text)))


def words(text: str) -> list[str]:
    """The words of a text, lower-cased, in order, repetitions and stop words included."""
    found = _word_pattern(text.isascii()).findall(text.translate(_APOSTROPHES).lower())
    return [word.removesuffix("'s") for word in found]


def _literals(text: str) -> list[tuple[int, str]]:
    """The literals with their positions, without closing punctuation."""
    found = []
    for match in _LITERAL.finditer(text):
        literal = _unpunctuated(match[0]) if match.lastgroup == "url" else match[0]
        if match.lastgroup != "joined" or _is_identifier(literal):
            found.append((match.start(), literal))
    return found


def _between(text: str, found: list[tuple[int, str]]) -> list[str]:
    """The text before, between and after the literals and their `'s`."""
    ends = [start + len(literal) for start, literal in found]
    after = [cut.end() if (cut := _POSSESSIVE.match(text, end)) else end for end in ends]
    stops = [*(start for start, _ in found), len(text)]
    return [text[start:end] for start, end in zip([0, *after], stops, strict=True)]


def _unpunctuated(url: str) -> str:
    surplus = {close: url.count(close) - url.count(opens) for close, opens in _CLOSES.items()}
    end = len(url)
    while url[end - 1] in ".,;:!?'" or surplus.get(url[end - 1], 0) > 0:
        end -= 1
        if url[end] in surplus:
            surplus[url[end]] -= 1
    return url[:end]


def _is_identifier(token: str) -> bool:
    if "_" in token:
        return True
    has_digit = any(map(str.isdigit, token))
    return has_digit and not token.isdigit()


@cache
def _word_pattern(ascii_only: bool) -> re.Pattern[str]:
    """One word: letters and digits, with marks and inner apostrophes.

    `\\w` knows no combining marks, so words of many scripts would fall apart without them.
    """
    marks = "" if ascii_only else _marks()
    letter = rf"(?:[^\W_]|[{marks}])" if marks else r"[^\W_]"
    return re.compile(rf"[^\W_]{letter}*(?:'[^\W_]{letter}*)*")


def _marks() -> str:
    """Combining marks and the two joiners, as ranges of a character class."""
    rest = (each for each in map(chr, range(0x300, 0x1FFFF)) if not each.isalnum())
    # a mark is printable, which is asked quickly; its category is not
    marks = {
        each for each in rest if each.isprintable() and unicodedata.category(each).startswith("M")
    }
    points = sorted(map(ord, marks | {"\u200c", "\u200d"}))
    ranges: list[list[int]] = []
    for point in points:
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in ranges)
