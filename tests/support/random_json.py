"""Random JSON texts, with blanks, equal keys and rare spellings, for comparing with PostgreSQL."""

from random import Random

NUMBERS = "0 -0 1 1.0 1.50 -2 1e2 1E-3 1.50e1 0.0 -0.00 12345678901234567890.5 1e30 2 3".split()
STRINGS = [
    '""',
    '"a"',
    '"b"',
    '"bb"',
    '"ä"',
    '"\\u00e4"',
    '"x\\ny"',
    '"\\u0001"',
    '"\\ud83d\\ude00"',
]
STRINGS += ['"a\\"b"', '"\\/"', '"\\\\"', '"1"', '"0"', '"日"']
BAD = ["", "{", "[1,]", '{"a":}', "nul", "01", "1.", '"\t"', '"\\x"', "[1 2]", '{"a" 1}', "1 2"]
BAD += ["'a'", "{a:1}", '"\\u12g4"', "NaN", "-", "[,1]", "{,}", '{"a":1,}', "\u00a01", "1a"]
BAD += ['"\\u0000"', '["\\ud800"]', '{"\\u0000":1}', '["\\ude00\\ud83d"]', "1e200000", "1e-20000"]


def json_value(random: Random, depth: int = 0) -> str:
    def blank() -> str:
        return random.choice(["", "", "", " ", "\n", "\t "])

    kind = random.random()
    if depth < 3 and kind < 0.3:
        inner = [json_value(random, depth + 1) for _ in range(random.randint(0, 4))]
        return "[" + blank() + ",".join(blank() + each + blank() for each in inner) + "]"
    if depth < 3 and kind < 0.65:
        pairs = [
            random.choice(STRINGS) + blank() + ":" + blank() + json_value(random, depth + 1)
            for _ in range(random.randint(0, 4))
        ]
        return "{" + blank() + ("," + blank()).join(pairs) + blank() + "}"
    if kind < 0.85:
        return random.choice(NUMBERS)
    return random.choice([*STRINGS, "true", "false", "null"])


def json_text(random: Random) -> str:
    """A JSON text, now and then a faulty one."""
    if random.random() < 0.03:
        return random.choice(BAD)
    blank = random.choice(["", "", " "])
    return blank + json_value(random) + blank
