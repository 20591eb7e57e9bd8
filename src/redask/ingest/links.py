"""Links between files to edges: `settle` them once every file is there.

    the file that a link means      was ingested as a document; else there is no edge (yet)
    … and the chunk                 the first whose section's heading is the anchor, else the first
                                    that stands anywhere below it, else the file's first
    the edge                        from the chunk with the link, labelled `links to`

Done at the end of a run, for the files that it changed and for those that link to them: a link
may point at what is read later, and what it points at may get other chunks.
"""

from collections.abc import Callable, Iterator, Mapping

from redask.core.model import Caller
from redask.core.ports import Entity, FileLink, LoadOutcome, OriginManifest
from redask.core.rules import urn as urns
from redask.ingest.readers import chunks

LABEL = "links to"
_SOME = 500
_REMEMBERED = 20_000

Join = Callable[[str, str, str], Entity]
Steps = tuple[str, ...]


def settle(manifest: OriginManifest, caller: Caller, join: Join) -> Iterator[LoadOutcome]:
    """Settle all links there are to settle, some files at a time. → what each write did."""
    known: dict[str, dict[str, Steps]] = {}

    def chunks_of(path: str) -> dict[str, Steps]:
        if path not in known:
            if len(known) >= _REMEMBERED:
                known.clear()
            known[path] = {urn: _steps(urn) for urn in manifest.chunks(path, caller)}
        return known[path]

    while tasks := manifest.unlinked(_SOME, caller):
        edges = {}
        for path, links in tasks.items():
            own = chunks_of(path) if links else {}
            found: dict[str, Entity] = {}
            for link in links:
                target = _target(link, chunks_of(link.path))
                if target is not None and link.source in own:
                    edge = join(link.source, LABEL, target)
                    found[edge.urn] = edge
            edges[path] = list(found.values())
        yield manifest.link(edges, caller)


def _steps(urn: str) -> Steps:
    """The slugs of the headings down to a chunk."""
    label = urn.partition("#")[2]
    if "%" in label:
        label = urns.decode(urn).fragment or ""
    return tuple(label.partition("~")[0].split("."))


def _target(link: FileLink, found: Mapping[str, Steps]) -> str | None:
    """The chunk that a link means."""
    first = next(iter(found), None)
    if first is None or not link.anchor:
        return first
    wanted = chunks.slug(link.anchor)
    below = [urn for urn, steps in found.items() if wanted in steps]
    return next((urn for urn in below if found[urn][-1] == wanted), (below or [first])[0])
