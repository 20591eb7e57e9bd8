"""A streamed answer as chunks of a chat completion: `ChatStream.encode` makes bytes of each event.

Content is sent as our own stream sends it, behind the same gates. What was sent cannot be taken
back in that API: where our stream would discard it, the text says so (`chat_text.withdrawn`), the
chunk has `redask.answer_reset`, and the answer follows. With `checked`, content is sent when the
whole answer stands, and nothing is ever withdrawn. A failure is a chunk with an `error`.
"""

from typing import assert_never

from redask.core.model import Answered, AnswerReset, AnswerToken, Event, Failed, SourcesFound
from redask.core.wire import json as canonical
from redask.core.wire import outcomes
from redask.core.wire.chat import chat_errors, chat_replies, chat_text
from redask.core.wire.chat.chat_replies import ChatHead
from redask.core.wire.sse import HEARTBEAT

DONE = b"data: [DONE]\n\n"


class ChatStream:
    """The chunks of one answer."""

    def __init__(self, head: ChatHead, *, include_usage: bool, checked: bool = False) -> None:
        self._head = head
        self._checked = checked
        self._include_usage = include_usage
        self._sent = 0  # characters of content
        self._begin = 0  # where the answer begins in it

    def encode(self, event: Event) -> bytes:
        """The chunks of an event."""
        match event:
            case SourcesFound():
                return self._chunk({"content": "", "role": "assistant"})
            case AnswerToken() | AnswerReset() if self._checked:
                return HEARTBEAT
            case AnswerToken():
                return self._content(event.text)
            case AnswerReset():
                reset = {"answer_reset": {"reason": event.reason}}
                said = self._content(chat_text.withdrawn(event.reason), redask=reset)
                self._begin = self._sent
                return said
            case Answered():
                return self._end(event)
            case Failed():
                return _data(_failure(event.error))
            case _:
                assert_never(event)

    def _end(self, event: Answered) -> bytes:
        head, answer = self._head, event.answer
        unsent = answer.answer if self._checked else ""
        unsent += chat_replies.rest(head, answer)
        parts = [self._content(unsent)] if unsent else []
        cited: dict[str, object] = {
            "annotations": chat_replies.annotations(head, answer, self._begin)
        }
        parts.append(self._chunk(cited, "stop", redask=chat_replies.extension(head, answer)))
        if self._include_usage:
            usage = chat_replies.usage(answer)
            parts.append(_data(chat_replies.chunk(head, None, usage=usage)))
        return b"".join(parts)

    def _content(self, text: str, **more: object) -> bytes:
        self._sent += len(text)
        return self._chunk({"content": text}, None, **more)

    def _chunk(self, delta: dict[str, object], finish: str | None = None, **more: object) -> bytes:
        if self._include_usage:
            more["usage"] = None
        return _data(chat_replies.chunk(self._head, delta, finish, **more))


def _failure(error: Exception) -> dict[str, object]:
    """The error, with the status that it would have had before the stream began."""
    found = chat_errors.of(outcomes.body(error))
    return {**found, "redask": {**outcomes.body(error), "code": outcomes.of(error).http}}


def _data(value: object) -> bytes:
    return b"data: %b\n\n" % canonical.encode(value)
