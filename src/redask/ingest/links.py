"""Links between files to edges: `settle` them once every file is there.

    the file that a link means      was ingested as a document; else there is no edge (yet)
    … and the chunk                 the first whose section's heading is the anchor, else the first
                                    that stands anywhere below it, else the file's first
    the edge                        from the chunk with the link, labelled `links to`

Done at the end of a run, for the files that it changed and for those that link to them: a link
may point at what is read later, and what it points at may get other chunks.
"""

from collections.abc import Callable, Iterator, Sequence

from redask.ingest import chunks
from redask.model import Caller
from redask.ports import Entity, FileLink, LoadOutcome, Manifest
from redask.rules import urn as urns

LABEL = "links to"
_SOME = 200

Join = Callable[[str, str, str], Entity]


def settle(manifest: Manifest, caller: Caller, join: Join) -> Iterator[LoadOutcome]:
    """Settle all links there are to settle, some files at a time. → what each write did."""
    while tasks := manifest.unlinked(_SOME, caller):
        known: dict[str, list[str]] = {}
        edges = {}
        for path, links in tasks.items():
            own = set(_chunks(manifest, caller, path, known)) if links else set()
            found: dict[str, Entity] = {}
            for link in links:
                target = _target(link, _chunks(manifest, caller, link.path, known))
                if target is not None and link.source in own:
                    edge = join(link.source, LABEL, target)
                    found[edge.urn] = edge
            edges[path] = list(found.values())
        yield manifest.link(edges, caller)


def _chunks(
    manifest: Manifest, caller: Caller, path: str, known: dict[str, list[str]]
) -> list[str]:
    if path not in known:
        known[path] = manifest.chunks(path, caller)
    return known[path]


def _target(link: FileLink, found: Sequence[str]) -> str | None:
    """The chunk that a link means."""
    if not found:
        return None
    if link.anchor:
        wanted = chunks.slug(link.anchor)
        for ends in (True, False):
            for urn in found:
                steps = (urns.decode(urn).fragment or "").partition("~")[0].split(".")
                if steps[-1] == wanted if ends else wanted in steps:
                    return urn
    return found[0]
