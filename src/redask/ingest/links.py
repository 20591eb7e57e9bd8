"""Links between documents to edges: `resolve` them once every file is ingested.

    target file     must be ingested as a document; else there is no edge (yet)
    target chunk    the first chunk of the section whose heading is the anchor, else the first
                    chunk of a section below it, else the file's first chunk
    edge            from the chunk with the link to the target chunk, labelled `links to`

Runs at the end of an ingest, for the files that it changed and for those that link to them: the
target of a link may be read after it, and may be cut into other chunks.
"""

from collections.abc import Callable, Iterator, Mapping

from redask.core.model import Caller
from redask.core.ports import LINK_LABEL, Entity, FileLink, LoadOutcome, OriginManifest
from redask.core.rules import urn as urns
from redask.ingest.readers import chunks

_BATCH = 500
_CACHED_FILES = 20_000

MakeEdge = Callable[[str, str, str], Entity]
HeadingPath = tuple[str, ...]


def resolve(manifest: OriginManifest, caller: Caller, make_edge: MakeEdge) -> Iterator[LoadOutcome]:
    """Resolve all unresolved links, in batches of files. → what each write did."""
    cached: dict[str, dict[str, HeadingPath]] = {}

    def chunks_of(path: str) -> dict[str, HeadingPath]:
        if path not in cached:
            if len(cached) >= _CACHED_FILES:
                cached.clear()
            cached[path] = {urn: _heading_path(urn) for urn in manifest.chunks(path, caller)}
        return cached[path]

    while unresolved := manifest.pending_links(_BATCH, caller):
        edges = {}
        for path, links in unresolved.items():
            own = chunks_of(path) if links else {}
            found: dict[str, Entity] = {}
            for link in links:
                target = _target(link, chunks_of(link.path))
                if target is not None and link.source in own:
                    edge = make_edge(link.source, LINK_LABEL, target)
                    found[edge.urn] = edge
            edges[path] = list(found.values())
        yield manifest.link(edges, caller)


def _heading_path(urn: str) -> HeadingPath:
    """The slugs of the headings above a chunk, from the top one down."""
    label = urn.partition("#")[2]
    if "%" in label:
        label = urns.decode(urn).fragment or ""
    return tuple(label.partition("~")[0].split("."))


def _target(link: FileLink, found: Mapping[str, HeadingPath]) -> str | None:
    """The chunk that a link points to; None when the file has none."""
    first = next(iter(found), None)
    if first is None or not link.anchor:
        return first
    anchor = chunks.slug(link.anchor)
    below = [urn for urn, headings in found.items() if anchor in headings]
    return next((urn for urn in below if found[urn][-1] == anchor), (below or [first])[0])
