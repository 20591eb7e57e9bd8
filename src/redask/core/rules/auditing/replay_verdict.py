"""What came of asking again: `differences` between then and now, `source_changes`, `drifted`.

    differs, looked at in this order                              verdict
    role, attributes, or what the principal may read              policy_changed
    the template of prompts                                       prompt_changed
    the layout of the index, the embedder (where both searched)   index_changed
    settings that enter a search, a prompt or a call              settings_changed
    a source, its content, its place                              sources_changed
    the prompt alone, and something was written since             sources_changed
    the prompt alone, and nothing was written                     prompt_changed
    the answer alone, of a model that was asked again             model_drifted
    nothing                                                       equal

The verdict is the first that differs; `differences` has all. A prompt may be the same though an
earlier line differs: who asks is told so. An ask that cannot be made again is `not_replayable`.

What became of a source: `added`, `changed`, `gone` (deleted, or not readable any more), `left_out`
(it is there, unchanged, and others were found instead), `shown_otherwise` (another excerpt of the
same content), `moved` (the same at another place).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from redask.core.rules.auditing.provenance import AnswerSetup, SourceFacts


class ReplayVerdict(StrEnum):
    """What asking again says; see the module."""

    EQUAL = "equal"
    POLICY = "policy_changed"
    PROMPT = "prompt_changed"
    INDEX = "index_changed"
    SETTINGS = "settings_changed"
    SOURCES = "sources_changed"
    DRIFT = "model_drifted"
    NOT_REPLAYABLE = "not_replayable"


class SourceChange(StrEnum):
    """What became of a source; see the module."""

    ADDED = "added"
    CHANGED = "changed"
    GONE = "gone"
    LEFT_OUT = "left_out"
    SHOWN_OTHERWISE = "shown_otherwise"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Made:
    """What an answer is made of, then or now; `role` is the principal's."""

    role: str
    urns: tuple[str, ...]
    found: SourceFacts
    setup: AnswerSetup


def differences(then: Made, now: Made) -> tuple[ReplayVerdict, ...]:
    """All that differs, what matters most first; nothing for an equal replay."""
    before, after = then.found.state, now.found.state
    searched = before.index and after.index
    same_sources = (then.urns, then.found.versions) == (now.urns, now.found.versions)
    same_prompt = then.found.prompt == now.found.prompt
    alone = same_sources and not same_prompt
    seen = {
        ReplayVerdict.POLICY: (then.role, before.visibility) != (now.role, after.visibility),
        ReplayVerdict.PROMPT: then.setup.template != now.setup.template,
        ReplayVerdict.INDEX: searched
        and (before.index, before.embedder) != (after.index, after.embedder),
        ReplayVerdict.SETTINGS: then.setup.settings != now.setup.settings,
        ReplayVerdict.SOURCES: not same_sources or (alone and before.write != after.write),
    }
    found = tuple(verdict for verdict, differs in seen.items() if differs)
    return (ReplayVerdict.PROMPT,) if alone and not found else found


def verdict_of(found: Sequence[ReplayVerdict]) -> ReplayVerdict:
    """The verdict, of all that differs."""
    return found[0] if found else ReplayVerdict.EQUAL


def drifted(same_prompt: bool | None, answers: tuple[str, str]) -> bool:
    """Whether the model answers the very same prompt otherwise; `answers` are hashes."""
    return bool(same_prompt) and answers[0] != answers[1]


def changed_settings(then: AnswerSetup, now: AnswerSetup) -> tuple[str, ...]:
    """The names of the settings that are not the same, in order."""
    every = sorted({*then.settings, *now.settings})
    return tuple(name for name in every if then.settings.get(name) != now.settings.get(name))


def source_changes(
    then: Made, now: Made, present: Mapping[str, int]
) -> tuple[tuple[str, SourceChange], ...]:
    """What became of each source that is not as it was, those of then first.

    `present` are the content versions of those that were not found again and can still be read.
    """
    before, after = _by_urn(then), _by_urn(now)
    changes = []
    for urn, (place, read, shown) in before.items():
        if urn in after:
            new_place, new_read, new_shown = after[urn]
            if new_read != read:
                changes.append((urn, SourceChange.CHANGED))
            elif new_shown != shown:
                changes.append((urn, SourceChange.SHOWN_OTHERWISE))
            elif new_place != place:
                changes.append((urn, SourceChange.MOVED))
        elif urn not in present:
            changes.append((urn, SourceChange.GONE))
        elif present[urn] != read:
            changes.append((urn, SourceChange.CHANGED))
        else:
            changes.append((urn, SourceChange.LEFT_OUT))
    changes += [(urn, SourceChange.ADDED) for urn in after if urn not in before]
    return tuple(changes)


def _by_urn(made: Made) -> dict[str, tuple[int, int, int]]:
    """Place, version of the whole, version as shown, by URN."""
    listed = zip(made.urns, made.found.read, made.found.versions, strict=True)
    return {urn: (place, read, shown) for place, (urn, read, shown) in enumerate(listed)}


def stale_sources(
    cited: Sequence[tuple[str, int]], present: Mapping[str, int]
) -> tuple[tuple[str, SourceChange], ...]:
    """Those of the cited sources (URN, content version then) that are not as they were."""
    return tuple(
        (urn, SourceChange.CHANGED if urn in present else SourceChange.GONE)
        for urn, version in cited
        if present.get(urn) != version
    )
