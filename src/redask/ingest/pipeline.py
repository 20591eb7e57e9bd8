"""One ingest run: `run` over paths, with the `IngestContext` that the app sets up.

    1  list the files of every path                                                  `listing`
    2  delete the entities of files that are no longer in a requested folder
    3  for each file: skip it if it is unchanged, else read all of it           readers, `spool`
    4  write, many small files in one transaction, a large one in parts: `IngestContext.write`
    5  files with URNs that belong to another file: retry, now that all others are written
    6  resolve the links between documents                                             `links`

A file that cannot be read is reported with its reason, its earlier entities stay, and the run
continues. When the store fails or the run is stopped, every committed file is complete, and the
next run continues from there: a file that is done is recognised by its revision.
"""

import hashlib
import os
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from redask.core.errors import AskError, BadAsk, Cancelled, StoreFailed
from redask.core.model import (
    Caller,
    FileProblem,
    IngestProgress,
    IngestReport,
    IngestTally,
    LeftOut,
)
from redask.core.ports import Entity, FileLink, Load, LoadOutcome, Origin, OriginManifest
from redask.core.rules import urn as urns
from redask.core.text import lower
from redask.ingest import links, listing
from redask.ingest.process_reading import RecordReader
from redask.ingest.readers import content, reader_for
from redask.ingest.records import (
    FoundFile,
    MakeEntity,
    OpenedFile,
    ReadEdge,
    ReadItem,
    ReadKey,
    ReadLink,
    ReadRecord,
    ReadSkipped,
    made_entity,
    revision,
)
from redask.ingest.spool import Spool

BATCH = 5000  # entities in one transaction
_DELETE_BATCH = 100  # origins in one transaction


@dataclass(frozen=True, slots=True)
class IngestContext:
    """What an ingest run needs. `records` reads a file, `write` stores a batch."""

    manifest: OriginManifest
    caller: Caller
    records: RecordReader
    entity: MakeEntity
    edge: Callable[[str, str, str], Entity]
    write: Callable[[Sequence[Load]], LoadOutcome]
    avoid: frozenset[str] = frozenset()
    follow_symlinks: bool = False
    progress: Callable[[IngestProgress], None] = field(default=lambda _: None)
    stopped: Callable[[], bool] = field(default=lambda: False)


def run(paths: Sequence[str], collection: str | None, context: IngestContext) -> IngestReport:
    """Bring the database up to date with the files at these paths."""
    ingest = _Ingest(collection, context)
    try:
        return ingest.run(paths)
    except StoreFailed as error:
        raise error.after(ingest.so_far()) from error


