"""`make fuzz`: a million hostile inputs for every parser of text, and no violation of a contract.

    python tests/fuzz/fuzz_rules.py --inputs 1000000 --seed 7

Each target makes an input (a valid one, mutated, or garbage), runs the rule and checks what must
hold whatever came in. The only exception allowed out is the target's own `AskError`, and its text
must be printable somewhere: it has a UTF-8 form. A violation prints the input and ends with 1.
"""

import argparse
import itertools
import json
import math
import multiprocessing
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from redask.core import clauses, text
from redask.core.errors import AskError, BadStatement, BadTtl, BadUrn, NotCanonical
from redask.core.model import Strictness
from redask.core.rules import caching, citations, urn
from redask.core.wire import json as canonical

U64 = 2**64 - 1
BIG = 7**9000  # more digits than int() reads
CHUNK = 2_000
SECONDS_PER_INPUT = 5
UNICODE = "é１٣²年ि\u200d\u2028\x85\ufeff😀\U0010ffff\ud800\udfff\0\x1f\x7f\u212a"


class Violation(Exception):
    """An invariant that does not hold."""


def require(holds: bool, promise: str) -> None:
    if not holds:
        raise Violation(promise)


# --- making inputs ----------------------------------------------------------------------


def garbage(rng: random.Random, tokens: Sequence[str]) -> str:
    return "".join(rng.choices(tokens, k=rng.randrange(24)))


def mutated(rng: random.Random, valid: str, tokens: Sequence[str]) -> str:
    """`valid` after up to four cuts, insertions, repetitions and replacements."""
    for _ in range(rng.choice((0, 0, 1, 1, 2, 4))):
        start = rng.randrange(len(valid) + 1)
        end = min(len(valid), start + rng.choice((0, 0, 1, 1, 2, 5, 20)))
        kind = rng.randrange(4)
        middle = rng.choice(tokens) if kind == 1 else valid[start:end] * (0, 0, 2, 40)[kind]
        valid = valid[:start] + middle + valid[end:]
    return valid


def any_text(rng: random.Random) -> str:
    return "".join(rng.choices(UNICODE + "ab'\"\\ \n%/:#[^]{}0123", k=rng.randrange(9)))


STATEMENT_TOKENS = [
    *"'\"?$;,.-/*()0159eE_\\ \t\r\n" + UNICODE,
    *"'' \"\" -- /* */ $1 $2 1e 1e999 .5 5. 0x1 -1 select ASK EXPLAIN USING MODEL".split(),
    *"LIMIT MIN_SCORE DEPTH STRICT ON OFF STREAM TEMPERATURE SEED CACHE TTL NOCACHE".split(),
    *("COLLECTION", "9" * 5000),
]
CLAUSES = f"""
USING openai|using 'a, B,,c'|MODEL 'gpt''4'|COLLECTION a|collection a, "b ""c"|LIMIT 5|LIMIT 200|
LIMIT 201|MIN_SCORE .5|min_score 1e-1|DEPTH 0|DEPTH 10|STRICT ON|Strict Off|STREAM|TEMPERATURE 2|
TEMPERATURE 2.1|SEED 0|SEED {U64}|SEED {U64 + 1}|CACHE TTL '5m'|CACHE TTL '0s'|NOCACHE|-- note
|/* a /* b */ */""".split("|")
PARAMS: tuple[Sequence[object], ...] = ((), ("why?",), ("",), ("\ud800",), (5,), ("a", "b"), "why?")


def make_statement(rng: random.Random) -> tuple[str, Sequence[object]]:
    if rng.random() < 0.15:
        return garbage(rng, STATEMENT_TOKENS), rng.choice(PARAMS)
    question = rng.choice(("'why?'", "$1", "?", "'it''s\n[^1]'", f"'{any_text(rng)}'"))
    fitting = () if question.startswith("'") else ("why?",)
    params = rng.choice(PARAMS) if rng.random() < 0.1 else fitting
    head = rng.choice(("ASK", "ask", "EXPLAIN ASK", "explain\nask"))
    parts = [head, question, *rng.sample(CLAUSES, rng.randrange(5)), rng.choice(("", ";", "; "))]
    return mutated(rng, rng.choice((" ", "\n", "\t ")).join(parts), STATEMENT_TOKENS), params


ANSWER_TOKENS = [
    *"[[^^]]\\\\``0123a \t\r\n\n~-" + UNICODE,
    *"[^1] [^2] [^0] [^ ``` [^4294967296]".split(),
    *("\n```\n", "a" * 16, "1" * 17, "9" * 5000),
]


def make_answer(rng: random.Random) -> tuple[str, int]:
    valid = "Sky is blue[^1].\n```\ncode [^2]\n```\nIt \\[^3] rains[^2], mostly[^12]."
    made = mutated(rng, valid, ANSWER_TOKENS) if rng.random() < 0.5 else garbage(rng, ANSWER_TOKENS)
    return made, rng.randrange(14)


