"""The messages of a chat as a question and what went before: `read(messages)`.

    the last message     the question; it must be the user's, and text
    user, then           a turn, as the option `history` has them; what nobody answered is a turn
    assistant            with an empty answer, what answers nobody is left out
    system, developer    left out: what a provider is told is fixed, audited and the same for all;
                         words that could loosen it are no part of a question
    anything else        `BadAsk`

Content is a text, or a list of parts of which the texts count. Anything but text in the question is
refused, for it was meant; in earlier messages it is left out. What was left out is named by its
path. The newest turns that are within the bounds of a history go along; a question that could not
have been asked is no turn. An answer is what we said in it: see `chat_text.answer_of`. More than
MAX_MESSAGES are refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from redask.core.errors import BadAsk
from redask.core.model import Turn
from redask.core.text import question_fault
from redask.core.values import MAX_TURNS, newest_turns, shown
from redask.core.wire.chat.chat_text import answer_of

MAX_MESSAGES = 10_000
ROLES = ("system", "developer", "user", "assistant")


@dataclass(frozen=True, slots=True)
class ChatTurns:
    """A question, the turns before it, and the paths of what was left out."""

    question: str
    history: tuple[Turn, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Message:
    path: str
    role: str
    text: str
    left_out: tuple[str, ...]  # of its content


def read(value: object) -> ChatTurns:
    """The question and the turns of `messages`."""
    if not isinstance(value, list) or not value:
        raise BadAsk("messages: expected a list of messages", detail="messages")
    if len(value) > MAX_MESSAGES:
        found = f"expected at most {MAX_MESSAGES} messages, found {len(value)}"
        raise BadAsk(f"messages: {found}", detail="messages")
    messages = [_message(each, f"messages[{number}]") for number, each in enumerate(value)]
    *earlier, last = messages
    if last.role != "user":
        raise BadAsk(f"{last.path}: expected a message of the user last", detail=last.path)
    if last.left_out:
        path = last.left_out[0]
        raise BadAsk(f"{path}: expected text, which is all that can be asked", detail=path)
    left_out = [path for each in earlier for path in each.left_out]
    left_out += [each.path for each in earlier if each.role in ("system", "developer")]
    return ChatTurns(last.text, newest_turns(_turns(earlier)), tuple(sorted(left_out)))


def _turns(messages: Sequence[_Message]) -> list[Turn]:
    """The newest turns, as many as a history may have; older messages are not looked at."""
    turns: list[Turn] = []
    said: list[str] = []  # since the question that is yet to be met, newest first
    for each in reversed(messages):
        if each.role == "assistant":
            said.append(answer_of(each.text))
        elif each.role == "user":
            if question_fault(each.text) is None:
                turns.append(Turn(each.text, "\n".join(filter(None, reversed(said)))))
            said.clear()
            if len(turns) == MAX_TURNS:
                break
    return turns[::-1]


def _message(value: object, path: str) -> _Message:
    if not isinstance(value, dict):
        raise BadAsk(f"{path}: expected an object with role and content", detail=path)
    role = value.get("role")
    if role not in ROLES:
        found = f"expected one of {', '.join(ROLES)}, found {shown(role)}"
        raise BadAsk(f"{path}.role: {found}", detail=f"{path}.role")
    content, where = value.get("content"), f"{path}.content"
    if isinstance(content, str):
        return _Message(path, role, content, ())
    if content is None and role == "assistant":  # it called a tool of somebody else's
        return _Message(path, role, "", ())
    if not isinstance(content, list):
        raise BadAsk(f"{where}: expected a text, or a list of parts", detail=where)
    parts = [_part(each, f"{where}[{number}]") for number, each in enumerate(content)]
    texts = [text for text, _ in parts if text is not None]
    return _Message(
        path, role, "\n".join(texts), tuple(path for text, path in parts if text is None)
    )


def _part(value: object, path: str) -> tuple[str | None, str]:
    """The text of a part, if it is one, and its path."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(kind, str):
        raise BadAsk(f"{path}: expected an object with a type", detail=path)
    if kind not in ("text", "refusal"):
        return None, path
    text = value.get(kind)
    if not isinstance(text, str):
        raise BadAsk(f"{path}.{kind}: expected a text", detail=f"{path}.{kind}")
    return text, path
