"""Whose answer a row is of, and what that principal may read now: `PastPrincipals`.

whoever replays an own row           as they are signed in now
a user of an identity provider       the role and attributes that came with the sign-in then
a user of the database               the role and attributes of now
whoever opened the directory         its owner
anybody else                         None: removed since
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from redask.core.access.policy import OWNER
from redask.core.access.redaction import Redactor
from redask.core.errors import Denied, LimitExceeded, SqlError
from redask.core.model import Caller
from redask.core.ports import Store
from redask.core.rules import fingerprint
from redask.core.rules.auditing.provenance import Provenance
from redask.core.wire import query_source
from redask.engine.computing import Computing


class KnownUsers(Protocol):
    """Who has which role."""

    def role_of(self, user: str, tenant: str) -> str | None:
        """The role that a user has now; None for who is none of the tenant's users."""


@dataclass(frozen=True, slots=True)
class PastPrincipals:
    """See the module; the store and the tables are read as that principal."""

    users: KnownUsers
    store: Store
    computing: Computing

    def now(self, row: Mapping[str, Any], made: Provenance, caller: Caller) -> Caller | None:
        """The principal of a row as it is now; `caller` is who looks at the row."""
        user, role = str(row["user"]), str(row["role"])
        if user == caller.user:
            return caller
        if made.attributes is not None:
            return Caller(caller.tenant, user, role, made.attributes)
        known = self.users.role_of(user, caller.tenant)
        if known is None and (user, role) == (Caller().user, OWNER):
            known = OWNER
        return None if known is None else Caller(caller.tenant, user, known)

    def versions(self, then: Sequence[tuple[str, int]], principal: Caller) -> dict[str, int]:
        """The content versions of these sources now, of those that the principal may read.

        `then` are their URNs and versions; a statement that was not run then is not run now.
        """
        plain = [urn for urn, _ in then if query_source.statement_of(urn) is None]
        chosen = self.computing.settings
        redactor = Redactor(chosen.redact_secrets, chosen.redact_personal)
        found = {}
        for source in self.store.read(plain, principal) if plain else ():
            payload = source.payload if redactor.is_idle else redactor.redact(source.payload)[0]
            found[source.urn] = fingerprint.content_version(payload)
        for urn, version in then:
            sql = query_source.statement_of(urn)
            if sql is not None and was_not_run(urn, version):
                found[urn] = version
            elif sql is not None:
                with suppress(SqlError, LimitExceeded, Denied):  # then it is gone
                    payload = self.computing.result(sql, principal).payload
                    found[urn] = fingerprint.content_version(payload)
        return found


def was_not_run(urn: str, version: int) -> bool:
    """Whether a source of this version is a statement that was only shown."""
    sql = query_source.statement_of(urn)
    if sql is None:
        return False
    return version == fingerprint.content_version(query_source.not_run(sql).payload)