URN_TOKENS = [
    *"%/#:. a" + UNICODE,
    *"urn: reddb: row: document: %C3%A9 %c3 %41 %ED%A0%80 %2F %zz".split(),
]
URNS = ["urn:reddb:row:a/1", "urn:reddb:document:docs/a%20b#p%231", "urn:reddb:kv:%F0%9F%98%80/x"]


def make_urn(rng: random.Random) -> str:
    if rng.random() < 0.2:
        return rng.choice(("", "urn:reddb:", "urn:reddb:row:")) + garbage(rng, URN_TOKENS)
    return mutated(rng, rng.choice(URNS), URN_TOKENS)


TTL_TOKENS = [*"0123456789smhdSM -+.e_" + UNICODE, "9" * 20, "9" * 5000, "0" * 30]


def make_ttl(rng: random.Random) -> str:
    if rng.random() < 0.2:
        return garbage(rng, TTL_TOKENS)
    most = U64 // rng.choice((1, 60, 3600, 86_400))
    number = rng.choice((rng.randrange(100), most + rng.randrange(2)))
    return mutated(rng, f"{number}{rng.choice('smhd')}", TTL_TOKENS)


DOUBLES = [0.0, -0.0, 0.1, 1e16, 1e-7, 5e-324, 1.7976931348623157e308, -1.5]
POISONS: list[object] = [math.nan, math.inf, -math.inf, "\ud800", {1: 2}, {None: 1}, b"x", {1}, 1j]


def make_value(rng: random.Random, depth: int = 0) -> object:
    """A JSON value; somewhere in one of five, there is something that has no canonical form."""
    if depth == 0 and rng.random() < 0.2:
        return wrapped(rng, rng.choice(POISONS))
    kind = rng.randrange(8 if depth < 4 else 6)
    if kind == 0:
        return rng.choice((None, True, False))
    if kind == 1:
        large = BIG if rng.random() < 0.1 else rng.getrandbits(200)
        return rng.choice((0, -1, U64, 2**53 + 1, -(10**30), large, -large))
    if kind == 2:
        return rng.choice(DOUBLES)
    if kind == 3:
        return rng.random() * 10.0 ** rng.randrange(-300, 300)
    if kind < 6:
        return proper(any_text(rng))
    items = [make_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 6:
        return rng.choice((items, tuple(items)))
    return {proper(any_text(rng)): item for item in items}


def wrapped(rng: random.Random, value: object) -> object:
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 3, 3, 300))):
        value = rng.choice(([value], {any_text(rng): value}, [1, value]))
    return value


def proper(string: str) -> str:
    return string.encode(errors="ignore").decode()


# --- what must hold ---------------------------------------------------------------------


def check_error(error: AskError, own: type[AskError]) -> None:
    require(type(error) is own, f"the error is a {own.__name__}")
    require(bool(error.message), "an error has a message")
    require(encodable(error.message) and encodable(error.detail), "an error's text has UTF-8")
    require(len(error.message) < 2_000, "an error is short")


def encodable(string: str) -> bool:
    return proper(string) == string


def check_statement(made: tuple[str, Sequence[object]]) -> None:
    statement, params = made
    try:
        ask = clauses.parse(statement, params)
    except BadStatement as error:
        check_error(error, BadStatement)
        lines = statement.split("\n")
        require(1 <= error.line <= len(lines), "the line is a line of the statement")
        require(1 <= error.column <= len(lines[error.line - 1]) + 1, "the column is on that line")
        require(bool(error.found and error.expected), "found and expected are not empty")
        return
    require(text.question_fault(ask.question) is None, "the question is allowed")
    require(1 <= ask.limit <= 200 and 0 <= ask.depth <= 10, "limit and depth are in range")
    require(ask.min_score is None or 0 <= ask.min_score <= 1, "min_score is in range")
    require(ask.temperature is None or 0 <= ask.temperature <= 2, "temperature is in range")
    require(ask.seed is None or 0 <= ask.seed <= U64, "the seed is a u64")
    require(ask.cache_ttl is None or (0 < ask.cache_ttl <= U64 and not ask.nocache), "the TTL fits")
    require(ask.strict is None or isinstance(ask.strict, Strictness), "strict is a Strictness")
    require(not (ask.explain and ask.stream), "EXPLAIN does not stream")
    names = (*ask.collections, *ask.using, *([] if ask.model is None else [ask.model]))
    require(not any(map(text.name_fault, names)), "names are allowed")


def check_answer(made: tuple[str, int]) -> None:
    answer, sources_count = made
    parsed = citations.parse(answer, sources_count)
    beyond = []
    for found in parsed.citations:
        require(answer[slice(*found.span)] == f"[^{found.marker}]", "a span slices to its marker")
        require(0 <= found.source_index == found.marker - 1 < 2**32, "the index is the marker's")
        if found.marker > sources_count:
            beyond.append(found.span)
    out = [issue.span for issue in parsed.issues if issue.kind == "out_of_range"]
    require(out == beyond, "out of range is what lies beyond the count")
    malformed = [issue.span for issue in parsed.issues if issue.kind == "malformed"]
    require(len(malformed) + len(out) == len(parsed.issues), "there are two kinds of issue")
    for start, end in malformed:
        require(answer.startswith("[^", start), "a malformed marker starts with [^")
        require(answer.index("]", start) == end - 1, "and ends at the first ]")
    spans = sorted(malformed + [found.span for found in parsed.citations])
    for (_, end), (start, _) in itertools.pairwise(spans):
        require(end <= start, "spans do not overlap")


