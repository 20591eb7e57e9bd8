"""What one connection keeps: statements that were parsed, and portals, which are those with values.

    bound                                   beyond it
    `MAX_STATEMENTS` and `MAX_PORTALS`      54000
    `MAX_KEPT` bytes of texts and values    54000

A portal is run by its first Execute and hands out its rows in as many as it takes. Outside of a
transaction all portals end with the series of messages (Sync), inside with the transaction. The
statement and the portal without a name are replaced by the next ones; named ones must be closed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from redask.core.errors import BadAsk
from redask.server.pgwire.protocol.frontend_messages import VIOLATION, BindPortal
from redask.server.pgwire.session.planned import PlannedStatement, WireFault, WireRows
from redask.server.pgwire.types import encoding

MAX_STATEMENTS = 1000
MAX_PORTALS = 100
MAX_KEPT = 16 * 1024 * 1024
_EACH = 256  # bytes that keeping anything at all costs


@dataclass(frozen=True, slots=True)
class Prepared:
    """A parsed statement; `planned` is None when the text was empty."""

    text: str
    planned: PlannedStatement | None

    @property
    def cost(self) -> int:
        return len(self.text) * 4 + _EACH


@dataclass(slots=True)
class Portal:
    """A statement with its values, and how far its rows were handed out."""

    prepared: Prepared
    values: Sequence[object]
    formats: tuple[int, ...]
    cost: int
    found: WireRows | None = None
    given: int = 0


@dataclass(slots=True)
class SessionStatements:
    """The statements and portals of a connection, by name."""

    statements: dict[str, Prepared] = field(default_factory=dict)
    portals: dict[str, Portal] = field(default_factory=dict)
    kept: int = 0

    def keep_statement(self, name: str, prepared: Prepared) -> None:
        if name and name in self.statements:
            raise WireFault("42P05", f'prepared statement "{name}" already exists')
        self.close_statement(name)
        self._make_room(len(self.statements) < MAX_STATEMENTS, prepared.cost)
        self.statements[name] = prepared

    def keep_portal(self, name: str, portal: Portal) -> None:
        if name and name in self.portals:
            raise WireFault("42P03", f'portal "{name}" already exists')
        self.close_portal(name)
        self._make_room(len(self.portals) < MAX_PORTALS, portal.cost)
        self.portals[name] = portal

    def statement(self, name: str) -> Prepared:
        found = self.statements.get(name)
        if found is None:
            raise WireFault("26000", f'prepared statement "{name}" does not exist')
        return found

    def portal(self, name: str) -> Portal:
        found = self.portals.get(name)
        if found is None:
            raise WireFault("34000", f'portal "{name}" does not exist')
        return found

    def close_statement(self, name: str) -> None:
        gone = self.statements.pop(name, None)
        self.kept -= gone.cost if gone else 0

    def close_portal(self, name: str) -> None:
        gone = self.portals.pop(name, None)
        self.kept -= gone.cost if gone else 0

    def close_portals(self) -> None:
        for name in list(self.portals):
            self.close_portal(name)

    def drop(self, names: Sequence[str] | None) -> None:
        """Forget statements; None: all."""
        for name in list(self.statements) if names is None else names:
            self.close_statement(name)

    def _make_room(self, there_is: bool, cost: int) -> None:
        if not there_is or self.kept + cost > MAX_KEPT:
            raise WireFault("54000", "too many statements are kept here: close some")
        self.kept += cost


def bound(prepared: Prepared, message: BindPortal) -> Portal:
    """The portal of a statement with values; `WireFault` when they do not fit."""
    planned = prepared.planned
    oids = planned.parameters if planned else ()
    columns = (planned.columns if planned else None) or ()
    if len(message.values) != len(oids):
        raise WireFault(
            VIOLATION, f"the statement has {len(oids)} parameters, and {len(message.values)} came"
        )
    forms = spread(message.formats, len(oids))
    values = [
        _value(number, oid, data, form)
        for number, (oid, data, form) in enumerate(
            zip(oids, message.values, forms, strict=True), start=1
        )
    ]
    cost = sum(len(each) for each in message.values if each is not None) + _EACH
    return Portal(prepared, values, spread(message.results, len(columns)), cost)


def spread(formats: Sequence[int], count: int) -> tuple[int, ...]:
    """A format for each: none given is text for all, one is for all."""
    if not set(formats) <= {0, 1}:
        raise WireFault(VIOLATION, "a format is neither text (0) nor binary (1)")
    if len(formats) > 1 and len(formats) != count:
        raise WireFault(VIOLATION, f"{len(formats)} formats came for {count} values")
    return tuple(formats) if len(formats) == count else (*formats, 0)[:1] * count


def _value(number: int, oid: int, data: bytes | None, form: int) -> object:
    try:
        return encoding.decode(oid, data, form == 1)
    except BadAsk as error:
        state = "22P03" if form else "22P02"
        raise WireFault(state, f"${number}: {error.message}") from None
