"""The last answer that was printed: what `show N`, `ask --follow` and `chat --follow` refer to.

One small file for each database, tenant and user, in the state directory of whoever is at the
terminal ($XDG_STATE_HOME, else ~/.local/state), readable by nobody else. It holds the turns of the
conversation, and of the last answer the URNs and the quoted words; never a source, which is read
again when it is shown, as its reader may see it then. What cannot be kept is not kept.
"""

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from redask.core.model import Answer, Caller, Turn
from redask.core.wire import plain_text

_MOST_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A source of the last answer: its URN, and what the answer took from it."""

    urn: str
    quotes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """The turns so far, the last of them what was answered, and the sources of that."""

    turns: tuple[Turn, ...] = ()
    sources: tuple[ShownSource, ...] = ()


def keep(location: str, caller: Caller, turns: tuple[Turn, ...], answer: Answer) -> LastAnswer:
    """Remember an answer that was printed; `turns` are those so far, the last of them its own."""
    quoted = plain_text.quotes(answer)
    sources = tuple(
        ShownSource(source.urn, quoted.get(marker, ()))
        for marker, source in enumerate(answer.sources_flat, start=1)
    )
    last = LastAnswer(turns, sources)
    file = _file(location, caller)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = file.with_suffix(f".{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            json.dump(asdict(last), out)
        draft.replace(file)
    return last


def read(location: str, caller: Caller) -> LastAnswer:
    """What was kept of the last answer; nothing, if there is none."""
    try:
        file = _file(location, caller)
        if file.stat().st_size > _MOST_BYTES:
            return LastAnswer()
        kept = json.loads(file.read_text(encoding="utf-8"))
        sources = (ShownSource(each["urn"], tuple(each["quotes"])) for each in kept["sources"])
        turns = (Turn(each["question"], each["answer"]) for each in kept["turns"])
        return LastAnswer(tuple(turns), tuple(sources))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return LastAnswer()


def _file(location: str, caller: Caller) -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    named = "\x1f".join((os.path.realpath(location), caller.tenant, caller.user))
    digest = hashlib.sha256(named.encode("utf-8", "surrogateescape")).hexdigest()
    return Path(state) / "redask" / "answers" / f"{digest[:32]}.json"
