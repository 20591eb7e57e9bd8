"""`make bench-claims`: what the check of claims costs, that it is linear, and hostile texts.

Three tables, in processor time so that a busy machine does not count, each figure the median of
several runs: answers of 300 words with 10 sources against the target of 2 ms, one of them full of
figures (four in a claim) and one of prose (one in a claim); answers and sources of twice, four and
eight times the size (a ratio of at most about 2 each is linear); and texts made to be slow, as an
answer and as a source, doubled up to 10 MB or until one takes four seconds (a ratio of about 2 is
linear). In the first table every run has an answer and sources of its own figures, never seen
before (cold); warm are the same sources read already, as for the next sentence of a stream.
`--profile` prints where the time of the first answer goes.
"""

import argparse
import cProfile
import json
import pstats
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

from redask.core.model import Source
from redask.core.rules.grounding import check
from redask.core.rules.grounding.source_text import SourceText

TARGET_MS = 2.0
WORDS, SOURCES, BUDGET_S = 300, 10, 1.0
SLOW_S = 4.0  # a text that took longer is not doubled again
MIB = 1 << 20
RUN = 1000  # facts of one run are not those of another
CLAIM = (
    "In {year}, the {name} line carried {count:,} passengers from Husum to the islands, which is "
    "{share}% more than the year before [^{marker}]. "
)
SENTENCE = (
    "The {name} line was opened on {day} March {year} by Anna Petersen and carried {count:,} "
    "passengers in {year}, or {share}% more than the year before. Its ferries are not faster than "
    "{speed} km/h and leave at {hour}:15 from pier {day}. "
)
PROSE = (
    "The ferries of the {name} line leave Husum in the morning and carry the mail, the milk and "
    "the children to school, since Anna Petersen opened it in {year} for the people of the marsh "
    "[^{marker}]. "
)
NAMES = "Amrum Norderney Pellworm Helgoland Sylt Langeness Hooge Borkum Juist Baltrum".split()
HOSTILE = (
    ("digits", "7"),
    ("digits and commas", "7,"),
    ("digits and spaces", "7 "),
    ("dates", "12 March 2019 "),
    ("quotes", '"'),
    ("curly quotes", "“"),
    ("[^1]", "[^1]"),
    ("[^1] with full stops", "[^1]. "),
    ("sentences", "The ferry leaves at 9:15 [^1]. "),
    ("capitals", "Amrum "),
    ("full stops", "."),
    ("negations", "not "),
    ("number words", "twenty-one hundred "),
    ("table rows", "| 7 | [^1] |\n"),
    ("list items", "- 7 [^1]\n"),
    ("letters", "a"),
)


def facts(number: int) -> dict[str, object]:
    return {
        "name": NAMES[number % len(NAMES)],
        "year": 1950 + number % 70,
        "count": 1000 + 7919 * number % 90_000,
        "share": f"{number % 40}.{number % 9 + 1}",
        "day": number % 28 + 1,
        "hour": number % 24,
        "speed": 20 + number % 30,
    }


def answer_of(words: int, claim: str = CLAIM, run: int = 0) -> str:
    """An answer of so many words, of which every claim cites one source."""
    claims: list[str] = []
    while sum(len(each.split()) for each in claims) < words:
        number = len(claims)
        claims.append(
            claim.format(marker=number % SOURCES + 1, **facts(number % SOURCES + RUN * run))
        )
    return "".join(claims)


def sources_of(sentences: int, run: int = 0) -> list[Source]:
    """Ten sources, each of so many pairs of sentences, about 250 bytes each."""
    return [
        Source(f"urn:reddb:document:lines/{n}", json.dumps({"text": text}))
        for n in range(SOURCES)
        for text in [
            "".join(SENTENCE.format(**facts(n + SOURCES * k + RUN * run)) for k in range(sentences))
        ]
    ]


def milliseconds(work: Callable[[], object], runs: int = 0) -> float:
    """The median of so many runs, else of as many as fit into the budget."""
    taken: list[float] = []
    while len(taken) < (runs or 3) or (not runs and sum(taken) < BUDGET_S):
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return 1000 * statistics.median(taken)


