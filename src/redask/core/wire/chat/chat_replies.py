"""Answers as chat completions: `completion`, and the `chunk`s of a stream.

    choices[0].message.content       the answer with its footnotes; then the sources, if asked for
    choices[0].message.annotations   a `url_citation` for each footnote: where it stands, in code
                                     points, half-open, and an address of what it cites
    usage                            the tokens, and `cost` in US dollars
    redask                           our own: `envelope`, the whole of it; `sources`, each with its
                                     number, name, URN and URL; `ignored`, what of the request has
                                     no meaning here

A stream has the role first, then content; the last chunk with a choice has annotations and
`redask`; then, where it was asked for, one with the usage. An address is `{base}/entity?urn=…`, a
view of the page: it shows what whoever opens it may read.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redask.core.model import Answer, Kind
from redask.core.rules import citations, urn
from redask.core.wire import envelope
from redask.core.wire.chat.chat_text import LinkedSource, sources_text

_IN_QUERY = re.compile(r"[^A-Za-z0-9._~-]")  # to be encoded there; a URN is printable ASCII


@dataclass(frozen=True, slots=True)
class ChatHead:
    """What is the same in every part of a reply."""

    id: str
    created: int
    model: str
    base: str = ""  # of the addresses of sources
    ignored: tuple[str, ...] = ()
    sources_in_text: bool = False


def completion(head: ChatHead, answer: Answer) -> dict[str, object]:
    """A reply that is not streamed."""
    message = {
        "annotations": annotations(head, answer),
        "content": answer.answer + rest(head, answer),
        "refusal": None,
        "role": "assistant",
    }
    choice = {"finish_reason": "stop", "index": 0, "logprobs": None, "message": message}
    return {
        "choices": [choice],
        "created": head.created,
        "id": head.id,
        "model": head.model,
        "object": "chat.completion",
        "redask": extension(head, answer),
        "usage": usage(answer),
    }


def chunk(
    head: ChatHead,
    delta: Mapping[str, object] | None,
    finish: str | None = None,
    **more: object,
) -> dict[str, object]:
    """A part of a stream; without a delta, one that has no choice."""
    choice = {"delta": delta, "finish_reason": finish, "index": 0, "logprobs": None}
    return {
        "choices": [] if delta is None else [choice],
        "created": head.created,
        "id": head.id,
        "model": head.model,
        "object": "chat.completion.chunk",
        **more,
    }


def rest(head: ChatHead, answer: Answer) -> str:
    """What stands behind the answer in the text."""
    if not head.sources_in_text:
        return ""
    cited = {footnote.marker for footnote in answer.citations}
    return sources_text([each for each in _linked(head, answer) if each.number in cited])


def annotations(head: ChatHead, answer: Answer, begin: int = 0) -> list[dict[str, Any]]:
    """The footnotes of an answer that begins at this character of the content."""
    linked = _linked(head, answer)
    found = citations.parse(answer.answer, len(linked)).citations
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "end_index": begin + each.span[1],
                "start_index": begin + each.span[0],
                "title": linked[each.source_index].name,
                "url": linked[each.source_index].url,
            },
        }
        for each in found
        if each.marker <= len(linked)
    ]


def extension(head: ChatHead, answer: Answer) -> dict[str, object]:
    """Our own field of a reply."""
    sources: Sequence[dict[str, object]] = [
        {"name": each.name, "number": each.number, "url": each.url, "urn": each.urn}
        for each in _linked(head, answer)
    ]
    return {
        "envelope": envelope.build(answer),
        "ignored": list(head.ignored),
        "sources": sources,
    }


def usage(answer: Answer) -> dict[str, object]:
    """What the answer took."""
    return {
        "completion_tokens": answer.completion_tokens,
        "cost": float(answer.cost_usd),
        "prompt_tokens": answer.prompt_tokens,
        "total_tokens": answer.prompt_tokens + answer.completion_tokens,
    }


def model(name: str) -> dict[str, object]:
    """The database, as a model; nobody made it at a time that matters."""
    return {"created": 0, "id": name, "object": "model", "owned_by": "redask"}


def _linked(head: ChatHead, answer: Answer) -> list[LinkedSource]:
    return [
        LinkedSource(number, each.urn, _name(each.urn), _url(head.base, each.urn))
        for number, each in enumerate(answer.sources_flat, start=1)
    ]


def _url(base: str, address: str) -> str:
    encoded = _IN_QUERY.sub(lambda found: f"%{ord(found[0]):02X}", address)
    return f"{base}/entity?urn={encoded}"


def _name(address: str) -> str:
    """What a source is called, for people: as on the page."""
    found = urn.decode(address)
    if found.kind is Kind.QUERY:
        return "computed result"
    fragment = f" # {found.fragment}" if found.fragment else ""
    return f"{found.collection} / {found.id}{fragment}"
