"""How the vendors' servers speak: replies of each wire, for `loopback`.

`chat` is OpenAI's chat wire (Hugging Face's router speaks it, too), `messages` is Anthropic's. Each
makes a whole reply and a stream of one piece an event, with usage as given.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from loopback import EVENTS, Received, Wire

BUILD = "fp_44709d6fcb"
USAGE = (12, 3)


class Speech(Protocol):
    """One wire."""

    def whole(self, text: str, usage: object = USAGE) -> Wire:
        """A reply as one piece."""

    def stream(self, pieces: Sequence[str], usage: object = USAGE) -> Wire:
        """A reply as a stream."""

    def error(self, status: int, words: str) -> Wire:
        """An error."""

    def broken(self, error: dict[str, Any]) -> Wire:
        """A stream that ends in an error event after one piece."""

    def refusal(self) -> Wire:
        """A whole reply that refuses."""


def encoded(value: object) -> bytes:
    return json.dumps(value).encode()


@dataclass(frozen=True)
class ChatSpeech:
    """POST /chat/completions."""

    def whole(self, text: str, usage: object = USAGE) -> Wire:
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return Wire(body=encoded(self._top("chat.completion", [choice], usage)))

    def stream(self, pieces: Sequence[str], usage: object = USAGE) -> Wire:
        deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant"}, None)]
        deltas += [({"content": piece}, None) for piece in pieces]
        deltas.append(({}, "stop"))
        chunks = [
            self._chunk([{"index": 0, "delta": delta, "finish_reason": finish}])
            for delta, finish in deltas
        ]
        chunks.append(self._chunk([], usage))
        return Wire(chunks=[*chunks, b"data: [DONE]\n\n"], kind=EVENTS)

    def error(self, status: int, words: str) -> Wire:
        body = {"error": {"message": words, "type": "some_error", "code": None}}
        return Wire(status, encoded(body))

    def broken(self, error: dict[str, Any]) -> Wire:
        first = self._chunk([{"index": 0, "delta": {"content": "At "}, "finish_reason": None}])
        return Wire(chunks=[first, b"data: " + encoded({"error": error}) + b"\n\n"], kind=EVENTS)

    def refusal(self) -> Wire:
        message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return Wire(body=encoded(self._top("chat.completion", [choice], USAGE)))

    def _chunk(self, choices: list[Any], usage: object = None) -> bytes:
        return b"data: " + encoded(self._top("chat.completion.chunk", choices, usage)) + b"\n\n"

    def _top(self, kind: str, choices: list[Any], usage: object) -> dict[str, Any]:
        counts = None
        if isinstance(usage, tuple):
            counts = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": 0}
        return {
            "id": "c-1",
            "object": kind,
            "created": 1,
            "model": "model-of-the-day",
            "system_fingerprint": BUILD,
            "choices": choices,
            "usage": counts,
        }


@dataclass(frozen=True)
class MessagesSpeech:
    """POST /v1/messages."""

    def whole(self, text: str, usage: object = USAGE) -> Wire:
        return Wire(
            body=encoded(self._message([{"type": "text", "text": text}], "end_turn", usage))
        )

    def stream(self, pieces: Sequence[str], usage: object = USAGE) -> Wire:
        read, written = usage if isinstance(usage, tuple) else (None, None)
        start = self._message([], None, None if read is None else (read, 1))
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": start},
            {"type": "content_block_start", "index": 0, "content_block": _EMPTY},
            {"type": "ping"},
            *(
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "text_delta", "text": piece},
                }
                for piece in pieces
            ),
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": None if written is None else {"output_tokens": written},
            },
            {"type": "message_stop"},
        ]
        return Wire(chunks=[_event(event) for event in events], kind=EVENTS)

    def error(self, status: int, words: str) -> Wire:
        body = {"type": "error", "error": {"type": "some_error", "message": words}}
        return Wire(status, encoded(body))

    def broken(self, error: dict[str, Any]) -> Wire:
        whole = self.stream(["At "])
        event = _event({"type": "error", "error": error})
        return replace(whole, chunks=[*whole.chunks[:4], event])

    def refusal(self) -> Wire:
        return Wire(body=encoded(self._message([], "refusal", USAGE)))

    def _message(self, content: list[Any], stop: str | None, usage: object) -> dict[str, Any]:
        counts = None
        if isinstance(usage, tuple):
            counts = {"input_tokens": usage[0], "output_tokens": usage[1]}
        return {
            "id": "m-1",
            "type": "message",
            "role": "assistant",
            "model": "model-of-the-day",
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": counts,
        }


_EMPTY = {"type": "text", "text": ""}


def _event(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\n".encode() + b"data: " + encoded(event) + b"\n\n"


CHAT: Speech = ChatSpeech()
MESSAGES: Speech = MessagesSpeech()


def speech_of(provider: str) -> Speech:
    """The wire that a provider speaks."""
    return MESSAGES if provider == "anthropic" else CHAT


def polite_model(received: Received) -> Wire:
    """A server of both wires that quotes the first source, if there is one."""
    asked = json.dumps(received.body["messages"])
    pieces = ["The ferry ", "leaves at nine. ", "[^1]"] if "<source " in asked else ["No idea."]
    speech = MESSAGES if received.path.endswith("/messages") else CHAT
    return speech.stream(pieces) if received.body.get("stream") else speech.whole("".join(pieces))