def one_answer(title: str, claim: str) -> Iterator[str]:
    """The time of an answer with sources never seen before, and with sources read already."""
    taken: list[float] = []
    while sum(taken) < 1000 * BUDGET_S:
        run = len(taken) + 1
        answer, sources = answer_of(WORDS, claim, run), sources_of(2, run)
        taken.append(milliseconds(partial(check.examine, answer, sources), runs=1))
    yield f"{title + ', cold':<34}{statistics.median(taken):>10.2f} ms"
    read: dict[int, SourceText] = {}
    check.examine(answer, sources, read)
    warm = milliseconds(partial(check.examine, answer, sources, read))
    yield f"{title + ', warm':<34}{warm:>10.2f} ms"


def profile(answer: str, sources: list[Source]) -> None:
    """Print the functions with the largest share of the time."""
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(20):
        check.examine(answer, sources)
    profiler.disable()
    pstats.Stats(profiler).strip_dirs().sort_stats("tottime").print_stats(25)


def growth(title: str, made: Callable[[int], tuple[str, list[Source]]]) -> Iterator[str]:
    """Times for 1, 2, 4 and 8 times the size."""
    before = 0.0
    for factor in (1, 2, 4, 8):
        answer, sources = made(factor)
        spent = milliseconds(lambda a=answer, s=sources: check.examine(a, s))  # type: ignore[misc]
        ratio = f"{spent / before:8.2f}" if before else ""
        yield f"{title + f' x {factor}':<34}{spent:>10.2f} ms{ratio}"
        before = spent


def hostile(size: int) -> Iterator[str]:
    """Times of texts made to be slow: of the size, or of the largest part that is not too slow."""
    fine = [Source("urn:x", json.dumps({"text": SENTENCE.format(**facts(3))}))]
    claim = CLAIM.format(marker=1, **facts(3))
    for name, piece in HOSTILE:
        for role in ("answer", "source"):
            before, spent, part = 0.0, 0.0, size // 4096
            while part < size and spent < 1000 * SLOW_S:
                part, before = 2 * part, spent
                text = (piece * (part // len(piece) + 1))[:part]
                given = [Source("urn:x", json.dumps({"text": text}))]
                pair = (f"{text} [^1].", fine) if role == "answer" else (claim, given)
                spent = milliseconds(lambda p=pair: check.examine(*p), runs=1)  # type: ignore[misc]
            ratio = f"{spent / before:8.2f}" if before > 1 else ""
            reached = f"{part / MIB:.2g} MB"
            yield f"{f'{name}, as {role}':<34}{reached:>8}{spent:>10.0f} ms{ratio}"


def main() -> None:
    parser = argparse.ArgumentParser(description="What the check of claims costs.")
    parser.add_argument("--size", type=int, default=10, help="megabytes of a hostile text")
    parser.add_argument("--quick", action="store_true", help="leave out hostile texts")
    parser.add_argument("--profile", action="store_true", help="where the time goes, no more")
    options = parser.parse_args()
    answer, sources = answer_of(WORDS), sources_of(2)
    found = check.examine(answer, sources)
    size = sum(len(source.payload) for source in sources) // SOURCES
    print(f"{len(answer.split())} words, {len(found)} claims, {SOURCES} sources of {size} bytes")
    print(f"(target: below {TARGET_MS:g} ms)")
    print(*one_answer("four figures in a claim", CLAIM), sep="\n")
    print(*one_answer("prose, one figure in a claim", PROSE), sep="\n")
    if options.profile:
        profile(answer, sources)
        return
    print("\nlinear in both                        time   ratio")
    print(*growth("words of the answer", lambda k: (answer_of(WORDS * k), sources)), sep="\n")
    print(*growth("bytes of the sources", lambda k: (answer, sources_of(2 * k))), sep="\n")
    if not options.quick:
        print(f"\nhostile texts up to {options.size} MB{'size':>17}{'time':>13}   ratio to half")
        for line in hostile(options.size * MIB):
            print(line, flush=True)


if __name__ == "__main__":
    main()
