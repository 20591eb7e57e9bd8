"""What each tenant has spent on each UTC day and by which provider.

    reserve   asks the rule inside the transaction that sets the amount aside: two asks at once,
              in two threads or two processes, cannot both get the last dollar
    settle    takes the reservation away and books what the call cost, in one transaction, on the
              day the call began; a reservation that is gone is settled already
    add       books a call that had no reservation

A reservation that is never settled (the process died) counts until its day is over: when a later
day's call reserves, a day late, for a call may run past midnight, it counts for nothing any more.
It is still there for `settle`, as one of the last `_KEPT`: by a clock that jumped, all that runs
would be of an earlier day, and what it costs must be booked.
"""

from collections.abc import Callable, Sequence

from redask.core.ports import Account, Spending
from redask.core.rules.cost import Allow, Reject, Spent, dollars
from redask.core.rules.spending.budgets import Purse
from redask.stores.relational.sql_database import EVERY_TENANT, SqlConnection, SqlDatabase, rows_of

_KEPT = 10_000  # reservations; more calls than that do not run at once
_BOOK = (
    "INSERT INTO spent VALUES (?, ?, ?, ?, ?, ?, ?)"
    ' ON CONFLICT (tenant, day, provider, "user", role) DO UPDATE'
    " SET nanos = spent.nanos + excluded.nanos, unpriced = spent.unpriced + excluded.unpriced"
)
_REPORT = """
    SELECT day, tenant, provider, sum(spent), sum(reserved), sum(unpriced) FROM (
        SELECT day, tenant, provider, nanos AS spent, 0 AS reserved, unpriced FROM spent
        UNION ALL SELECT day, tenant, provider, 0, nanos, 0 FROM reserved WHERE nanos > 0
    ) AS booked WHERE day >= ? AND tenant = coalesce(?, tenant)
    GROUP BY day, tenant, provider ORDER BY day DESC, tenant, provider
"""


class RelationalLedger:
    """The spending of one database directory."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def booking_day(self, day: int) -> int:
        """See `ports.Ledger`."""
        with self._database.reading(EVERY_TENANT) as connection:
            return connection.today(day)

    def reserve(
        self,
        account: Account,
        nanos: int,
        check: Callable[[Spent], Allow | Reject],
        purses: Sequence[Purse] = (),
    ) -> int | Reject:
        """See `ports.Ledger`."""
        with self._database.writing(account.tenant) as connection:
            sum_so_far = _total(connection, account.tenant, account.day)
            held = tuple(dollars(_held(connection, account, purse)) for purse in purses)
            verdict = check(Spent(account.day, dollars(sum_so_far), held))
            if isinstance(verdict, Reject):
                return verdict
            if not nanos:
                return 0
            connection.execute(
                "UPDATE reserved SET nanos = 0 WHERE nanos > 0 AND day < ?",
                (connection.not_after_today(account.day) - 1,),
            )
            connection.execute(
                "DELETE FROM reserved WHERE nanos = 0"
                " AND number <= (SELECT max(number) FROM reserved) - ?",
                (_KEPT,),
            )
            (number,) = connection.execute(
                'INSERT INTO reserved (tenant, day, provider, "user", role, nanos)'
                " VALUES (?, ?, ?, ?, ?, ?) RETURNING number",
                (*_place(account), nanos),
            ).fetchone()
        return int(number)

    def settle(self, reservation: int, nanos: int) -> None:
        """Replace a reservation by what the call really cost; a second time changes nothing."""
        whose = "SELECT tenant FROM reserved WHERE number = ?"
        with self._database.reading(EVERY_TENANT) as connection:
            tenant = connection.execute(whose, (reservation,)).fetchone()
        if tenant is None:
            return
        with self._database.writing(tenant[0]) as connection:  # others book meanwhile
            account = connection.execute(
                'SELECT tenant, day, provider, "user", role FROM reserved WHERE number = ?',
                (reservation,),
            ).fetchone()
            if account is None:
                return
            connection.execute("DELETE FROM reserved WHERE number = ?", (reservation,))
            if nanos:
                connection.execute(_BOOK, (*account, nanos, 0))

    def add(self, account: Account, nanos: int, *, unpriced: int = 0) -> None:
        """Book what a call without a reservation cost, or that nobody knows it."""
        with self._database.writing(account.tenant) as connection:
            connection.execute(_BOOK, (*_place(account), nanos, unpriced))

    def total(self, tenant: str, day: int) -> int:
        """What a tenant has spent or set aside on a day, in nano-dollars."""
        with self._database.reading(tenant) as connection:
            return _total(connection, tenant, day)

    def report(self, since: int, tenant: str | None = None) -> list[Spending]:
        """The spending since a day, newest first; of one tenant, or of all."""
        with self._database.reading(rows_of(tenant)) as connection:
            found = connection.execute(_REPORT, (since, tenant)).fetchall()
        return [
            Spending(Account(of, day, provider), dollars(spent), dollars(reserved), unpriced)
            for day, of, provider, spent, reserved, unpriced in found
        ]


def _place(account: Account) -> tuple[str, int, str, str, str]:
    return account.tenant, account.day, account.provider, account.user, account.role


def _held(connection: SqlConnection, account: Account, purse: Purse) -> int:
    """What a purse of the account's tenant spent or set aside, up to the account's day."""
    column = '"user"' if purse.by == "user" else "role"
    place = (account.tenant, purse.since, account.day, purse.name)
    where = f"WHERE tenant = ? AND day BETWEEN ? AND ? AND {column} = ?"
    found = connection.execute(
        f"SELECT nanos FROM spent {where} UNION ALL SELECT nanos FROM reserved {where}",
        (*place, *place),
    ).fetchall()
    return sum(nanos for (nanos,) in found)


def _total(connection: SqlConnection, tenant: str, day: int) -> int:
    found = connection.execute(
        "SELECT nanos FROM spent WHERE tenant = ? AND day = ?"
        " UNION ALL SELECT nanos FROM reserved WHERE tenant = ? AND day = ?",
        (tenant, day, tenant, day),
    ).fetchall()
    return sum(nanos for (nanos,) in found)
