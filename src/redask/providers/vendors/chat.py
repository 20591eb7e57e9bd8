"""The chat wire: what OpenAI-compatible hosts, Hugging Face and llama.cpp reply, read with care.

`ChatReply` takes the whole reply (`read`) or its chunks one by one (`hear`, which gives back the
piece of text), and makes the `Completion` at the end.

    finish_reason content_filter, or a `refusal`      ProviderRefused, with the usage it was billed
    an `error` in place of choices                    as `failures.of_body` says
    a stream that ended without a finish_reason       transport: it broke off
    a stream without a chunk, a reply without text    refused: nobody can read it
    usage that is no pair of sensible numbers         no usage

Replies are read as values of unknown shape: SDKs pass on what they get, whatever their types say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from redask.core.errors import Failure, ProviderFailed, ProviderRefused
from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.providers.vendors import failures
from redask.providers.vendors.connections import Unreadable

_MOST_TOKENS = 1 << 31  # more than any context; what is beyond is nonsense
_LONGEST_NAME = 256
_REFUSED = "content_filter"


@dataclass(slots=True)
class ChatReply:
    """One reply while it is read."""

    provider: str
    model: str
    key: str | None = field(default=None, repr=False)
    pieces: list[str] = field(default_factory=list)
    build: str = ""
    usage: tuple[int | None, int | None] = (None, None)
    refusal: str = ""
    finish: str = ""
    speechless: bool = False
    chunks: int = 0

    def read(self, reply: object) -> None:
        """Take a whole reply."""
        self._note(reply)
        choice = pick(reply, "choices", 0)
        message = pick(choice, "message")
        if message is None:
            raise Unreadable("its reply holds no answer")
        content = pick(message, "content")
        self.speechless = content is None
        self._take(content)
        self._end(choice, pick(message, "refusal"))
        self.finish = self.finish or "stop"  # a whole reply is whole

    def hear(self, chunk: object) -> str:
        """Take one chunk of a stream. → the text it adds."""
        self._note(chunk)
        choice = pick(chunk, "choices", 0)
        delta = pick(choice, "delta")
        piece = self._take(pick(delta, "content"))
        self._end(choice, pick(delta, "refusal"))
        return piece

    def completion(self) -> Completion:
        """The answer, if it is one."""
        billed = whole_usage(self.usage)
        if self.refusal or self.finish == _REFUSED:
            words = failures.clean(self.refusal, self.key) or "its filter stopped the answer"
            raise ProviderRefused(self.provider, f"it refused: {words}", billed=billed)
        if self.speechless:
            raise ProviderRefused(self.provider, "its reply holds no answer", billed=billed)
        if not self.chunks:
            raise ProviderRefused(self.provider, "its reply is empty")
        if not self.finish:
            raise ProviderFailed(self.provider, Failure.TRANSPORT, "the stream broke off")
        return Completion("".join(self.pieces), self.model, *self.usage, self.build)

    def _note(self, reply: object) -> None:
        """What every part of a reply may say: an error, the model, the build, the usage."""
        error = pick(reply, "error")
        if error:
            raise failures.of_body(self.provider, error, self.key)
        self.chunks += 1
        self.model = name_in(pick(reply, "model")) or self.model
        self.build = name_in(pick(reply, "system_fingerprint")) or self.build
        reported = pick(reply, "usage")
        if reported is not None:
            self.usage = counts(
                pick(reported, "prompt_tokens"), pick(reported, "completion_tokens")
            )

    def _take(self, content: object) -> str:
        if content is None:
            return ""
        if not isinstance(content, str):
            raise Unreadable("its answer is no text")
        if content:
            self.pieces.append(content)
        return content

    def _end(self, choice: object, refusal: object) -> None:
        if isinstance(refusal, str):
            self.refusal += refusal
        finish = pick(choice, "finish_reason")
        if isinstance(finish, str):
            self.finish = finish


def messages(prompt: Prompt) -> list[dict[str, str]]:
    """A prompt as chat messages."""
    return [
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    ]


def knobs_sent(knobs: Knobs) -> dict[str, float]:
    """The knobs as fields of a request; what is None is not sent."""
    pairs = (("temperature", knobs.temperature), ("seed", knobs.seed))
    return {name: value for name, value in pairs if value is not None}


def pick(value: object, *path: str | int) -> object:
    """What stands at a path inside mappings, lists and objects; None where there is nothing."""
    for step in path:
        if isinstance(step, int):
            inside = isinstance(value, Sequence) and not isinstance(value, str | bytes)
            value = value[step] if inside and len(value) > step else None  # type: ignore[arg-type,index]
        elif isinstance(value, Mapping):
            value = value.get(step)
        else:
            value = None if isinstance(value, str | bytes) else getattr(value, step, None)
    return value


def counts(prompt: object, completion: object) -> tuple[int | None, int | None]:
    """Token counts, if both are sensible."""
    if sensible(prompt) and sensible(completion):
        return prompt, completion
    return None, None


def whole_usage(usage: tuple[int | None, int | None]) -> tuple[int, int] | None:
    """Both counts, or nothing."""
    prompt, completion = usage
    return None if prompt is None or completion is None else (prompt, completion)


def name_in(value: object) -> str:
    """A model's or a build's name, if it is one."""
    fits = isinstance(value, str) and len(value) <= _LONGEST_NAME and value.isprintable()
    return str(value) if fits else ""


def sensible(value: object) -> TypeGuard[int]:
    """Whether it is a number of tokens that a call could have."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS
