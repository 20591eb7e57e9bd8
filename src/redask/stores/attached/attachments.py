"""The attachments of a database: `Attachments(manifest, store, password)`.

    attach(…)      read the tables' definitions, close the collections to all but the readers, make
                   what the changes need, read all rows
    sync(…)        bring what is kept here up to date with the source
    detach(…)      remove what was made in the source, then what is kept here
    listed(…)      the attachments of a tenant

One reader at a time for each attachment, whichever node it is: a lock in the source. What was read
is written before the position is: killed at any moment, the next sync reads it again. When the role
may not read a table any more, what is kept here of the attachment goes at once. Only owners.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256

from redask.core.access.policy import must_own
from redask.core.errors import AskError, BadAsk, StoreFailed
from redask.core.model import Caller
from redask.core.ports import Load, OriginManifest
from redask.stores.attached import attachment as definitions
from redask.stores.attached import source_catalogue, source_types
from redask.stores.attached.attachment import PLACE, Attachment
from redask.stores.attached.changes import feed_for, is_not_allowed, ways_of
from redask.stores.attached.source_connection import NOT_ALLOWED, AttachedDatabase, kept_url
from redask.stores.attached.table_sync import HeldRows, SyncReport, TableSync
from redask.stores.backend import EntityStore

Password = Callable[[str], str | None]  # of the attachment of a name


@dataclass(frozen=True, slots=True)
class AttachedState:
    """An attachment, and how far its changes are read; None: it was never read to its end."""

    attachment: Attachment
    position: str | None


class Attachments:
    """See the module."""

    def __init__(
        self, manifest: OriginManifest, store: EntityStore, password: Password = lambda _: None
    ) -> None:
        self._manifest = manifest
        self._store = store
        self._password = password

    def listed(self, caller: Caller) -> list[AttachedState]:
        """The attachments, by name; nobody is asked whether they may: see `must_own`."""
        return [
            AttachedState(definitions.read(each), each.revision or None)
            for _, each in sorted(self._manifest.known(PLACE, caller).items())
        ]

    def source(self, attachment: Attachment) -> AttachedDatabase:
        """Where an attachment is."""
        return AttachedDatabase(attachment.url, self._password(attachment.name))

    def attach(
        self,
        url: str,
        tables: Sequence[str],
        caller: Caller,
        *,
        name: str,
        role: str | None = None,
        readers: Sequence[str] = (),
        changes: str = "polling",
        prefix: str | None = None,
    ) -> tuple[Attachment, SyncReport]:
        """Attach tables, and read them. → the attachment, and what was written"""
        must_own(caller)
        definitions.check_name(name)
        definitions.check_readers(readers)
        if name in {each.attachment.name for each in self.listed(caller)}:
            raise BadAsk(f"there is an attachment {name!a} already: detach it first", detail="name")
        whose = f"{self._store.identity} {caller.tenant} {name}"
        mark = sha256(whose.encode()).hexdigest()[:8]
        draft = Attachment(name, mark, kept_url(url), role, tuple(readers), changes, ())
        with self.source(draft).reading(role) as reader:
            source_catalogue.check_role(reader)
            made = replace(draft, tables=source_catalogue.read_tables(reader, tables, prefix))
        self._check_new(made, caller)
        first, *others = (replace(made, changes=way) for way in ways_of(changes))
        return self._installed(first, others, caller)

    def _installed(
        self, made: Attachment, others: Sequence[Attachment], caller: Caller
    ) -> tuple[Attachment, SyncReport]:
        """Keep, install and read; where the source does not allow it, the first of the others."""
        feed = feed_for(made, self.source(made))
        self._keep(made, None, caller)
        try:
            self._describe(made, caller)
            feed.install()
            return made, self._sync(AttachedState(made, None), caller)
        except BaseException as error:
            with suppress(StoreFailed):  # a source that is gone keeps what was made there
                feed.uninstall()
            self._forget(made, caller)
            if not (others and isinstance(error, AskError) and is_not_allowed(error)):
                raise
        return self._installed(others[0], others[1:], caller)

    def _describe(self, made: Attachment, caller: Caller) -> None:
        """Say who reads the tables, before there is anything to read in them, and their types."""
        ruled = self._store.policies(caller)
        for table in made.tables:
            if table.collection not in ruled:
                self._store.set_policy(table.collection, made.policy(), caller)
            for column in table.columns:
                kind = source_types.fixed_type(column)
                self._store.set_column_type(table.collection, column.name, kind, caller)

    def sync(self, name: str | None, caller: Caller) -> SyncReport:
        """Bring one attachment, or all, up to date. → what was done"""
        must_own(caller)
        states = self.listed(caller)
        chosen = [each for each in states if name in (None, each.attachment.name)]
        if name is not None and not chosen:
            raise _unknown(name)
        done = SyncReport()
        for each in chosen:
            done = done + self._sync(each, caller)
        return done

    def detach(self, name: str, caller: Caller, *, forget_source: bool = False) -> int:
        """Detach: the tables stay as they were before. → how many entities went

        `forget_source` is for a source that is gone: nothing is removed there.
        """
        must_own(caller)
        found = [e.attachment for e in self.listed(caller) if e.attachment.name == name]
        if not found:
            raise _unknown(name)
        if not forget_source:
            feed_for(found[0], self.source(found[0])).uninstall()
        return self._forget(found[0], caller)

    # --- what is kept here -------------------------------------------------------------------

    def _check_new(self, made: Attachment, caller: Caller) -> None:
        held = {
            each.name for each in self._store.collections(caller) if any(each.entities.values())
        }
        taken = sorted(held & {table.collection for table in made.tables})
        if taken:
            raise BadAsk(
                f"there is a collection {taken[0][:200]!a} already: give --prefix", detail="prefix"
            )

    def _keep(self, made: Attachment, position: str | None, caller: Caller) -> None:
        origin = made.origin(position)
        self._manifest.load([Load(origin, (), keys=made.declared_keys())], caller)

    def _forget(self, made: Attachment, caller: Caller) -> int:
        paths = [*(made.path_of(each) for each in made.tables), made.path]
        gone = self._manifest.remove(paths, caller)
        ruled = self._store.policies(caller)
        for table in made.tables:
            for column in table.columns:
                self._store.set_column_type(table.collection, column.name, None, caller)
            if ruled.get(table.collection) == made.policy():
                self._store.set_policy(table.collection, None, caller)
        return gone

    # --- reading -----------------------------------------------------------------------------

    def _sync(self, state: AttachedState, caller: Caller) -> SyncReport:
        made = state.attachment
        source = self.source(made)
        feed = feed_for(made, source)
        work = TableSync(self._manifest, self._store, made, caller)
        key = int.from_bytes(sha256(f"{self._store.identity} {made.path}".encode()).digest()[:7])
        try:
            with source.locked(made.role, key) as reader:
                if reader is None:
                    return SyncReport(busy=True)
                source_catalogue.check_role(reader)
                before, held = self._position(made, caller)
                if before is None:
                    position = feed.position(reader)
                    report = work.read_whole(reader, made.tables)
                else:
                    changed = feed.changed(reader, before)
                    position = changed.position
                    report = work.apply(reader, changed, held)
                if position != before or work.held != held:
                    self._keep(made, json.dumps([position, work.held]), caller)
        except StoreFailed as error:
            if error.detail == NOT_ALLOWED:
                self._manifest.remove([made.path_of(each) for each in made.tables], caller)
                self._keep(made, None, caller)
            raise
        if position != before:
            feed.forget(position)
        return report

    def _position(self, made: Attachment, caller: Caller) -> tuple[str | None, HeldRows]:
        """How far it is by now (another node may have been there), and which rows are held."""
        known = {each.attachment.name: each.position for each in self.listed(caller)}
        if made.name not in known:
            raise _unknown(made.name)
        kept = known[made.name]
        if kept is None:
            return None, {}
        position, held = json.loads(kept)
        return position, {name: (rows, total) for name, (rows, total) in held.items()}


def _unknown(name: str) -> BadAsk:
    return BadAsk(
        f"there is no attachment {name[:100]!a}: `redask attach` lists them", detail="name"
    )
