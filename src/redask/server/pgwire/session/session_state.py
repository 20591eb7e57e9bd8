"""What a session keeps between its statements: `SessionState`, shared by messages and statements.

    transaction status    I idle · T in a transaction · E in one that failed
    in_batch              several statements of one simple query are a transaction by themselves
    savepoints            of the transaction, the newest last
    parameters            what is set, which transactions and savepoints take back
    transactions          how many there were, with this one
    query                 the statement that runs, or ran last
    own                   the sessions of the same user

A portal belongs to the savepoint after which it was made: ROLLBACK TO an older one closes it. The
end of a transaction closes all but the cursors WITH HOLD, which its commit keeps.
"""

from dataclasses import dataclass, field

from redask.server.pgwire.own_sessions.open_sessions import OwnSessions
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session.planned_statement import TransactionStep
from redask.server.pgwire.session.prepared_statements import PreparedStatements
from redask.server.pgwire.session.runtime_parameters import RuntimeParameters

QUERY = 1024  # characters of a statement that are told
_IDLE = {"I": "idle", "T": "idle in transaction", "E": "idle in transaction (aborted)"}
MAX_SAVEPOINTS = 1000


@dataclass(slots=True)
class SessionState:
    """The state of one session."""

    prepared: PreparedStatements = field(default_factory=PreparedStatements)
    status: str = "I"
    in_batch: bool = False
    savepoints: list[str] = field(default_factory=list)
    parameters: RuntimeParameters = field(default_factory=lambda: RuntimeParameters({}))
    transactions: int = 1
    query: str = ""
    own: OwnSessions | None = None
    _settings: list[dict[str, str]] = field(default_factory=list)  # at each savepoint

    def check_block(self, statement: str) -> None:
        """25P01 outside of a transaction."""
        if self.status == "I" and not self.in_batch:
            raise SqlStateError("25P01", f"{statement} can only be used in transaction blocks")

    def take(self, step: TransactionStep) -> tuple[str, str] | None:
        """Change the transaction status. → what the client is to be told of"""
        notice = None
        if step == "begin":
            notice = ("25001", "there is a transaction already") if self.status == "T" else None
            self.status = "T"
        elif step == "restore":
            self.status = "T" if self.status != "I" else "I"
        else:
            notice = ("25P01", "there is no transaction") if self.status == "I" else None
            failed = self.status == "E"
            self.status = "I"
            self.end_transaction(committed=step == "commit" and not failed)
        return notice

    def told(self, is_active: bool) -> str:
        """The state of the session in PostgreSQL's words."""
        return "active" if is_active else _IDLE[self.status]

    def end_transaction(self, *, committed: bool) -> None:
        """Close what ends with a transaction."""
        self.transactions += 1
        self.savepoints.clear()
        self._settings.clear()
        self.parameters.end_transaction(committed=committed)
        self.prepared.end_transaction(committed=committed)

    def savepoint(self, name: str) -> None:
        self.check_block("SAVEPOINT")
        if len(self.savepoints) >= MAX_SAVEPOINTS:  # each keeps what is set
            raise SqlStateError("54000", f"more than {MAX_SAVEPOINTS} savepoints in a transaction")
        self.savepoints.append(name)
        self._settings.append(self.parameters.saved())

    def release(self, name: str) -> None:
        self.check_block("RELEASE SAVEPOINT")
        level = self._level(name)
        del self.savepoints[level:], self._settings[level:]
        self.prepared.lower(level)

    def roll_back_to(self, name: str) -> None:
        self.check_block("ROLLBACK TO SAVEPOINT")
        level = self._level(name)
        del self.savepoints[level + 1 :], self._settings[level + 1 :]
        self.parameters.restore(self._settings[level])
        self.prepared.close_above(level)

    def _level(self, name: str) -> int:
        for place in range(len(self.savepoints) - 1, -1, -1):
            if self.savepoints[place] == name:
                return place
        raise SqlStateError("3B001", f'savepoint "{name}" does not exist')
