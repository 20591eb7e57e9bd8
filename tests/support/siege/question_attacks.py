"""Attacks by questions of 32 KB: `SHAPES` of them, asked, explained and searched by `questions`."""

import random
from collections.abc import Callable

from siege.attack import Target, at_once
from siege.clients import posted

MOST = 32 * 1024
AT_ONCE = 16
_rng = random.Random(1)
_WORDS = """timeout client request response proxy header cookie redirect stream async exception file
films cinema capacity director year title average how many which most each between before after not
and or the of httpx python version ssl certificate transport event hook""".split()


def _cut(text: str) -> str:
    return text.encode()[:MOST].decode(errors="ignore")


def _drawn(pieces: list[str], joint: str = " ") -> str:
    return _cut(joint.join(_rng.choices(pieces, k=MOST // 2)))


def _letters(least: int, most: int) -> str:
    size = _rng.randrange(least, most)
    return "".join(_rng.choices("abcdefghijklmnopqrstuvwxyz", k=size))


SHAPES: dict[str, str] = {
    "words of the data": _drawn(_WORDS),
    "words nobody has": _cut(" ".join(_letters(3, 12) for _ in range(6000))),
    "one long word": "a" * MOST,
    "names": _cut(" ".join(_letters(2, 8).title() for _ in range(6000))),
    "numbers": _cut(" ".join(str(_rng.randrange(10**6)) for _ in range(6000))),
    "dates": _cut(" ".join(f"{_rng.randrange(1900, 2100)}-01-02" for _ in range(3000))),
    "conditions": _cut("How many films " + "and year greater than 3 or title not x " * 900),
    "comparisons": _cut("films with more than 3 cinema per director between 1 and 2 " * 600),
    "quotations": _cut('"timeout" ' * 4000),
    "open quotations": _cut('"a ' * 12000),
    "brackets": _cut("([{<" * 9000),
    "points": _cut("a.b?c!" * 6000),
    "marks": _cut("e\u0301\u0302\u0303" * 6000),
    "chinese": _cut("超时的默认值是多少" * 2000),
    "addresses": _cut("https://example.org/a?b=c " * 1500),
    "footnotes": _cut("[^1][^^2] " * 4000),
    "misspelt": _cut(" ".join(each[:-1] + "q" for each in _rng.choices(_WORDS, k=6000))),
    "glued": _cut("".join(_rng.choices(_WORDS, k=6000))),
    "hyphens": _cut("-".join(_rng.choices(_WORDS, k=6000))),
}
QUESTIONS = list(SHAPES.values())
_TURN = {"question": "How many films are there? " * 600, "answer": "Of Alpha it and them. " * 700}


def questions(path: str, *, history: bool = False) -> Callable[[Target], None]:
    """Send every shape at once and again to one address."""
    options: dict[str, object] = {"nocache": True, "limit": 200, "depth": 10}
    if history:
        options["history"] = [{key: text[:16_000] for key, text in _TURN.items()}] * 2

    def run(target: Target) -> None:
        position = list(range(AT_ONCE))

        def one(_: Target, number: int) -> None:
            question = QUESTIONS[position[number] % len(QUESTIONS)]
            position[number] += 1
            target.note(posted(target, path, {"question": question, "options": options}))

        at_once(target, AT_ONCE, one)

    return run
