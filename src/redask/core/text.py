"""Characters that names and questions may not hold: `forbidden(text)` finds the first.

    where                                                    not allowed
    tenant, user, role, provider, model, collection names    C0 controls, 0x7F, lone surrogates
    a question (`lines=True`)                                the same but for tab, LF, CR

Every transport refuses them. Two reasons: hashes join such texts with 0x1f, and are injective
only if no part can hold it; and lone surrogates have no UTF-8.
Nothing is normalised. `lower` folds ASCII letters alone, so that the Kelvin sign is not a k.

`compiled_later` is for large patterns of a module: compiling all of them takes longer than a short
command has to do, and most commands use few.
"""

import re
import string
from collections.abc import Callable
from typing import Any, cast

MAX_NAME = 256
MAX_QUESTION_BYTES = 32 * 1024

_IN_NAMES = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_IN_QUESTIONS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
# the same for schemas: a question with something in it, a name
QUESTION_PATTERN = (
    r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$"
)
NAME_PATTERN = r"^[^\x00-\x1f\x7f]*$"
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def compiled_later(written: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """The pattern, compiled when it is first used; a function writes it just then."""
    return cast(re.Pattern[str], _CompiledLater(written, flags))


class _CompiledLater:
    """Stands for a pattern; from the first use on it has the methods of that pattern."""

    def __init__(self, written: str | Callable[[], str], flags: int) -> None:
        self._written, self._flags = written, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what copying and pickling ask for
            raise AttributeError(name)
        written = self._written() if callable(self._written) else self._written
        found = getattr(re.compile(written, self._flags), name)
        setattr(self, name, found)
        return found


def forbidden(text: str, *, lines: bool = False) -> int | None:
    """The position of the first forbidden character, or None when all are allowed."""
    found = (_IN_QUESTIONS if lines else _IN_NAMES).search(text)
    return found.start() if found else None


def name_fault(name: str) -> str | None:
    """What is wrong with a name, in words that complete "the name …", or None."""
    if not name:
        return "is empty"
    if len(name) > MAX_NAME:
        return f"is longer than {MAX_NAME} characters"
    position = forbidden(name)
    return None if position is None else f"holds the character {codepoint(name[position])}"


def question_fault(question: str) -> str | None:
    """What is wrong with a question, in words that complete "the question …", or None."""
    position = forbidden(question, lines=True)
    if position is not None:
        return f"holds the character {codepoint(question[position])} at position {position + 1}"
    size = len(question.encode())
    if size > MAX_QUESTION_BYTES:
        return f"is {size} bytes long, more than {MAX_QUESTION_BYTES}"
    return "is blank" if not question.strip() else None


def lower(token: str) -> str:
    """The token with ASCII capitals lowered and everything else as it was."""
    return token.translate(_LOWER)


def codepoint(character: str) -> str:
    """A character by its number, safe to print: `U+001F`."""
    return f"U+{ord(character):04X}"