def check_urn(made: str) -> None:
    try:
        decoded = urn.decode(made)
    except AskError as error:
        check_error(error, BadUrn)
        return
    encoded = urn.encode(decoded)
    require(urn.decode(encoded) == decoded, "the round trip is stable")
    require(all("!" <= char <= "~" for char in encoded), "a URN is printable ASCII")
    require(len(encoded) <= len(made), "encoding adds nothing to what was decoded")


def check_ttl(made: str) -> None:
    try:
        seconds = caching.parse_ttl(made)
    except AskError as error:
        check_error(error, BadTtl)
        return
    require(0 < seconds <= U64, "a TTL is a u64 above 0")
    scale = {"s": 1, "m": 60, "h": 3600, "d": 86_400}[made[-1]]
    require(made[:-1].isascii() and made[:-1].isdigit(), "a TTL is ASCII digits and a unit")
    require(int(made[:-1].lstrip("0")) * scale == seconds, "a TTL is number times unit")


def check_value(made: object) -> None:
    try:
        encoded = canonical.encode(made)
    except AskError as error:
        check_error(error, NotCanonical)
        require(is_poisoned(made), "a JSON value is not refused")
        return
    require(not is_poisoned(made), "what is no JSON value is refused")
    require(canonical.encode(made) == encoded, "equal input gives equal bytes")
    loaded = json.loads(encoded, parse_int=lambda digits: int(Decimal(digits)))
    require(canonical.encode(loaded) == encoded, "encode, load, encode is a fixed point")
    if b"-0.0" not in encoded and len(encoded) < 4_000:
        dumped = json.dumps(loaded, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        require(dumped.encode() == encoded, "the bytes are those of json.dumps")


def is_poisoned(value: object, depth: int = 0) -> bool:
    """Whether a value has no canonical form, read from the contract."""
    if depth > canonical.MAX_DEPTH:
        return True
    if isinstance(value, str):
        return not encodable(value)
    if isinstance(value, list | tuple):
        return any(is_poisoned(item, depth + 1) for item in value)
    if isinstance(value, dict):
        keys = any(not isinstance(key, str) or not encodable(key) for key in value)
        return keys or any(is_poisoned(item, depth + 1) for item in value.values())
    finite = isinstance(value, float) and math.isfinite(value)
    return not (finite or value is None or isinstance(value, int))


# --- running ----------------------------------------------------------------------------

Target = tuple[Callable[[random.Random], object], Callable[..., None]]
TARGETS: dict[str, Target] = {
    "clauses.parse": (make_statement, check_statement),
    "citations.parse": (make_answer, check_answer),
    "urn.decode": (make_urn, check_urn),
    "caching.parse_ttl": (make_ttl, check_ttl),
    "wire.json.encode": (make_value, check_value),
}


@dataclass(frozen=True, slots=True)
class Report:
    """How a chunk went: inputs that passed, and the violation that stopped it."""

    passed: int
    violation: str | None = None


def run(job: tuple[str, str, int]) -> Report:
    """One chunk of one target, in a worker."""
    target, seed, count = job
    make, check = TARGETS[target]
    rng = random.Random(seed)
    for number in range(count):
        made = make(rng)
        signal.alarm(SECONDS_PER_INPUT)
        try:
            check(made)
        except Exception:
            reason = traceback.format_exc(limit=-3)
            return Report(number, f"{target} was surprised by\n  {made!a}\n{reason}")
        finally:
            signal.alarm(0)
    return Report(count)


def watch() -> None:
    """Workers end with their parent, and an input that takes too long is a violation."""

    def too_long(*_: object) -> None:
        raise Violation(f"an input takes less than {SECONDS_PER_INPUT} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def jobs(inputs: int, seed: int) -> Iterator[tuple[str, str, int]]:
    """Chunks of all targets in turn, at least `inputs` in total."""
    for number in range(math.ceil(inputs / (CHUNK * len(TARGETS)))):
        for target in TARGETS:
            yield target, f"{seed}:{target}:{number}", CHUNK


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz the rules that read text.")
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    started, reported, passed = time.monotonic(), 0.0, 0
    print(
        f"fuzzing {', '.join(TARGETS)}: {options.inputs:,} inputs, seed {options.seed}", flush=True
    )
    with multiprocessing.Pool(options.jobs, watch) as pool:
        for report in pool.imap_unordered(run, jobs(options.inputs, options.seed)):
            passed += report.passed
            elapsed = time.monotonic() - started
            if report.violation:
                print(f"{report.violation}\n{passed} passed, 1 failed (seed {options.seed})")
                return 1
            if elapsed - reported >= 5:
                reported = elapsed
                print(f"{passed:>10,} inputs, {passed / elapsed:,.0f}/s", flush=True)
    print(f"{passed:,} inputs in {time.monotonic() - started:.0f} s")
    print(f"{passed} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
