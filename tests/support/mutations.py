"""How a message goes bad: bytes, JSON values, and questions that can be told apart later.

`mangled` damages bytes, `twisted` a JSON value, `Asked` remembers which questions were answered so
that their audit rows can be counted. All draw from one `random.Random`: a seed repeats a run.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

SPICE = [
    b"\x00", b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"\xf0\x9f", b"\r\n", b"\n", b"\r", b'"',
    b"\\", b"{", b"}", b"[", b"]", b":", b",", b"\\ud800", b"\\u0000", b"NaN", b"1e999", b"-",
    b"null", b"\x1f\x8b", b"\xe2\x80\xa8", b"%00", b"%", b"..", b"/", b"'", b"--", b" " * 40,
    b"9" * 400,
]  # fmt: skip
ODD: list[Any] = [
    None, True, False, 0, -1, 1.5, 20.0, 2**63, 2**64, -(2**70), 1e308, "", " ", "x", "\x00",
    "\x7f", "ferry\nferry", "ﬁ ﬀ Ω \U0001f6a2", "'; DROP", "[^1]", "</source>", [], [None], {},
    {"a": {}}, [[[[]]]], "extractive", "5m", "0s", "a,b", "y" * 3000, {"ttl": "5m"}, {"ttl": 7},
    ["notes", 7],
]  # fmt: skip
OPTIONS = """strict using model collection limit min_score depth temperature seed cache nocache
stream explain Limit limit\u0000 __proto__""".split()


@dataclass
class Asked:
    """The questions of a run, each its own, and how often each was answered."""

    name: str = "the ferry"
    answered: Counter[str] = field(default_factory=Counter)
    _numbers: Iterator[int] = field(default_factory=count)  # as threads may share it

    def new(self) -> str:
        return f"When does {self.name} {next(self._numbers)} leave, the ferry?"

    def receive(self, question: str) -> None:
        """An envelope came for this question."""
        self.answered[question] += 1


def mangled(rng: random.Random, message: bytes) -> bytes:
    """The message, damaged in one to four places."""
    made = bytearray(message)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(made) + 1)
        match rng.randrange(7):
            case 0:
                made[at:at] = rng.choice(SPICE)
            case 1:
                del made[at : at + rng.choice((1, 2, 8, 64))]
            case 2:
                del made[at:]
            case 3 if at < len(made):
                made[at] ^= 1 << rng.randrange(8)
            case 4:
                made[at : at + 4] = rng.randbytes(4)
            case 5:
                end = rng.randrange(len(made) + 1)
                made = made[end:] + made[:end]
            case _:
                made[at:at] = made[at : at + rng.choice((1, 16, 200))]
    return bytes(made)


def options(rng: random.Random) -> dict[str, Any]:
    """Options, of which one or two are probably wrong."""
    chosen = {rng.choice(OPTIONS): rng.choice(ODD) for _ in range(rng.choice((1, 1, 2, 3)))}
    return {"using": "scripted", **chosen}


def twisted(rng: random.Random, value: object) -> object:
    """A JSON value with one thing exchanged, gone or too much."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        name = rng.choice(list(value))
        match rng.randrange(5):
            case 0:
                return {key: item for key, item in value.items() if key != name}
            case 1:
                return {**value, rng.choice(OPTIONS): rng.choice(ODD)}
            case _:
                return {**value, name: twisted(rng, value[name])}
    if isinstance(value, list) and value and rng.random() < 0.7:
        return [twisted(rng, each) if rng.random() < 0.5 else each for each in value] * 2
    return rng.choice(ODD)


def written(value: object) -> bytes:
    """A value as JSON, as a client in a hurry writes it."""
    return json.dumps(value).encode()


def bad_json(rng: random.Random, value: object) -> bytes:
    """A message that is probably refused: no JSON, or JSON of the wrong shape."""
    kind = rng.random()
    if kind < 0.45:
        return written(twisted(rng, value))
    if kind < 0.9:
        return mangled(rng, written(value))
    if kind < 0.93:
        return b"[" * rng.choice((50, 101, 5000)) + b"]" * rng.choice((50, 101))
    if kind < 0.96:
        return rng.randbytes(rng.randrange(200))
    return b'{"question": "' + b"a" * rng.choice((100, 10_000)) + b'"' + b" " * rng.randrange(99)
