"""What the rules cost: one ASK's worth of them, and that no text makes them slow.

`make bench-rules` prints three tables: single rules, the rules of one whole ASK against the
target of 1 ms, and the time for hostile texts of one size and of half that size (a ratio of
about 2 is linear). Sizes are realistic: 20 sources of about 600 bytes, three buckets of 20
candidates, an answer of about 1 KB with 6 markers. Every figure is the median of many runs, in
processor time, so that a busy machine does not count.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from redask.core import clauses
from redask.core.errors import BadStatement
from redask.core.model import (
    Answer,
    Footnote,
    Kind,
    Mode,
    Source,
    Strictness,
    Urn,
    Usage,
    Validation,
)
from redask.core.rules import (
    audit,
    caching,
    capabilities,
    citations,
    cost,
    determinism,
    fingerprint,
    fusion,
    prompt,
    terms,
    urn,
    validation,
)
from redask.core.wire import envelope, json

TARGET_MS = 1.0
BUDGET_S = 0.25
MIB = 1 << 20

AskState = Callable[[], object]

QUESTION = "Why did customer AB1234567 leave after the outage of 2023-05-14, and who was told?"
STATEMENT = (
    "ASK 'Why did customer AB1234567 leave after the outage?' USING 'openai,groq' "
    'COLLECTION tickets, "Incident Log" LIMIT 20 MIN_SCORE 0.1 DEPTH 2 STRICT ON '
    "TEMPERATURE 0 SEED 7 CACHE TTL '5m'"
)
SENTENCE = "The <primary> & its replica lost contact at 02:14; retries queued up for {n} minutes. "
CANDIDATES = [urn.encode(Urn(Kind.ROW, "tickets", str(number))) for number in range(40)]
SOURCES = [
    Source(name, json.text({"id": n, "title": f"Ticket {n}", "text": (SENTENCE * 7).format(n=n)}))
    for n, name in enumerate(CANDIDATES[:20])
]
CLAIM = (
    "Customer AB1234567 left because the primary lost contact with its replica on the night of "
    "the outage and retries queued up for forty minutes before anybody was paged{marker}. "
)
ANSWER = "".join(CLAIM.format(marker=f" [^{marker}]") for marker in (1, 4, 2, 20, 1, 7))
BUCKETS = [
    fusion.Bucket([(CANDIDATES[(step * n + step) % 40], 1 / (n + 1)) for n in range(20)])
    for step in (1, 3, 7)
]
PAIRS = [(source.urn, fingerprint.content_version(source.payload)) for source in SOURCES]
PRINT = fingerprint.of(PAIRS)
PROMPT = prompt.assemble(QUESTION, SOURCES)
USAGE = Usage(4000, sum(len(s.payload.encode()) for s in SOURCES), 300, 1200, 0.002)
LIMITS = cost.Limits(daily_cost_cap_usd=5.0)
NOW = 1_700_000_000_000_000_000
EXAMINED = validation.examine(ANSWER, SOURCES)
MARKERS = tuple(dict.fromkeys(citation.marker for citation in EXAMINED.citations))
REPLY = Answer(
    ANSWER,
    tuple(Footnote(marker, SOURCES[marker - 1].urn) for marker in MARKERS),
    tuple(SOURCES),
    Validation(True),
    "openai",
    "gpt-x",
    Mode.STRICT,
    4000,
    300,
    0.002,
)


def fingerprint_all() -> str:
    return fingerprint.of((s.urn, fingerprint.content_version(s.payload)) for s in SOURCES)


def cache_key() -> tuple[str, str]:
    key = caching.key(
        tenant="acme",
        user="ada",
        question=QUESTION,
        provider="openai",
        model="gpt-x",
        temperature=0.0,
        seed=12181976676831968970,
        fingerprint=PRINT,
    )
    return key, caching.prompt_hash(PROMPT)


def audit_row() -> bytes:
    row = audit.record(
        ts=NOW,
        tenant="acme",
        user="ada",
        role="analyst",
        question=QUESTION,
        sources_urns=[source.urn for source in SOURCES],
        provider="openai",
        model="gpt-x",
        prompt_tokens=4000,
        completion_tokens=300,
        cost_usd=0.002,
        answer=ANSWER,
        citations=MARKERS,
        cache_hit=False,
        mode=Mode.STRICT,
        temperature=0.0,
        seed=2958604639977193162,
        validation_ok=True,
        retry_count=0,
        errors=(),
    )
    return json.encode(row)


WHOLE_ASK: Sequence[tuple[str, AskState]] = (
    ("terms of the question", lambda: terms.extract(QUESTION)),
    ("fusion of 3 × 20", lambda: fusion.fuse(BUCKETS)),
    ("content versions and fingerprint of 20", fingerprint_all),
    ("prompt of 20 sources", lambda: prompt.assemble(QUESTION, SOURCES)),
    ("mode", lambda: capabilities.mode_for("openai", Strictness.ON)),
    ("knobs", lambda: determinism.effective_knobs(QUESTION, PRINT, capabilities.of("openai"))),
    ("cache key and prompt hash", cache_key),
    ("cost check", lambda: cost.check(USAGE, cost.Spent(19675, 1.0), LIMITS, NOW)),
    ("citations of the answer", lambda: citations.parse(ANSWER, len(SOURCES))),
    ("verdict", lambda: validation.judge(EXAMINED, Strictness.ON, validation.Attempt.FIRST)),
    ("audit row, encoded", audit_row),
    ("envelope, encoded", lambda: json.encode(envelope.build(REPLY))),
)
SINGLE: Sequence[tuple[str, AskState]] = (
    ("one statement parse", lambda: clauses.parse(STATEMENT)),
    ("one citation scan per KB", lambda: citations.parse(ANSWER[:1024], len(SOURCES))),
    ("one fusion of 3 × 20", lambda: fusion.fuse(BUCKETS)),
    ("one fingerprint of 20", lambda: fingerprint.of(PAIRS)),
    ("one prompt of 20 sources", lambda: prompt.assemble(QUESTION, SOURCES)),
    ("one envelope encode", lambda: json.encode(envelope.build(REPLY))),
)
HOSTILE_ANSWERS = tuple(
    (f"{piece}…", ("", piece, "")) for piece in ("[^", "\\", "`", "[^1", "'", '"', "\n```\n[^1]")
)
HOSTILE_STATEMENTS = (
    *((f"{piece}…", ("", piece, "")) for piece in ("'", '"')),
    *((f"ASK '{piece}…'", ("ASK '", piece, "'")) for piece in ("[^", "\\", "`", "[^1", "''")),
    ("ASK ''''…", ("ASK ", "'", "")),
    ('COLLECTION """"…', ("ASK 'q' COLLECTION ", '"', "")),
    ("COLLECTION a,a,a…", ("ASK 'q' COLLECTION a", ",a", "")),
    ("/*/*/*…", ("", "/*", "")),
    ("/**//**/…", ("", "/**/", "")),
    ("--⏎--⏎…", ("", "--\n", "")),
    ("SEED 999…", ("ASK 'q' SEED ", "9", "")),
)


