"""Paraphrases: the same claim in another spelling. A template is `(sentence) → text or None`."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from claims import spans
from claims.changes import share
from claims.material import Sentence
from claims.spans import Span

Template = Callable[[Sentence], str | None]
_FIRST_WORD = re.compile(
    r"(?:The|A|An|In|On|At|It|Its|This|These|There|He|She|They|His|Her|Their|As|By|For|From|Both|"
    r"After|Before|During|When|While|Although|Since|With|However|Each|All|We|Our|Many|Most|Some)\b"
)


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """A sentence said in another way."""

    template: str
    sentence: Sentence
    text: str


def make(
    templates: Mapping[str, Template], sentences: Sequence[Sentence], most: int
) -> Iterator[Paraphrase]:
    """Up to `most` paraphrases, of each template alike where there are as many."""
    made = {
        name: [
            Paraphrase(name, sentence, text)
            for sentence in sentences
            if sentence.verbatim
            and (text := template(sentence)) is not None
            and text != sentence.text
        ]
        for name, template in templates.items()
    }
    quota = share(most, {name: len(found) for name, found in made.items()})
    for name, found in made.items():
        yield from found[: quota[name]]


def framed(before: str) -> Template:
    """The sentence behind words that say where it stands."""

    def template(sentence: Sentence) -> str:
        text = sentence.text
        if _FIRST_WORD.match(text):
            text = text[0].lower() + text[1:]
        return f"{before}{text}"

    return template


def respelt(
    find: Callable[[str], list[Span]], spell: Callable[[str, Span], str | None]
) -> Template:
    """The sentence with the first span that can be spelt otherwise spelt so."""

    def template(sentence: Sentence) -> str | None:
        for span in find(sentence.text):
            now = spell(sentence.text, span)
            if now is not None:
                return sentence.text[: span.start] + now + sentence.text[span.end :]
        return None

    return template


def matches(pattern: re.Pattern[str]) -> Callable[[str], list[Span]]:
    """A finder of a pattern's matches."""
    return lambda text: [Span(m.start(), m.end(), m[0]) for m in pattern.finditer(text)]


def plain_numbers(text: str) -> list[Span]:
    """Numbers in digits that stand alone."""
    return [span for span in spans.numbers(text) if span.text[0].isdigit()]
