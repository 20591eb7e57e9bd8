"""One ingest from top to bottom: `run` over paths, with the `IngestContext` that the app sets up.

    1  list the files of every path                                                  `listing`
    2  forget what came from files that are gone from a folder asked for
    3  file by file: pass over what is unchanged; read it to its end             readers, `spool`
    4  write, many small files in one transaction, a large one in parts: `IngestContext.write`
    5  files that brought what another file brought: once more, now that all others are there
    6  settle the links between files                                                  `links`

A file that cannot be read is a problem, with its reason, and the next one is read; what it brought
before stays. When the store fails, or the run is stopped, everything written so far is whole and
the next run goes on from there: what is done is recognised by its stamp.
"""

import hashlib
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from redask.core.errors import AskError, BadAsk, Cancelled, StoreFailed
from redask.core.model import Caller, FileProblem, IngestProgress, IngestReport, IngestTally, Urn
from redask.core.ports import Entity, FileLink, Load, LoadOutcome, Origin, OriginManifest
from redask.core.rules import urn as urns
from redask.ingest import links, listing
from redask.ingest.readers import content, reader_for
from redask.ingest.records import (
    FoundFile,
    OpenedFile,
    ReadEdge,
    ReadItem,
    ReadLink,
    ReadRecord,
    stamp,
)
from redask.ingest.spool import Spool

BATCH = 5000  # entities in one transaction
_FORGET = 100


@dataclass(frozen=True, slots=True)
class IngestContext:
    """What an ingest works with. `write` is where a batch is written, and may add vectors."""

    manifest: OriginManifest
    caller: Caller
    entity: Callable[[Urn, Mapping[str, object]], Entity]
    edge: Callable[[str, str, str], Entity]
    write: Callable[[Sequence[Load]], LoadOutcome]
    avoid: frozenset[str] = frozenset()
    progress: Callable[[IngestProgress], None] = field(default=lambda _: None)
    stopped: Callable[[], bool] = field(default=lambda: False)


def run(paths: Sequence[str], choice: str | None, desk: IngestContext) -> IngestReport:
    """Bring the database up to date with the files at these paths."""
    return _Ingest(choice, desk).run(paths)


