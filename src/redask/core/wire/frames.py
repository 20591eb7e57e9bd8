"""A streamed answer as frames: `of` one event, and `fold` frames back into the envelope.

    event          frame          payload
    SourcesFound   sources        {sources_flat}                             first, once
    AnswerToken    answer_token   {text}                                     any number
    AnswerReset    answer_reset   {reason}: discard the tokens sent so far
    Answered       validation     {audit, citations, errors, ok, warnings}   last, or
    Failed         error          {code, message}                            last

`audit` holds the eight flat fields of the envelope; the envelope's `evidence`, if it has any, is
one more key of `validation`. Folding gives the envelope, byte for byte:
a streamed answer equals the plain one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, assert_never

from redask.core.model import Answered, AnswerReset, AnswerToken, Event, Failed, SourcesFound
from redask.core.wire import envelope, outcomes

_AUDIT = (
    "cache_hit",
    "completion_tokens",
    "cost_usd",
    "mode",
    "model",
    "prompt_tokens",
    "provider",
    "retry_count",
)
_BESIDE = ("citations", "evidence")


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame's name and its payload, for the canonical encoder."""

    name: str
    payload: dict[str, Any]


def of(event: Event) -> Frame:
    """The frame of an event."""
    match event:
        case SourcesFound():
            return Frame("sources", {"sources_flat": envelope.sources(event.sources_flat)})
        case AnswerToken():
            return Frame("answer_token", {"text": event.text})
        case AnswerReset():
            return Frame("answer_reset", {"reason": event.reason})
        case Answered():
            whole: dict[str, Any] = envelope.build(event.answer)
            audit = {key: whole[key] for key in _AUDIT}
            rest = {key: whole[key] for key in _BESIDE if key in whole}
            return Frame("validation", {"audit": audit, **rest, **whole["validation"]})
        case Failed():
            outcome = outcomes.of(event.error)
            return Frame("error", {"code": outcome.http, "message": outcomes.message(event.error)})
        case _:
            assert_never(event)


def fold(frames: Iterable[Frame]) -> dict[str, Any]:
    """The envelope of a stream that ended in `validation`."""
    whole: dict[str, Any] = {"answer": ""}
    for frame in frames:
        match frame.name:
            case "sources":
                whole["sources_flat"] = frame.payload["sources_flat"]
            case "answer_token":
                whole["answer"] += frame.payload["text"]
            case "answer_reset":
                whole["answer"] = ""
            case "validation":
                rest = dict(frame.payload)
                whole.update(rest.pop("audit"))
                whole.update({key: rest.pop(key) for key in _BESIDE if key in rest})
                whole["validation"] = rest
    return whole
