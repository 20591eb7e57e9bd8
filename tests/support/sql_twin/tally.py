"""What many statements came to: `Tally` counts verdicts, and groups by cause what was not equal."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from sql_twin.cases import Case
from sql_twin.verdict import Outcome, Verdict

_VARYING = re.compile(r"\"[^\"]*\"|'[^']*'|\b-?\d[\d.:e+-]*")
_LISTED = (Outcome.DIFFERENT, Outcome.SQLSTATE, Outcome.REFUSED)


@dataclass(slots=True)
class Tally:
    """Counts of outcomes, and of each cause how often and one example."""

    counts: Counter[Outcome] = field(default_factory=Counter)
    causes: dict[Outcome, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    examples: dict[tuple[Outcome, str], tuple[Case, Verdict]] = field(default_factory=dict)

    def add(self, case: Case, verdict: Verdict) -> None:
        """Count one; the shortest statement is the example of its cause."""
        self.counts[verdict.outcome] += 1
        if verdict.outcome not in _LISTED:
            return
        cause = _cause(verdict)
        self.causes[verdict.outcome][cause] += 1
        known = self.examples.get((verdict.outcome, cause))
        if known is None or len(case.sql) < len(known[0].sql):
            self.examples[verdict.outcome, cause] = case, verdict

    @property
    def different(self) -> int:
        return self.counts[Outcome.DIFFERENT]

    def summary(self) -> str:
        """One line of counts, with the share refused."""
        total = sum(self.counts.values()) or 1
        parts = [f"{self.counts[each]:,} {each.value}" for each in Outcome]
        answered = total - self.counts[Outcome.BOTH] - self.counts[Outcome.SQLSTATE]
        share = self.counts[Outcome.REFUSED] / (answered or 1)
        refused = f"{share:.1%} of what PostgreSQL answers refused"
        return f"{total:,} statements: {', '.join(parts)}; {refused}"

    def listing(self) -> Iterator[str]:
        """A line for each cause, the most frequent first."""
        for outcome in _LISTED:
            for cause, times in self.causes[outcome].most_common():
                case, verdict = self.examples[outcome, cause]
                with_params = f" {list(case.params)}" if case.params else ""
                yield (
                    f"{outcome.value} ×{times} [{case.name}] {' '.join(case.sql.split())}"
                    f"{with_params} => {verdict.why}"
                )


def _cause(verdict: Verdict) -> str:
    """What makes two failures the same: the messages without their names and numbers."""
    why = verdict.why
    if verdict.outcome is Outcome.DIFFERENT and why.startswith("answered"):
        why = why.partition(" | ")[2]
    return _VARYING.sub("…", why)