class _Ingest:
    """The state of one run."""

    def __init__(self, collection: str | None, context: IngestContext) -> None:
        self._collection = collection
        self._context = context
        self._known: dict[str, Origin] = {}
        self._problems: list[FileProblem] = []
        self._tallies: dict[str, IngestTally] = {}
        self._pending: list[tuple[FoundFile, Load]] = []
        self._pending_entities = 0
        self._conflicts: dict[str, tuple[FoundFile, str]] = {}
        self._written = self._removed = self._missing = 0
        self._ignored: list[str] = []
        self._progress = IngestProgress("", 0, 0, 0, 0, 0)

    def run(self, paths: Sequence[str]) -> IngestReport:
        files = self._list_files(paths)
        total = sum(found.size for found in files)
        self._progress = replace(self._progress, files=len(files), bytes=total)
        for found in files:
            self._report_progress(found.path)
            self._ingest_file(found)
            self._progress = replace(
                self._progress,
                files_done=self._progress.files_done + 1,
                bytes_done=self._progress.bytes_done + found.size,
            )
        self._flush()
        self._retry_conflicts()
        context = self._context
        for outcome in links.resolve(context.manifest, context.caller, context.edge):
            self._add_counts(outcome)
            self._check_stopped()
        self._report_progress("")
        return IngestReport(
            tuple(self._tallies[name] for name in sorted(self._tallies)),
            tuple(sorted(set(self._problems), key=lambda each: (each.path, each.reason))),
            self._written,
            self._removed,
            len(set(self._ignored)),
            self._missing,
            _left_out(self._ignored),
        )

    def so_far(self) -> str:
        """What was written, for the error of a run that could not go on."""
        files = sum(each.read for each in self._tallies.values())
        done = f"{files} files with {self._written} new or changed entities were written before"
        return f"{done}: run it again to go on" if files or self._written else "no file was written"

    # --- which files -----------------------------------------------------------------------

    def _list_files(self, paths: Sequence[str]) -> list[FoundFile]:
        """The files at all paths, each once, in the order of the paths."""
        manifest, caller = self._context.manifest, self._context.caller
        files: dict[str, FoundFile] = {}
        for path in dict.fromkeys(paths):
            listed = listing.find(
                *(path, self._collection, reader_for, self._context.avoid),
                follow=self._context.follow_symlinks,
            )
            self._problems += listed.problems
            self._ignored += listed.ignored
            for found in listed.files if not listed.folder else ():
                self._known.update(manifest.known(found.path, caller))
                files.setdefault(found.path, self._with_known_root(found))
            if listed.folder:
                self._known.update(manifest.known(listed.root, caller))
                self._delete_missing(listed)
                for found in listed.files:
                    files.setdefault(found.path, found)
        return list(files.values())

    def _with_known_root(self, found: FoundFile) -> FoundFile:
        """A file ingested earlier with its folder keeps its URNs when it is named directly."""
        known = self._known.get(found.path)
        if known is None or known.root == found.path or found.requested_collection is not None:
            return found
        name = os.path.relpath(found.path, known.root).replace(os.sep, "/")
        return replace(
            found,
            root=known.root,
            name=name,
            requested_collection=known.requested_collection,
            named_directly=False,
        )

    def _delete_missing(self, listed: listing.FileList) -> None:
        """Delete the entities of files that are no longer in a folder."""
        present = {found.path for found in listed.files}
        unknown = {each.path for each in listed.problems}
        missing = [
            origin.path
            for origin in self._known.values()
            if origin.path not in present
            and f"{origin.path}/".startswith(f"{listed.root.rstrip('/')}/")
            and (origin.root == listed.root or not os.path.lexists(origin.path))
            and not _is_below(origin.path, unknown)
        ]
        for start in range(0, len(missing), _DELETE_BATCH):
            batch = missing[start : start + _DELETE_BATCH]
            self._removed += self._context.manifest.remove(batch, self._context.caller)
            self._missing += len(batch)
            self._check_stopped()
        for path in missing:
            del self._known[path]

    # --- reading ---------------------------------------------------------------------------

    def _ingest_file(self, found: FoundFile) -> None:
        """Read a file and queue it for writing, or report why that failed."""
        try:
            with Spool() as spool:
                origin = self._read(found, spool)
                if origin is None:
                    self._tally(found, unchanged=1)
                elif spool.is_small:
                    (entities,) = spool.parts()
                    self._pending.append(
                        (found, Load(origin, entities, spool.links, keys=spool.keys))
                    )
                    self._pending_entities += len(entities)
                    if self._pending_entities >= BATCH:
                        self._flush()
                else:
                    self._flush()
                    self._write_parts(found, origin, spool)
        except (Cancelled, StoreFailed):
            raise
        except AskError as error:
            self._fail(found, error.message)
        except (Exception, MemoryError) as error:  # a parser's bug must not end the run
            self._fail(found, f"could not be read ({type(error).__name__})")

    def _read(self, found: FoundFile, spool: Spool) -> Origin | None:
        """Fill the spool with the file's records. → its origin; None when it is unchanged."""
        row = found.reader
        data = b""
        if row.in_memory:
            data = content.snapshot(found.path, row.max_bytes)
            digest = hashlib.sha256(data).hexdigest()
        else:
            digest = content.digest((found.path, *(found.path + end for end in row.companions)))
        root = found.path if found.named_directly else found.root
        origin = Origin(found.path, root, found.requested_collection, revision(found, digest))
        if self._known.get(found.path) == origin:
            return None
        opened = OpenedFile(
            found, data, lambda done: self._report_progress(found.path, done), self._check
        )
        is_stable = row.in_memory or row.takes_snapshot
        with nullcontext() if is_stable else content.unchanged(found.path):
            for record in self._context.records(opened):
                self._spool_record(record, spool)
        for each in spool.skipped:
            path = f"{found.path}/{each.name}"
            if each.reason:
                self._problems.append(FileProblem(path, each.reason))
            else:
                self._ignored.append(path)
        if spool.skipped:  # it is read again next time, to say so again
            origin = replace(origin, revision=f"{origin.revision} incomplete")
        return origin

    def _spool_record(self, record: ReadRecord, spool: Spool) -> None:
        if self._context.stopped():
            self._check_stopped()
        match record:
            case ReadItem():
                spool.add(made_entity(self._context.entity, record))
            case ReadEdge(source, label, target):
                ends = urns.encode(source), urns.encode(target)
                spool.add(self._context.edge(ends[0], label, ends[1]))
            case ReadLink(source, path, anchor):
                spool.links.append(FileLink(urns.encode(source), path, anchor))
            case ReadKey(key):
                spool.keys.append(key)
            case ReadSkipped():
                spool.skipped.append(record)

    def _check(self, item: ReadItem) -> None:
        made_entity(self._context.entity, item)

    # --- writing ---------------------------------------------------------------------------

    def _flush(self) -> None:
        """Write the pending files in one transaction; if that is refused, each in its own."""
        pending, self._pending, self._pending_entities = self._pending, [], 0
        if not pending:
            return
        try:
            self._record_outcome(pending, self._context.write([load for _, load in pending]))
        except BadAsk as error:
            if len(pending) == 1:
                self._fail(pending[0][0], error.message)
                return
            for each in pending:
                self._pending.append(each)
                self._flush()
        self._check_stopped()

    def _record_outcome(self, pending: list[tuple[FoundFile, Load]], outcome: LoadOutcome) -> None:
        self._add_counts(outcome)
        for found, load in pending:
            other = outcome.refused.get(found.path)
            if other is None:
                self._tally(found, read=1, entities=len(load.entities))
            else:
                self._conflicts[found.path] = (found, other)

    def _write_parts(self, found: FoundFile, origin: Origin, spool: Spool) -> None:
        """Write a large file in several transactions; it is unfinished until the last one."""
        manifest, caller = self._context.manifest, self._context.caller
        for part in spool.parts():
            other = manifest.collisions(origin, [entity.urn for entity in part], caller)
            if other is not None:
                self._conflicts[found.path] = (found, other)
                return
        written, first, parts = 0, True, iter(spool.parts())
        part = next(parts)
        try:
            while True:
                following = next(parts, None)
                last = following is None
                load = Load(origin, part, spool.links if last else (), first, last, spool.keys)
                outcome = self._context.write([load])
                if outcome.refused:
                    raise BadAsk(_conflict(outcome.refused[found.path]))
                self._add_counts(outcome)
                written += len(part)
                self._check_stopped()
                if following is None:
                    break
                part, first = following, False
        except BadAsk:
            if found.path not in self._known:
                manifest.remove([found.path], caller)  # no partially written file stays
            raise
        self._tally(found, read=1, entities=written)

    def _retry_conflicts(self) -> None:
        """Read files with URN conflicts again: the other file may have changed, or be gone."""
        conflicts, self._conflicts = self._conflicts, {}
        for found, other in conflicts.values():
            if not os.path.lexists(other):
                self._removed += self._context.manifest.remove([other], self._context.caller)
            self._ingest_file(found)
            self._flush()
        for found, other in self._conflicts.values():
            self._fail(found, _conflict(other))

    # --- counting --------------------------------------------------------------------------

    def _add_counts(self, outcome: LoadOutcome) -> None:
        self._written += outcome.written
        self._removed += outcome.removed

    def _fail(self, found: FoundFile, reason: str) -> None:
        known = self._known.get(found.path)
        if known is not None and known.revision == "":  # an interrupted run began it
            self._removed += self._context.manifest.remove([found.path], self._context.caller)
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
        self._progress = replace(self._progress, entities=self._progress.entities + entities)

    def _report_progress(self, path: str, done: int = 0) -> None:
        self._context.progress(
            replace(self._progress, path=path, bytes_done=self._progress.bytes_done + done)
        )
        self._check_stopped()

    def _check_stopped(self) -> None:
        if self._context.stopped():
            raise Cancelled("the ingest was stopped; the next one goes on from here")


def _is_below(path: str, folders: Collection[str]) -> bool:
    """Whether a path is one of these, or below one."""
    while path not in folders:
        parent = os.path.dirname(path)
        if parent == path:
            return False
        path = parent
    return True


def _left_out(paths: Sequence[str]) -> tuple[LeftOut, ...]:
    """Files without a reader by their endings, the most frequent first."""
    by_suffix: dict[str, list[str]] = {}
    for path in sorted(set(paths)):
        by_suffix.setdefault(lower(os.path.splitext(path)[1]), []).append(path)
    found = [LeftOut(suffix, len(each), each[0]) for suffix, each in by_suffix.items()]
    return tuple(sorted(found, key=lambda each: (-each.count, each.suffix)))


def _conflict(other: str) -> str:
    return f"has URNs that belong to {other}: ingest it into a collection of its own"
