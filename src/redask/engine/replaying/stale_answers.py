"""Answers whose cited sources are not what they were: `StaleAnswers(…).look(caller, …)`.

Each source is read as the principal of the row may read it now, and compared by its content
version; nothing of it is shown. A row is not looked into if nothing was written since, and its
principal reads what it did.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from redask.core.model import Caller
from redask.core.ports import AuditEntry, AuditLog, StoreView, TracedEntry
from redask.core.rules.auditing.provenance import Provenance, SourceFacts, read_provenance
from redask.core.rules.auditing.replay_report import StaleAnswer, StaleReport
from redask.core.rules.auditing.replay_verdict import stale_sources
from redask.engine.replaying.past_principals import PastPrincipals, was_not_run

Cited = list[tuple[str, int]]
_NEEDED = ("user", "role", "sources_urns", "citations")  # of a row that was erased in part


@dataclass(slots=True)
class _Principal:
    """What is known of one principal meanwhile."""

    caller: Caller
    view: StoreView
    cited: dict[str, int] = field(default_factory=dict)
    present: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StaleAnswers:
    """See the module."""

    log: AuditLog
    principals: PastPrincipals

    def look(self, caller: Caller, *, limit: int, before: int | None = None) -> StaleReport:
        """Look at the newest rows that the caller may see, before a number."""
        traced = self.log.traced(caller, limit=limit, before=before)
        known: dict[Caller, _Principal] = {}
        looked: list[tuple[AuditEntry, Cited, _Principal]] = []
        unknown = 0
        for each in traced:
            made = _made(each)
            if made is None:
                unknown += bool(each.entry.row.get("citations"))
                continue
            provenance, found = made
            cited = _cited(each.entry.row, found)
            who = self._principal(each.entry.row, provenance, caller, known) if cited else None
            if who is not None and not _is_fresh(found, who.view):
                looked.append((each.entry, cited, who))
                who.cited.update(cited)
        for who in known.values():
            who.present.update(self.principals.versions([*who.cited.items()], who.caller))
        answers = [
            StaleAnswer(entry.seq, entry.row, changes)
            for entry, cited, who in looked
            if (changes := stale_sources(cited, who.present))
        ]
        following = traced[-1].entry.seq if len(traced) == limit else None
        return StaleReport(tuple(answers), len(traced), unknown, following)

    def _principal(
        self,
        row: Mapping[str, Any],
        made: Provenance,
        caller: Caller,
        known: dict[Caller, _Principal],
    ) -> _Principal:
        now = self.principals.now(row, made, caller)
        if now is None:  # removed since: as the role was
            now = Caller(caller.tenant, str(row["user"]), str(row["role"]))
        if now not in known:
            known[now] = _Principal(now, self.principals.store.view(now))
        return known[now]


def _made(traced: TracedEntry) -> tuple[Provenance, SourceFacts] | None:
    if traced.provenance is None or any(name not in traced.entry.row for name in _NEEDED):
        return None
    made = read_provenance(traced.provenance)
    return None if made.found is None else (made, made.found)


def _cited(row: Mapping[str, Any], found: SourceFacts) -> Cited:
    """The URNs that the answer cites, each with its content version then.

    Not those of statements that were only shown: they hold nothing that could change.
    """
    listed = list(zip(row["sources_urns"], found.read, strict=True))
    markers = (marker for marker in row["citations"] if 1 <= marker <= len(listed))
    cited = (listed[marker - 1] for marker in markers)
    return [(urn, version) for urn, version in cited if not was_not_run(urn, version)]


def _is_fresh(found: SourceFacts, view: StoreView) -> bool:
    """Whether nothing was written since, and the principal reads what it did."""
    then = (found.state.write, found.state.visibility)
    return then == (view.history, view.visibility.identity)