def timings(run: AskState, budget: float = BUDGET_S) -> list[float]:
    """The seconds of single runs: as many as fit into the budget, at least two."""
    times: list[float] = []
    while len(times) < 2 or sum(times) < budget:
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return times


def print_median(name: str, run: AskState) -> float:
    """Print what one run costs and return it, in seconds."""
    median = statistics.median(timings(run))
    print(f"  {name:<40} {median * 1e6:>9.1f} µs")
    return median


def print_linearity(
    name: str, run: Callable[[str], object], size: int, parts: tuple[str, str, str]
) -> None:
    """Print the best time for a text of this size, for half of it, and the ratio."""
    head, piece, tail = parts
    whole, half = (
        min(timings(partial(run, head + piece * (length // len(piece)) + tail), budget=0.1))
        for length in (size, size // 2)
    )
    shown = name.replace("\n", "⏎")
    print(f"  {shown:<20} {whole * 1000:>9.2f} ms {half * 1000:>9.2f} ms   × {whole / half:.2f}")


def scan(text: str) -> None:
    citations.parse(text, len(SOURCES))


def parse(statement: str) -> None:
    with suppress(BadStatement):
        clauses.parse(statement)


def main() -> None:
    print("Single rules")
    for name, run in SINGLE:
        print_median(name, run)

    sizes = f"{len(SOURCES)} sources of {len(SOURCES[0].payload)} bytes"
    answer = f"an answer of {len(ANSWER)} bytes with {len(EXAMINED.citations)} markers"
    print(f"\nThe rules of one ASK: {sizes}, {answer}")
    total = sum(print_median(name, run) for name, run in WHOLE_ASK)
    verdict = "met" if total * 1000 < TARGET_MS else "NOT met"
    print(f"  {'sum':<40} {total * 1e6:>9.1f} µs   target below {TARGET_MS} ms: {verdict}")

    print("\ncitations.parse on 10 MB and on 5 MB of (about × 2 is linear)")
    for name, parts in HOSTILE_ANSWERS:
        print_linearity(name, scan, 10**7, parts)

    print("\nclauses.parse on 1 MiB and on 0.5 MiB of (more is refused for its size)")
    for name, parts in HOSTILE_STATEMENTS:
        print_linearity(name, parse, MIB - 64, parts)


if __name__ == "__main__":
    main()
