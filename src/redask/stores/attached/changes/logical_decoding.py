"""Changes by logical decoding: the server's own log of changes, read by its built-in `pgoutput`.

In the source, made and removed by whom the URL signs in, who needs REPLICATION and owns the tables:

    redask_<name>    a replication slot, that holds back the log until it was read
    redask_<name>    a publication of the attached tables

The name is that of the attachment with its mark: others may attach the same tables.
`wal_level` must be logical, and each table have a primary key. Of a change only the key is looked
at. A transaction counts once the reader's own state of the source has it: what commits later is
left in the slot. What was read is let go of once it is kept here: a slot that nobody reads fills
the disk, so detach, or drop the slot, when redask is gone for good.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from redask.core.errors import BadAsk
from redask.stores.attached.attachment import Attachment
from redask.stores.attached.changes import Changed
from redask.stores.attached.source_connection import AttachedDatabase, Connection
from redask.stores.attached.source_rows import SourceKey, table_sql_name
from redask.stores.attached.source_types import quoted

_START = "0/0"
_MOST_CHANGES = 100_000  # of one sync, and the rest of the transaction that goes beyond
_DROP = """SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots
    WHERE slot_name = $1"""
_PEEK = (
    "SELECT data FROM pg_logical_slot_peek_binary_changes($1, NULL, $2,"
    " 'proto_version', '1', 'publication_names', $3)"
)
_SEEN = """SELECT pg_visible_in_snapshot((CASE WHEN given > last THEN given - 4294967296
    ELSE given END)::text::xid8, pg_current_snapshot())
    FROM (SELECT last, (last / 4294967296) * 4294967296 + $1::bigint AS given
    FROM (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS last) AS now) AS number"""
_KEYED = """SELECT c.relreplident IN ('d', 'f') AND EXISTS
    (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)
    FROM pg_class c WHERE c.oid = to_regclass($1)"""


@dataclass(slots=True)
class Decoded:
    """What messages of pgoutput told: keys, and tables to read whole.

    `wanted` has the columns of each table's key.
    """

    wanted: Mapping[str, tuple[str, ...]]
    keys: dict[str, dict[SourceKey, None]] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    relations: dict[int, tuple[str, tuple[str, ...]]] = field(default_factory=dict)

    def add(self, message: bytes) -> None:
        """Read one message that tells of a table, or of a row."""
        kind, reader = message[:1], DecodedReader(message[1:])
        if kind == b"R":
            self._relation(reader)
        elif kind == b"T":
            count = reader.number(4)
            reader.number(1)
            self.whole.update(self.relations[reader.number(4)][0] for _ in range(count))
        elif kind in (b"I", b"U", b"D"):
            name, columns = self.relations[reader.number(4)]
            for values in reader.rows():
                self._row(name, dict(zip(columns, values, strict=True)))

    def _relation(self, reader: "DecodedReader") -> None:
        number, schema, name = reader.number(4), reader.text(), reader.text()
        reader.number(1)  # its replica identity
        columns = []
        for _ in range(reader.number(2)):
            reader.number(1)
            columns.append(reader.text())
            reader.number(8)  # type and modifier
        self.relations[number] = f"{schema}.{name}", tuple(columns)

    def _row(self, name: str, row: Mapping[str, str | None]) -> None:
        key = [row.get(each) for each in self.wanted.get(name, ())]
        known = tuple(each for each in key if each is not None)
        if len(known) < len(key):
            self.whole.add(name)  # a key that is too long to be sent again
        elif known:
            self.keys.setdefault(name, {})[known] = None


class DecodedReader:
    """The parts of a message, from its beginning."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def number(self, size: int) -> int:
        """A whole number of so many bytes."""
        return int.from_bytes(self._take(size), "big")

    def text(self) -> str:
        """A text that ends with a NUL."""
        size = self._data.index(0, self._at) - self._at
        return self._take(size + 1)[:-1].decode()

    def rows(self) -> Iterator[list[str | None]]:
        """The rows of a change, the old one (or its key alone) and the new; None: not sent."""
        while self._at < len(self._data):
            self.number(1)  # which of them it is
            values: list[str | None] = []
            for _ in range(self.number(2)):
                is_text = self.number(1) == ord("t")
                values.append(self._take(self.number(4)).decode() if is_text else None)
            yield values

    def _take(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]


class LogicalDecoding:
    """See the module."""

    def __init__(self, attachment: Attachment, source: AttachedDatabase) -> None:
        self._attachment = attachment
        self._source = source
        self._name = f"redask_{attachment.name_there}"

    def install(self) -> None:
        """Make the publication, then the slot: what is published from then on is in it."""
        tables = [table_sql_name(each) for each in self._attachment.tables]
        with self._source.administering() as connection:
            if connection.execute("SHOW wal_level").fetchone() != ("logical",):
                raise BadAsk(
                    "logical decoding needs wal_level = logical in the source: set it, or choose"
                    " --changes triggers or polling",
                    detail="changes",
                )
            for each in tables:  # without one, whoever changes a published row would fail
                if connection.execute(_KEYED, (each,)).fetchone() != (True,):
                    raise BadAsk(f"{each[:200]} has no primary key to publish", detail="changes")
            name = quoted(self._name)
            connection.execute(f"CREATE PUBLICATION {name} FOR TABLE {', '.join(tables)}")
        with self._source.alone() as connection:
            make = "SELECT pg_create_logical_replication_slot($1, 'pgoutput')"
            connection.execute(make, (self._name,))

    def position(self, _reader: Connection) -> str:
        """The slot knows it."""
        return _START

    def changed(self, reader: Connection, after: str) -> Changed:
        """Keys of transactions in the slot that the reader sees, by table."""
        wanted = {each.full_name: each.key for each in self._attachment.tables}
        decoded, last, pending = Decoded(wanted), after, []
        with self._source.alone() as connection:
            given = (self._name, _MOST_CHANGES, self._name)
            messages = [bytes(data) for (data,) in connection.execute(_PEEK, given).fetchall()]
        for message in messages:
            if message[:1] == b"B":
                number = DecodedReader(message[17:]).number(4)
                if reader.execute(_SEEN, (number,)).fetchone() != (True,):
                    break
            pending.append(message)
            if message[:1] == b"C":
                for each in pending:
                    decoded.add(each)
                high, low = (DecodedReader(message[at:]).number(4) for at in (10, 14))
                last, pending = f"{high:X}/{low:X}", []
        keys = {name: list(found) for name, found in decoded.keys.items()}
        return Changed(last, keys, frozenset(decoded.whole & set(wanted)))

    def forget(self, position: str) -> None:
        """Let the server drop its log up to there."""
        if position == _START:
            return
        with self._source.alone() as connection:
            forget = "SELECT pg_replication_slot_advance($1, ($2::text)::pg_lsn)"
            connection.execute(forget, (self._name, position))

    def uninstall(self) -> None:
        """Drop the slot and the publication."""
        with self._source.alone() as connection:
            connection.execute(_DROP, (self._name,))
            connection.execute(f"DROP PUBLICATION IF EXISTS {quoted(self._name)}")
