"""What each tenant has spent on each UTC day, in `calls.sqlite`.

`reserve` asks the rule inside the transaction that adds the amount: two asks at once, in two
threads or two processes, cannot both get the last dollar. A reservation that is never settled
(the process died) stays until its day is over.
"""

from collections.abc import Callable

from redask.rules.cost import Allow, Reject, Spent
from redask.stores.database import Database

_ADD = (
    "INSERT INTO spending VALUES (?, ?, ?)"
    " ON CONFLICT (tenant, day) DO UPDATE SET usd = max(usd + excluded.usd, 0.0)"
)


class SqliteLedger:
    """The spending of one database directory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def reserve(
        self, tenant: str, day: int, usd: float, check: Callable[[Spent], Allow | Reject]
    ) -> Allow | Reject:
        """Ask `check` about what is spent so far; if it allows, add `usd`, all atomically."""
        with self._database.writing() as connection:
            found = connection.execute(
                "SELECT usd FROM spending WHERE tenant = ? AND day = ?", (tenant, day)
            ).fetchone()
            verdict = check(Spent(day, found[0] if found else 0.0))
            if isinstance(verdict, Allow):
                connection.execute(_ADD, (tenant, day, usd))
        return verdict

    def settle(self, tenant: str, day: int, reserved: float, used: float) -> None:
        """Replace a reservation by what the call really cost."""
        with self._database.writing() as connection:
            connection.execute(_ADD, (tenant, day, used - reserved))

    def spent(self, tenant: str, day: int) -> float:
        """What a tenant has spent or reserved on a day."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT usd FROM spending WHERE tenant = ? AND day = ?", (tenant, day)
            ).fetchone()
        return float(found[0]) if found else 0.0
