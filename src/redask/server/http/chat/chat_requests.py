"""What a chat program sends, read: `read` the body of POST /v1/chat/completions.

    messages           question and history: see `core.wire.chat.chat_turns`
    model              the database's name; whether it is that one is for the route to say
    stream             true or false; `stream_options.include_usage` likewise
    seed               the clause SEED
    redask             our own: `options`, the other clauses of an ask, and `sources_in_text`
    REFUSED            what would have another meaning than an answer has here
    everything else    ignored, and named so in the reply. Chat programs send their defaults for
                       temperature, top_p and the like: whoever means them says so in
                       `redask.options`, or equal questions had other answers

null is nothing given, as in that API.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from redask.core.clauses import from_options
from redask.core.errors import BadAsk
from redask.core.model import Ask
from redask.core.wire.chat import chat_turns
from redask.server import request_json

_READ = ("messages", "model", "stream", "stream_options", "seed", "redask")
_CHOICES = (lambda value: value in ("none", "auto"), "no tool is called here")
REFUSED: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "n": (lambda value: value == 1 and value is not True, "there is one answer to a question"),
    "tool_choice": _CHOICES,
    "function_call": _CHOICES,
    "response_format": (
        lambda value: isinstance(value, dict) and value.get("type") == "text",
        "an answer is text with footnotes",
    ),
    "logprobs": (lambda value: value is False, "an answer has no probabilities"),
    "modalities": (lambda value: value == ["text"], "an answer is text with footnotes"),
    "audio": (lambda _: False, "an answer is text with footnotes"),
}
MOST_NAMED = 50


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A question as a chat program asks it; `sources_in_text` is None where nothing was said."""

    ask: Ask
    model: str
    stream: bool = False
    include_usage: bool = False
    sources_in_text: bool | None = None
    ignored: tuple[str, ...] = ()


def read(value: object) -> ChatRequest:
    """The request; `BadAsk` names the field that is wrong."""
    if not isinstance(value, dict):
        raise BadAsk("body: expected an object", detail="body")
    given = {name: each for name, each in value.items() if each is not None}
    model = given.get("model")
    if not isinstance(model, str):
        raise BadAsk("model: expected the name of a model, see /v1/models", detail="model")
    for name, (is_fine, reason) in REFUSED.items():
        if name in given and not is_fine(given[name]):
            raise BadAsk(f"{name}: {reason}", detail=name)
    turns = chat_turns.read(given.get("messages"))
    own = request_json.fields(given.get("redask", {}), ("options", "sources_in_text"), "redask")
    ignored = [*turns.left_out, *(set(given) - set(_READ) - set(REFUSED))]
    streaming = given.get("stream_options", {})
    if not isinstance(streaming, dict):
        raise BadAsk("stream_options: expected an object", detail="stream_options")
    return ChatRequest(
        _ask(turns, given, own),
        model,
        _flag(given, "stream") or False,
        _flag(streaming, "include_usage", "stream_options.") or False,
        _flag(own, "sources_in_text", "redask."),
        tuple(name[:100] for name in sorted(ignored)[:MOST_NAMED]),
    )


def _ask(
    turns: chat_turns.ChatTurns, given: Mapping[str, object], own: Mapping[str, object]
) -> Ask:
    options = own.get("options", {})
    if isinstance(options, dict):
        if "history" in options:
            where = "redask.options.history"
            raise BadAsk(f"{where}: the messages are the history", detail=where)
        if "seed" in given and "seed" not in options:
            from_options(turns.question, {"seed": given["seed"]}, where="")
            options = {**options, "seed": given["seed"]}
        history = [{"answer": each.answer, "question": each.question} for each in turns.history]
        options = {**options, "history": history}
    asked = {"question": turns.question, "options": options}
    return request_json.asked(asked, where="redask.options.")


def _flag(given: Mapping[str, object], name: str, where: str = "") -> bool | None:
    value = given.get(name)
    if value is not None and not isinstance(value, bool):
        raise BadAsk(f"{where}{name}: expected true or false", detail=f"{where}{name}")
    return value
