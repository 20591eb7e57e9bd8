"""The text of a chat's answer, which is more than the answer: `sources_text` and `withdrawn`.

    sources_text   one line `[^N]: URL "name"` for each source that is cited. A Markdown footnote
                   where those are known; elsewhere it makes a link of each `[^N]`
    withdrawn      what a stream says when all it sent is void, for chats cannot take text back
    answer_of      the answer alone, of a text that comes back as an earlier message

A name comes out of the data: nothing of it may be read as markup or as a link.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_REASONS = {
    "retry": "it cited what is not there, or said what its sources do not",
    "failover": "the provider failed while it was writing",
}
_BEGIN, _END = "\n\n---\n*Withdrawn. The text above is void: ", ".*\n\n---\n\n"
_WITHDRAWN = re.compile(rf"{re.escape(_BEGIN)}[^\n]{{0,200}}?{re.escape(_END)}")
_LINE = r"\[\^[0-9]{1,10}\]: [^\s\"]{1,100000}+ \"[^\"\n]{0,200}\""
_SOURCES = re.compile(rf"\n\n{_LINE}(?:\n{_LINE})*\s*\Z")
_ODD = re.compile(r"[^\w /#.-]|(?<=www)\.", re.IGNORECASE)
_SHOWN = 100


@dataclass(frozen=True, slots=True)
class LinkedSource:
    """A source with its number in the answer, and an address that people can open."""

    number: int
    urn: str
    name: str
    url: str


def sources_text(cited: Sequence[LinkedSource]) -> str:
    """What stands behind the answer; nothing where nothing is cited."""
    lines = [f'[^{each.number}]: {each.url} "{_plain(each.name)}"' for each in cited]
    return "\n\n" + "\n".join(lines) if lines else ""


def withdrawn(reason: str) -> str:
    """What is said when the text before it is void."""
    return f"{_BEGIN}{_REASONS.get(reason, reason)}{_END}"


def answer_of(text: str) -> str:
    """The answer in a text that was sent: without what was withdrawn, and without the sources."""
    kept = _WITHDRAWN.split(text)[-1]
    found = _SOURCES.search(kept)
    return kept[: found.start()] if found else kept


def _plain(name: str) -> str:
    shown = _ODD.sub("·", name)
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"