class _Ingest:
    """The state of one run."""

    def __init__(self, choice: str | None, desk: IngestContext) -> None:
        self._choice = choice
        self._desk = desk
        self._known: dict[str, Origin] = {}
        self._problems: list[FileProblem] = []
        self._tallies: dict[str, IngestTally] = {}
        self._pending: list[tuple[FoundFile, Load]] = []
        self._waiting = 0
        self._collided: dict[str, tuple[FoundFile, str]] = {}
        self._written = self._removed = self._gone = self._ignored = 0
        self._at = IngestProgress("", 0, 0, 0, 0, 0)

    def run(self, paths: Sequence[str]) -> IngestReport:
        files = self._list(paths)
        total = sum(found.size for found in files)
        self._at = replace(self._at, files=len(files), bytes=total)
        for found in files:
            self._tell(found.path)
            self._file(found)
            self._at = replace(
                self._at,
                files_done=self._at.files_done + 1,
                bytes_done=self._at.bytes_done + found.size,
            )
        self._flush()
        self._retry()
        for outcome in links.settle(self._desk.manifest, self._desk.caller, self._desk.edge):
            self._count(outcome)
            self._check_stopped()
        self._tell("")
        return IngestReport(
            tuple(self._tallies[name] for name in sorted(self._tallies)),
            tuple(sorted(self._problems, key=lambda each: (each.path, each.reason))),
            self._written,
            self._removed,
            self._ignored,
            self._gone,
        )

    # --- which files -----------------------------------------------------------------------

    def _list(self, paths: Sequence[str]) -> list[FoundFile]:
        """The files of all paths, each once, in the order of the paths."""
        manifest, caller = self._desk.manifest, self._desk.caller
        files: dict[str, FoundFile] = {}
        for path in dict.fromkeys(paths):
            listed = listing.find(path, self._choice, reader_for, self._desk.avoid)
            self._problems += listed.problems
            self._ignored += listed.ignored
            for found in listed.files if not listed.folder else ():
                self._known.update(manifest.known(found.path, caller))
                files.setdefault(found.path, self._as_before(found))
            if listed.folder:
                self._known.update(manifest.known(listed.root, caller))
                self._forget_gone(listed)
                for found in listed.files:
                    files.setdefault(found.path, found)
        return list(files.values())

    def _as_before(self, found: FoundFile) -> FoundFile:
        """A file that came with its folder stays where it is when it is named alone."""
        known = self._known.get(found.path)
        if known is None or known.root == found.path or found.choice is not None:
            return found
        name = os.path.relpath(found.path, known.root).replace(os.sep, "/")
        return replace(found, root=known.root, name=name, choice=known.choice, alone=False)

    def _forget_gone(self, listed: listing.FileList) -> None:
        """Remove what came from files that are no longer in a folder."""
        seen = {found.path for found in listed.files}
        unseen = {each.path for each in listed.problems}
        gone = [
            origin.path
            for origin in self._known.values()
            if origin.path not in seen
            and f"{origin.path}/".startswith(f"{listed.root.rstrip('/')}/")
            and (origin.root == listed.root or not os.path.lexists(origin.path))
            and not _is_below(origin.path, unseen)
        ]
        for start in range(0, len(gone), _FORGET):
            some = gone[start : start + _FORGET]
            self._removed += self._desk.manifest.forget(some, self._desk.caller)
            self._gone += len(some)
            self._check_stopped()
        for path in gone:
            del self._known[path]

    # --- reading ---------------------------------------------------------------------------

    def _file(self, found: FoundFile) -> None:
        """Read a file and have it written, or say why not."""
        try:
            with Spool() as spool:
                origin = self._read(found, spool)
                if origin is None:
                    self._tally(found, unchanged=1)
                elif spool.is_small:
                    (entities,) = spool.parts()
                    self._pending.append((found, Load(origin, entities, spool.links)))
                    self._waiting += len(entities)
                    if self._waiting >= BATCH:
                        self._flush()
                else:
                    self._flush()
                    self._write_parts(found, origin, spool)
        except (Cancelled, StoreFailed):
            raise
        except AskError as error:
            self._fail(found, error.message)
        except (Exception, MemoryError) as error:  # a parser's surprise is this file's problem
            self._fail(found, f"could not be read ({type(error).__name__})")

    def _read(self, found: FoundFile, spool: Spool) -> Origin | None:
        """Fill the spool with what the file brings. → its origin; None when it is unchanged."""
        row = found.reader
        data = b""
        if row.whole:
            data = content.snapshot(found.path, row.most)
            digest = hashlib.sha256(data).hexdigest()
        else:
            digest = content.digest((found.path, *(found.path + end for end in row.beside)))
        root = found.path if found.alone else found.root
        origin = Origin(found.path, root, found.choice, stamp(found, digest))
        if self._known.get(found.path) == origin:
            return None
        opened = OpenedFile(found, data, lambda done: self._tell(found.path, done))
        watched = nullcontext() if row.whole or row.steady else content.unchanged(found.path)
        with watched:
            for record in row.read(opened):
                self._keep(record, spool)
        return origin

    def _keep(self, record: ReadRecord, spool: Spool) -> None:
        if self._desk.stopped():
            self._check_stopped()
        match record:
            case ReadItem(address, values):
                try:
                    entity = self._desk.entity(address, values)
                except BadAsk as error:
                    place = address.id if address.fragment is None else address.fragment
                    raise BadAsk(f"{address.collection}/{place}: {error.message}") from None
                spool.add(entity)
            case ReadEdge(source, label, target):
                ends = urns.encode(source), urns.encode(target)
                spool.add(self._desk.edge(ends[0], label, ends[1]))
            case ReadLink(source, path, anchor):
                spool.links.append(FileLink(urns.encode(source), path, anchor))

    # --- writing ---------------------------------------------------------------------------

    def _flush(self) -> None:
        """Write what is pending in one transaction; if that is refused, file by file."""
        pending, self._pending, self._waiting = self._pending, [], 0
        if not pending:
            return
        try:
            self._finish(pending, self._desk.write([load for _, load in pending]))
        except BadAsk as error:
            if len(pending) == 1:
                self._fail(pending[0][0], error.message)
                return
            for each in pending:
                self._pending.append(each)
                self._flush()
        self._check_stopped()

    def _finish(self, pending: list[tuple[FoundFile, Load]], outcome: LoadOutcome) -> None:
        self._count(outcome)
        for found, load in pending:
            other = outcome.refused.get(found.path)
            if other is None:
                self._tally(found, read=1, entities=len(load.entities))
            else:
                self._collide(found, other)

    def _write_parts(self, found: FoundFile, origin: Origin, spool: Spool) -> None:
        """Write a large file in several transactions; it is unfinished until the last one."""
        manifest, caller = self._desk.manifest, self._desk.caller
        for part in spool.parts():
            other = manifest.collisions(origin, [entity.urn for entity in part], caller)
            if other is not None:
                self._collide(found, other)
                return
        written, first, waiting = 0, True, iter(spool.parts())
        part = next(waiting)
        try:
            while True:
                following = next(waiting, None)
                last = following is None
                load = Load(origin, part, spool.links if last else (), first, last)
                outcome = self._desk.write([load])
                if outcome.refused:
                    raise BadAsk(_collision(outcome.refused[found.path]))
                self._count(outcome)
                written += len(part)
                self._check_stopped()
                if following is None:
                    break
                part, first = following, False
        except BadAsk:
            if found.path not in self._known:
                manifest.forget([found.path], caller)  # nothing stays half-written
            raise
        self._tally(found, read=1, entities=written)

    def _retry(self) -> None:
        """Read once more what collided: the other file may have let go of it, or be gone."""
        collided, self._collided = self._collided, {}
        for found, other in collided.values():
            if not os.path.lexists(other):
                self._removed += self._desk.manifest.forget([other], self._desk.caller)
            self._file(found)
            self._flush()
        for found, other in self._collided.values():
            self._fail(found, _collision(other))

    # --- counting --------------------------------------------------------------------------

    def _collide(self, found: FoundFile, other: str) -> None:
        self._collided[found.path] = (found, other)

    def _count(self, outcome: LoadOutcome) -> None:
        self._written += outcome.written
        self._removed += outcome.removed

    def _fail(self, found: FoundFile, reason: str) -> None:
        known = self._known.get(found.path)
        if known is not None and known.stamp == "":  # begun by a run that was cut off
            self._removed += self._desk.manifest.forget([found.path], self._desk.caller)
        self._problems.append(FileProblem(found.path, reason))
        self._tally(found, failed=1)

    def _tally(
        self,
        found: FoundFile,
        read: int = 0,
        unchanged: int = 0,
        failed: int = 0,
        entities: int = 0,
    ) -> None:
        name = found.reader.name
        had = self._tallies.get(name, IngestTally(name))
        self._tallies[name] = IngestTally(
            name,
            had.read + read,
            had.unchanged + unchanged,
            had.failed + failed,
            had.entities + entities,
        )
        self._at = replace(self._at, entities=self._at.entities + entities)

    def _tell(self, path: str, done: int = 0) -> None:
        self._desk.progress(replace(self._at, path=path, bytes_done=self._at.bytes_done + done))
        self._check_stopped()

    def _check_stopped(self) -> None:
        if self._desk.stopped():
            raise Cancelled("the ingest was stopped; the next one goes on from here")


def _is_below(path: str, places: Collection[str]) -> bool:
    """Whether a path is one of these places, or below one."""
    while path not in places:
        above = os.path.dirname(path)
        if above == path:
            return False
        path = above
    return True


def _collision(other: str) -> str:
    return f"brings what came from {other} already: give it a collection of its own"
