"""`doctor --deep`: everything is read and compared with its checksum; what is derived is mended.

    damaged                              mended by
    index, tables of SELECT              making them again
    a vector that an embedder made       forgetting it, and embedding its entity again
    counters of catalogues               counting again
    a cached answer                      forgetting it
    an entity, a vector that was given   nobody: it is named, and comes from a back-up

It can be ended between two pages of rows (`progress` raises); what was mended stays mended.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from redask.core.model import Caller
from redask.index import SearchIndex
from redask.stores.backend import Backend, CheckProgress, Damage

_MOST = 1000  # that are named


@dataclass(slots=True)
class DeepReport:
    """What is wrong, and what was wrong and is mended, in sentences."""

    problems: list[str] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)


def deep_check(
    backend: Backend,
    index: SearchIndex,
    caller: Caller,
    progress: CheckProgress | None,
    check_tables: Callable[[str], str],
) -> DeepReport:
    """Check what a caller may hear of: the owner of an embedded database of every tenant."""
    store, report = backend.store, DeepReport()
    everything = caller == Caller()
    tenants = store.tenants() if everything else [caller.tenant]
    damages = store.examine(None if everything else caller.tenant, progress)
    report.problems += _sentences([each for each in damages if not each.is_derived])
    for tenant in tenants:
        again = [each.urn for each in damages if each.is_derived and each.tenant == tenant]
        if again:
            store.forget_vectors(tenant, again)
            report.mended += [f"the vector of {urn} is made again" for urn in again[:_MOST]]
        if problem := index.verify(tenant):
            index.rebuild(tenant)
            report.mended.append(f"the index was made again: {problem}")
        if problem := check_tables(tenant):
            report.mended.append(f"the tables of SELECT are made again: {problem}")
    before = store.check()
    if before and not any(each.startswith("SQLite says") for each in before):
        store.recount()
        after = store.check()
        report.mended += [f"counted again: {each}" for each in before if each not in after]
    calls = backend.check_calls()
    if everything:  # it is the file of every tenant
        report.problems += calls
    if not calls and (gone := backend.forget_damaged_answers()):
        report.mended.append(f"{gone} cached answers were damaged and are forgotten")
    return report


def _sentences(damages: list[Damage]) -> list[str]:
    named = [
        f"{'the vector of ' if each.is_vector else ''}{each.urn} is not what was written:"
        " restore it from a back-up, put it again, or delete it"
        for each in damages[:_MOST]
    ]
    more = len(damages) - len(named)
    return [*named, f"and {more} more"] if more else named
