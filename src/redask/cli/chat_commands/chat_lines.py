"""What a line of `redask chat` means: `read`.

1, [^1], /source 1, /source URN     show a source of the last answer
/new                                begin anew: what was said so far is forgotten
/help, /quit                        (/exit)
/word                               no such command
anything else                       a question, also `/etc/hosts is what?`
"""

import re
from dataclasses import dataclass
from enum import Enum, auto

_NUMBER = re.compile(r"\d{1,9}|\[\^\d{1,9}\]", re.ASCII)
_COMMAND = re.compile(r"/([A-Za-z]+)(?:\s+(.*))?", re.DOTALL)


class Wish(Enum):
    """What somebody wants."""

    NOTHING = auto()
    QUESTION = auto()
    SOURCE = auto()
    NEW = auto()
    HELP = auto()
    QUIT = auto()
    UNKNOWN = auto()


_COMMANDS = {
    "source": Wish.SOURCE,
    "new": Wish.NEW,
    "help": Wish.HELP,
    "quit": Wish.QUIT,
    "exit": Wish.QUIT,
}


@dataclass(frozen=True, slots=True)
class ChatLine:
    """A wish, and what it is about: the question, the source, the word that is no command."""

    wish: Wish
    text: str = ""


def read(line: str) -> ChatLine:
    """What a line means."""
    said = line.strip()
    if not said:
        return ChatLine(Wish.NOTHING)
    if _NUMBER.fullmatch(said):
        return ChatLine(Wish.SOURCE, said)
    command = _COMMAND.fullmatch(said)
    if command is None:
        return ChatLine(Wish.QUESTION, said)
    word, rest = command[1], (command[2] or "").strip()
    wish = _COMMANDS.get(word.lower(), Wish.UNKNOWN)
    if wish is Wish.UNKNOWN or (rest and wish is not Wish.SOURCE):
        return ChatLine(Wish.UNKNOWN, said)
    return ChatLine(wish, rest)
