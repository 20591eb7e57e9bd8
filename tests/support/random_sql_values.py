"""Random texts and numbers for comparing functions with a real PostgreSQL."""

from random import Random

LETTERS = [
    *"aabbcABC  xyz019_%\\.-,'\"\t\n|()[]{}*+?^$",
    *["ä", "Ä", "é", "e\u0301", "ß", "İ", "ı", "ǅ", "日", "😀", "👨‍👩‍👧", "🇩🇪", "\u200d", "ﬁ", "Σ"],
    *["\u00a0", "\u3000", "\x01", "\x7f", "\ufeff", "\U0010ffff"],
]


def text(random: Random, longest: int = 8, letters: list[str] | None = None) -> str:
    choice = letters or LETTERS
    return "".join(random.choice(choice) for _ in range(random.randint(0, longest)))


def value(random: Random, type_name: str) -> object:
    """A value of text, int4, int8 or text[]; now and then at the edge."""
    if type_name == "text":
        return text(random, random.choice([1, 2, 8, 20]))
    if type_name == "int4":
        return random.choice([random.randint(-8, 12)] * 9 + [2**31 - 1, -(2**31)])
    if type_name == "int8":
        return random.choice([random.randint(-300, 300), 2**63 - 1, -(2**63)])
    if type_name == "text[]":
        return [
            None if random.random() < 0.2 else text(random, 4) for _ in range(random.randint(0, 4))
        ]
    raise ValueError(type_name)
