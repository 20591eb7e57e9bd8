"""The prepared statements of a session, and its portals: `PreparedStatements`.

    limit                                   beyond it
    `MAX_STATEMENTS` and `MAX_PORTALS`      54000
    `MAX_BYTES` of texts and values         54000

Parse makes a prepared statement, Bind a portal of it. A portal is run by its first Execute; each
Execute returns the next rows. DECLARE makes a portal, too, which has run: a cursor. Outside of a
transaction all portals are closed by Sync, inside by its end, but for cursors WITH HOLD once their
transaction is committed. The unnamed statement and the unnamed portal are replaced by the next
ones; named ones must be closed.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from redask.core.errors import BadAsk, SqlError
from redask.core.sql import literals
from redask.core.sql.shown_values import read_shown
from redask.core.sql.types import BY_OID, SqlType
from redask.core.sql.written.written_types import WRITTEN
from redask.server.pgwire.cursors.cursor_scan import CursorScan
from redask.server.pgwire.protocol.frontend_messages import VIOLATION, Bind
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session.planned_statement import PlannedStatement, StatementResult
from redask.server.pgwire.types import decoding
from redask.server.pgwire.types.oids import TEXT

MAX_STATEMENTS = 1000
MAX_PORTALS = 100
MAX_BYTES = 16 * 1024 * 1024
_CHECKED = WRITTEN | frozenset(
    """bool int2 int4 int8 float4 float8 numeric date time timestamp timestamptz interval uuid
    oid""".split()
)
_EACH = 256  # bytes that an entry takes beside its text or values


@dataclass(frozen=True, slots=True)
class PreparedStatement:
    """What Parse made; `planned` is None when the text was empty; `made` at that time."""

    text: str
    planned: PlannedStatement | None
    made: float = field(default_factory=time.time)

    @property
    def cost(self) -> int:
        return len(self.text) * 4 + _EACH


@dataclass(slots=True)
class Portal:
    """What Bind or DECLARE made: a prepared statement with its values, and where its rows stand.

    `is_held` are cursors WITH HOLD, `is_kept` those whose transaction was committed; `level` is the
    number of savepoints when it was made.
    """

    prepared: PreparedStatement
    values: Sequence[object]
    formats: tuple[int, ...]
    cost: int
    result: StatementResult | None = None
    scan: CursorScan | None = None
    is_cursor: bool = False
    is_held: bool = False
    is_kept: bool = False
    is_binary: bool = False
    level: int = 0

    def close(self) -> None:
        """Let go of its rows."""
        if self.result is not None:
            self.result.close()


@dataclass(slots=True)
class PreparedStatements:
    """The prepared statements and portals of a session, by name."""

    statements: dict[str, PreparedStatement] = field(default_factory=dict)
    portals: dict[str, Portal] = field(default_factory=dict)
    bytes: int = 0

    def add_statement(self, name: str, prepared: PreparedStatement) -> None:
        if name and name in self.statements:
            raise SqlStateError("42P05", f'prepared statement "{name}" already exists')
        self.close_statement(name)
        self._reserve(len(self.statements) < MAX_STATEMENTS, prepared.cost)
        self.statements[name] = prepared

    def add_portal(self, name: str, portal: Portal) -> None:
        if name and name in self.portals:
            raise SqlStateError("42P03", f'portal "{name}" already exists')
        self.close_portal(name)
        self._reserve(len(self.portals) < MAX_PORTALS, portal.cost)
        self.portals[name] = portal

    def statement(self, name: str) -> PreparedStatement:
        found = self.statements.get(name)
        if found is None:
            raise SqlStateError("26000", f'prepared statement "{name}" does not exist')
        return found

    def portal(self, name: str) -> Portal:
        found = self.portals.get(name)
        if found is None:
            raise SqlStateError("34000", f'portal "{name}" does not exist')
        return found

    def close_statement(self, name: str) -> None:
        closed = self.statements.pop(name, None)
        self.bytes -= closed.cost if closed else 0

    def close_portal(self, name: str) -> None:
        closed = self.portals.pop(name, None)
        if closed is not None:
            self.bytes -= closed.cost
            closed.close()

    def close_portals(self) -> None:
        for name in list(self.portals):
            self.close_portal(name)

    def end_transaction(self, *, committed: bool) -> None:
        """Close all portals but the cursors that outlive a transaction."""
        for name, portal in list(self.portals.items()):
            if not portal.is_kept and not (committed and portal.is_held):
                self.close_portal(name)
            portal.is_kept, portal.level = True, 0

    def lower(self, level: int) -> None:
        """What was made after a savepoint belongs to what was before it."""
        for portal in self.portals.values():
            portal.level = min(portal.level, level)

    def close_above(self, level: int) -> None:
        """Close what was made after a savepoint."""
        for name, portal in list(self.portals.items()):
            if portal.level > level:
                self.close_portal(name)

    def deallocate(self, names: Sequence[str] | None) -> None:
        """Close prepared statements; None: all."""
        for name in list(self.statements) if names is None else names:
            self.close_statement(name)

    def _reserve(self, below_limit: bool, cost: int) -> None:
        if not below_limit or self.bytes + cost > MAX_BYTES:
            raise SqlStateError("54000", "too many statements are kept here: close some")
        self.bytes += cost


def bind(prepared: PreparedStatement, message: Bind) -> Portal:
    """The portal of a Bind; `SqlStateError` when its values do not fit the statement."""
    planned = prepared.planned
    oids = planned.parameters if planned else ()
    columns = (planned.columns if planned else None) or ()
    if len(message.values) != len(oids):
        raise SqlStateError(
            VIOLATION, f"the statement has {len(oids)} parameters, and {len(message.values)} came"
        )
    forms = format_codes(message.formats, len(oids))
    values = [
        _value(number, oid, data, form)
        for number, (oid, data, form) in enumerate(
            zip(oids, message.values, forms, strict=True), start=1
        )
    ]
    cost = sum(len(each) for each in message.values if each is not None) + _EACH
    return Portal(prepared, values, format_codes(message.results, len(columns)), cost)


def format_codes(formats: Sequence[int], count: int) -> tuple[int, ...]:
    """A format code for each: none is text for all, one is for all."""
    if not set(formats) <= {0, 1}:
        raise SqlStateError(VIOLATION, "a format is neither text (0) nor binary (1)")
    if len(formats) > 1 and len(formats) != count:
        raise SqlStateError(VIOLATION, f"{len(formats)} formats came for {count} values")
    return tuple(formats) if len(formats) == count else (*formats, 0)[:1] * count


def _value(number: int, oid: int, data: bytes | None, form: int) -> object:
    try:
        if form == 0:
            return _text(oid, data)
        return decoding.decode(oid, data, True)
    except SqlError:
        raise
    except BadAsk as error:
        state = "22P03" if form else "22P02"
        raise SqlStateError(state, f"${number}: {error.message}") from None


def _text(oid: int, data: bytes | None) -> object:
    """A value in text, which the statement will read by PostgreSQL's rules; checked now."""
    text = decoding.decode(TEXT, data, False)
    kind = BY_OID.get(oid)
    if isinstance(text, str) and kind is not None and kind.name in _CHECKED and not kind.is_array:
        _check(text, kind)
    return text


def _check(text: str, kind: SqlType) -> None:
    try:
        literals.read(text, kind)
    except SqlError as error:
        if error.sqlstate != "0A000" or read_shown(text, kind, "UTC") is None:
            raise
