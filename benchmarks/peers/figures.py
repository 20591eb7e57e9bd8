"""The figures of a run and the table they make. Pure: no file, no clock, no process.

A `Row` is one contestant at one size; `judged` makes it of what the worker wrote. A contestant that
failed has a row, too: its name, and the reason where figures would be. Ratios are to redask and
to raw, of the medians of question-to-cited-answer; processor time next to them, because a busy
machine moves it less. Slow contestants are asked fewer questions: raw's nDCG over as many is
next to theirs.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redask.evaluation import ranking

OURS, FLOOR = "redask", "raw"
HEAD = (
    "contestant",
    "ingest, passages/s",
    "answer p50",
    "p95",
    "questions",
    "× redask",
    "× raw",
    "CPU p50",
    "× raw, CPU",
    "resident (anonymous)",
    "cold start (imports)",
    "insert to visible",
    "nDCG@10 (raw, same questions)",
    "hit@10",
    "pace",
)
TARGET = 1.5


@dataclass(frozen=True, slots=True)
class Row:
    """One contestant at one size; times in seconds, memory in MB. NaN: not measured."""

    name: str
    size: int
    reason: str = ""
    versions: str = ""
    rate: float = math.nan
    p50: float = math.nan
    p95: float = math.nan
    work: float = math.nan
    questions: int = 0
    resident: float = math.nan
    anonymous: float = math.nan
    cold: float = math.nan
    imports: float = math.nan
    visible: float = math.nan
    gains: tuple[float, ...] = ()
    hit: float = math.nan
    pace: float = math.nan
    parts: tuple[tuple[str, float], ...] = ()


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values do not exceed; NaN of none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def judged(name: str, size: int, figures: Mapping[str, Any], gold: Sequence[Sequence[str]]) -> Row:
    """What a worker wrote, as a row; `gold` are the right passages, question by question."""
    times, shown = figures.get("times_s", []), figures.get("sources", [])
    found = [
        ranking.measure(ranked, dict.fromkeys(right, 1))["ndcg@10"]
        for ranked, right in zip(shown, gold, strict=False)
    ]
    hits = [bool({*ranked[:10]} & {*right}) for ranked, right in zip(shown, gold, strict=False)]
    start = [figures.get(part, math.nan) for part in ("import_s", "open_s", "first_s")]
    versions = (f"{name} {which}" for name, which in figures.get("versions", {}).items())
    return Row(
        name,
        size,
        reason=figures.get("reason", ""),
        versions=", ".join(versions),
        rate=size / figures["build_s"] if figures.get("build_s") else math.nan,
        p50=percentile(times, 0.5),
        p95=percentile(times, 0.95),
        work=percentile(figures.get("cpu_s", []), 0.5),
        questions=len(times),
        resident=figures.get("rss_mb", math.nan),
        anonymous=figures.get("anonymous_mb", math.nan),
        cold=sum(start),
        imports=start[0],
        visible=percentile(figures.get("visible_s", []), 0.5),
        gains=tuple(found),
        hit=_mean(hits),
        pace=percentile(figures.get("pace_s", []), 0.5),
        parts=tuple(
            (part, percentile(taken, 0.5)) for part, taken in figures.get("parts_s", {}).items()
        ),
    )


def table(rows: Sequence[Row], size: int) -> str:
    """The rows of one size as Markdown, in the order given."""
    here = [row for row in rows if row.size == size]
    p50s = {row.name: row.p50 for row in here}
    works = {row.name: row.work for row in here}
    floor = next((row.gains for row in here if row.name == FLOOR), ())
    quickest = min((row.pace for row in here if row.pace > 0), default=math.nan)
    lines = [_line(HEAD), _line(["---"] * len(HEAD))]
    for row in here:
        name = f"**{row.name}**" if row.name == OURS else row.name
        if row.reason and not row.questions:
            lines.append(_line([name, f"failed: {row.reason}", *[""] * (len(HEAD) - 2)]))
            continue
        lines.append(
            _line(
                [
                    name + (f" (then failed: {row.reason})" if row.reason else ""),
                    _number(row.rate),
                    _time(row.p50),
                    _time(row.p95),
                    str(row.questions),
                    _ratio(row.p50, p50s.get(OURS, math.nan)),
                    _ratio(row.p50, p50s.get(FLOOR, math.nan)),
                    _time(row.work),
                    _ratio(row.work, works.get(FLOOR, math.nan)),
                    f"{_number(row.resident)} ({_number(row.anonymous)}) MB",
                    f"{_time(row.cold)} ({_time(row.imports)})",
                    _time(row.visible),
                    f"{_share(_mean(row.gains))} ({_share(_mean(floor[: row.questions]))})",
                    _share(row.hit),
                    _ratio(row.pace, quickest),
                ]
            )
        )
    return "\n".join(lines)


def verdict(ours: float, engines: float, commit: float) -> str:
    """Ours compared with the raw engines and one commit, asked in turns: the target, in words."""
    allowed = TARGET * engines + commit
    whole = ours / (engines + commit)
    word = "met" if ours <= allowed else "missed"
    return (
        f"{_time(ours)} against {_time(engines)} of engines and {_time(commit)} of commit: "
        f"{whole:.1f} × both; target {TARGET} × the engines + the commit = {_time(allowed)}: {word}"
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:,.0f}"


def _share(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _ratio(value: float, one: float) -> str:
    ratio = value / one if one else math.nan
    return "–" if math.isnan(ratio) else f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}"


def _time(seconds: float) -> str:
    if math.isnan(seconds):
        return "–"
    if seconds >= 1:
        return f"{seconds:.3g} s" if seconds < 100 else f"{seconds:,.0f} s"
    return f"{seconds * 1000:.3g} ms"
