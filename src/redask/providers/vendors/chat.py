"""Replies of the chat completions API: OpenAI-compatible hosts, Hugging Face and llama.cpp.

`ChatReply` reads a whole reply (`read`) or the chunks of a stream one by one (`read_chunk`, which
returns the piece of text), and makes the `Completion` at the end.

    finish_reason content_filter, or a `refusal`      ProviderRefused, with the usage it was billed
    an `error` in place of choices                    by `failures.of_body`
    a stream that ended without a finish_reason       transport: it was cut off
    a stream without a chunk, a reply without text    refused: it cannot be read
    usage that is not two valid token counts          no usage

Replies are values of unknown shape: SDKs pass on what they receive, whatever their types claim.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from redask.core.errors import Failure, ProviderFailed, ProviderRefused
from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.providers.vendors import failures
from redask.providers.vendors.connections import Unreadable

_MAX_TOKENS = 1 << 31  # more than any context window
_MAX_NAME = 256
_REFUSED = "content_filter"


@dataclass(slots=True)
class ChatReply:
    """Accumulates one reply, whole or chunk by chunk."""

    provider: str
    model: str
    key: str | None = field(default=None, repr=False)
    pieces: list[str] = field(default_factory=list)
    build: str = ""
    usage: tuple[int | None, int | None] = (None, None)
    refusal: str = ""
    finish: str = ""
    has_no_text: bool = False
    chunks: int = 0

    def read(self, reply: object) -> None:
        """Read a whole reply."""
        self._read_metadata(reply)
        choice = get_path(reply, "choices", 0)
        message = get_path(choice, "message")
        if message is None:
            raise Unreadable("its reply holds no answer")
        content = get_path(message, "content")
        self.has_no_text = content is None
        self._append_text(content)
        self._read_finish(choice, get_path(message, "refusal"))
        self.finish = self.finish or "stop"  # not a stream: it cannot be cut off

    def read_chunk(self, chunk: object) -> str:
        """Read one chunk of a stream. → the text it adds."""
        self._read_metadata(chunk)
        choice = get_path(chunk, "choices", 0)
        delta = get_path(choice, "delta")
        piece = self._append_text(get_path(delta, "content"))
        self._read_finish(choice, get_path(delta, "refusal"))
        return piece

    def completion(self) -> Completion:
        """The completion, or the failure that the reply reports."""
        billed = complete_usage(self.usage)
        if self.refusal or self.finish == _REFUSED:
            words = failures.clean(self.refusal, self.key) or "its filter stopped the answer"
            raise ProviderRefused(self.provider, f"it refused: {words}", billed=billed)
        if self.has_no_text:
            raise ProviderRefused(self.provider, "its reply holds no answer", billed=billed)
        if not self.chunks:
            raise ProviderRefused(self.provider, "its reply is empty")
        if not self.finish:
            raise ProviderFailed(self.provider, Failure.TRANSPORT, "the stream broke off")
        return Completion("".join(self.pieces), self.model, *self.usage, self.build)

    def _read_metadata(self, reply: object) -> None:
        """Read what any part of a reply may hold: an error, the model, the build, the usage."""
        error = get_path(reply, "error")
        if error:
            raise failures.of_body(self.provider, error, self.key)
        self.chunks += 1
        self.model = name_in(get_path(reply, "model")) or self.model
        self.build = name_in(get_path(reply, "system_fingerprint")) or self.build
        reported = get_path(reply, "usage")
        if reported is not None:
            self.usage = token_counts(
                get_path(reported, "prompt_tokens"), get_path(reported, "completion_tokens")
            )

    def _append_text(self, content: object) -> str:
        if content is None:
            return ""
        if not isinstance(content, str):
            raise Unreadable("its answer is no text")
        if content:
            self.pieces.append(content)
        return content

    def _read_finish(self, choice: object, refusal: object) -> None:
        if isinstance(refusal, str):
            self.refusal += refusal
        finish = get_path(choice, "finish_reason")
        if isinstance(finish, str):
            self.finish = finish


def messages(prompt: Prompt) -> list[dict[str, str]]:
    """A prompt as chat messages."""
    return [
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    ]


def knobs_sent(knobs: Knobs) -> dict[str, float]:
    """The knobs as fields of a request, without those that are None."""
    pairs = (("temperature", knobs.temperature), ("seed", knobs.seed))
    return {name: value for name, value in pairs if value is not None}


def get_path(value: object, *path: str | int) -> object:
    """The value at a path inside mappings, lists and objects; None where there is none."""
    for step in path:
        if isinstance(step, int):
            inside = isinstance(value, Sequence) and not isinstance(value, str | bytes)
            value = value[step] if inside and len(value) > step else None  # type: ignore[arg-type,index]
        elif isinstance(value, Mapping):
            value = value.get(step)
        else:
            value = None if isinstance(value, str | bytes) else getattr(value, step, None)
    return value


def token_counts(prompt: object, completion: object) -> tuple[int | None, int | None]:
    """Both token counts, or None for both if one is invalid."""
    if is_token_count(prompt) and is_token_count(completion):
        return prompt, completion
    return None, None


def complete_usage(usage: tuple[int | None, int | None]) -> tuple[int, int] | None:
    """Both counts, or None if one is unknown."""
    prompt, completion = usage
    return None if prompt is None or completion is None else (prompt, completion)


def name_in(value: object) -> str:
    """The name of a model or a build; empty if the value is not printable text."""
    is_name = isinstance(value, str) and len(value) <= _MAX_NAME and value.isprintable()
    return str(value) if is_name else ""


def is_token_count(value: object) -> TypeGuard[int]:
    """Whether it is an integer that can be the token count of a call."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_TOKENS
