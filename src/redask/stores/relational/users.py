"""Users and tokens of a store: `RelationalUsers(database)`; the rules are `access.credentials`'.

Only an owner sees or changes them, and only those of the owner's own tenant. A change of users
counts as a change of who sees what (`tenants.access`), so it holds for the next statement;
tokens change nobody's visibility, and `sign_in` looks at them anew each time. `verifiers` and
`holder` are the same in two steps, for who proves to know a token without sending it: what to
check the proof against, then whose it is, each time anew.
"""

import json
from collections.abc import Mapping

from redask.core.access import credentials
from redask.core.access.credentials import (
    StoredToken,
    TokenFacts,
    TokenHash,
    TokenVerifier,
    User,
    Verifiers,
)
from redask.core.access.policy import must_own
from redask.core.errors import BadAsk
from redask.core.model import Caller
from redask.core.text import name_fault
from redask.core.values import printable
from redask.core.wire.json import text
from redask.stores.relational import history
from redask.stores.relational.sql_database import EVERY_TENANT, SqlConnection, SqlDatabase

_SIGN_IN = """
    SELECT tokens.id, users.name, made, expires, revoked, salt, digest, tenants.name, role
    FROM tokens JOIN tenants ON tenants.id = tokens.tenant
    JOIN users ON users.tenant = tokens.tenant AND users.name = tokens."user"
    WHERE tokens.id = ?"""
_VERIFIERS = """
    SELECT tokens.id, users.name, made, expires, revoked, stored_key, server_key
    FROM tokens JOIN users ON users.tenant = tokens.tenant AND users.name = tokens."user"
    WHERE tokens.tenant = (SELECT id FROM tenants WHERE name = ?) AND tokens."user" = ?
    AND stored_key IS NOT NULL ORDER BY made, tokens.id"""
_TENANT = "(SELECT id FROM tenants WHERE name = ?)"


class RelationalUsers:
    """Who may sign in to one store."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def sign_in(self, token: str, now: int, tenant: str | None = None) -> Caller:
        """Whose token it is at this moment; `tenant`, if given, is the one it must be for."""
        token = token if isinstance(token, str) else ""
        return credentials.signed_in(token, self._stored(credentials.token_id(token)), now, tenant)

    def only_tenant(self) -> str | None:
        """The tenant, if there is exactly one."""
        with self._database.reading(EVERY_TENANT) as connection:
            names = connection.execute("SELECT name FROM tenants LIMIT 2").fetchall()
        return str(names[0][0]) if len(names) == 1 else None

    def verifiers(self, user: str, tenant: str, now: int) -> Verifiers:
        """What a proof of knowing a token is checked against; no tokens for who is unknown."""
        with self._database.reading(tenant) as connection:
            [(secret,)] = connection.execute("SELECT secret FROM scram").fetchall()
            rows = connection.execute(_VERIFIERS, (tenant, user)).fetchall()
        live = (row for row in rows if credentials.is_live(TokenFacts(*row[:5]), now))
        return Verifiers(
            credentials.scram_salt(secret, tenant, user),
            tuple(TokenVerifier(row[0], row[5], row[6]) for row in live),
        )

    def holder(self, token_id: str, now: int, tenant: str | None = None) -> Caller:
        """Whose token it is, of which somebody proved at sign-in that they hold it."""
        return credentials.held_by(self._stored(token_id), now, tenant)

    def role_of(self, user: str, tenant: str) -> str | None:
        """The role that a user has now; None for who is none of the tenant's users."""
        with self._database.reading(tenant) as connection:
            found = connection.execute(
                f"SELECT role FROM users WHERE tenant = {_TENANT} AND name = ?", (tenant, user)
            ).fetchone()
        return str(found[0]) if found else None

    def _stored(self, token_id: str) -> StoredToken | None:
        with self._database.reading(EVERY_TENANT) as connection:
            found = connection.execute(_SIGN_IN, (token_id,)).fetchone()
        if found is None:
            return None
        caller = Caller(tenant=found[7], user=found[1], role=found[8])
        return StoredToken(TokenFacts(*found[:5]), TokenHash(*found[5:7]), caller)

    def list_users(self, caller: Caller) -> list[User]:
        """The users of the caller's tenant, by name."""
        must_own(caller)
        with self._database.reading(caller.tenant) as connection:
            rows = connection.execute(
                f"SELECT name, role, attributes FROM users WHERE tenant = {_TENANT} ORDER BY name",
                (caller.tenant,),
            ).fetchall()
        return [User(name, role, json.loads(attributes)) for name, role, attributes in rows]

    def add_user(
        self, name: str, role: str, attributes: Mapping[str, object], caller: Caller
    ) -> User:
        """A new user."""
        must_own(caller)
        user = credentials.check_user(name, role, attributes)
        with self._database.writing(caller.tenant) as connection:
            tenant = _changed(connection, caller.tenant)
            if _find(connection, tenant, name) is not None:
                raise BadAsk(f"there is a user {printable(name)} already", detail="user")
            _write(connection, tenant, user)
        return user

    def change_user(
        self,
        name: str,
        role: str | None,
        attributes: Mapping[str, object] | None,
        caller: Caller,
    ) -> User:
        """Give a user another role, or other attributes in place of all there are."""
        must_own(caller)
        with self._database.writing(caller.tenant) as connection:
            tenant = _changed(connection, caller.tenant)
            known = _known(connection, tenant, name)
            user = credentials.check_user(
                name,
                known.role if role is None else role,
                known.attributes if attributes is None else attributes,
            )
            _write(connection, tenant, user)
        return user

    def remove_user(self, name: str, now: int, caller: Caller) -> None:
        """Forget a user, and revoke the user's tokens."""
        must_own(caller)
        with self._database.writing(caller.tenant) as connection:
            tenant = _changed(connection, caller.tenant)
            _known(connection, tenant, name)
            connection.execute("DELETE FROM users WHERE tenant = ? AND name = ?", (tenant, name))
            connection.execute(
                'UPDATE tokens SET revoked = ? WHERE tenant = ? AND "user" = ? AND revoked IS NULL',
                (now, tenant, name),
            )

    def list_tokens(self, caller: Caller) -> list[TokenFacts]:
        """The tokens of the caller's tenant, the oldest first, without their secrets."""
        must_own(caller)
        with self._database.reading(caller.tenant) as connection:
            rows = connection.execute(
                'SELECT id, "user", made, expires, revoked FROM tokens'
                f" WHERE tenant = {_TENANT} ORDER BY made, id",
                (caller.tenant,),
            ).fetchall()
        return [TokenFacts(*row) for row in rows]

    def make_token(self, user: str, now: int, seconds: int | None, caller: Caller) -> str:
        """A token for a user, for so many seconds or (None) until it is revoked; shown once."""
        must_own(caller)
        expires = credentials.expiry(now, seconds)
        ident, token, stored = credentials.new_token()
        with self._database.writing(caller.tenant) as connection:
            tenant = _tenant(connection, caller.tenant)
            _known(connection, tenant, user)
            [(secret,)] = connection.execute("SELECT secret FROM scram").fetchall()
            proof = credentials.verifier(token, credentials.scram_salt(secret, caller.tenant, user))
            connection.execute(
                "INSERT INTO tokens"
                ' (id, tenant, "user", salt, digest, made, expires, stored_key, server_key)'
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(ident, tenant, user, stored.salt, stored.digest, now, expires),
                    *(proof.stored_key, proof.server_key),
                ),
            )
        return token

    def revoke_token(self, token_id: str, now: int, caller: Caller) -> None:
        """Let a token open nothing from now on; revoking twice is fine."""
        must_own(caller)
        with self._database.writing(caller.tenant) as connection:
            done = connection.execute(
                "UPDATE tokens SET revoked = coalesce(revoked, ?)"
                f" WHERE id = ? AND tenant = {_TENANT}",
                (now, token_id, caller.tenant),
            )
            if not done.rowcount:
                raise BadAsk(f"there is no token {printable(token_id)}", detail="token")


def _tenant(connection: SqlConnection, name: str) -> int:
    fault = name_fault(name)
    if fault:
        raise BadAsk(f"the name of the tenant {fault}", detail="tenant")
    connection.execute("INSERT INTO tenants (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
    found = connection.execute("SELECT id FROM tenants WHERE name = ?", (name,)).fetchone()
    return int(found[0])


def _changed(connection: SqlConnection, name: str) -> int:
    """The tenant's number, once it is noted that who sees what has changed."""
    tenant = _tenant(connection, name)
    history.change_access(connection, tenant)
    return tenant


def _find(connection: SqlConnection, tenant: int, name: str) -> User | None:
    row = connection.execute(
        "SELECT name, role, attributes FROM users WHERE tenant = ? AND name = ?", (tenant, name)
    ).fetchone()
    return User(row[0], row[1], json.loads(row[2])) if row else None


def _known(connection: SqlConnection, tenant: int, name: str) -> User:
    found = _find(connection, tenant, name)
    if found is None:
        raise BadAsk(f"there is no user {printable(name)}", detail="user")
    return found


def _write(connection: SqlConnection, tenant: int, user: User) -> None:
    connection.execute(
        "INSERT INTO users (tenant, name, role, attributes) VALUES (?, ?, ?, ?) ON CONFLICT"
        " (tenant, name) DO UPDATE SET role = excluded.role, attributes = excluded.attributes",
        (tenant, user.name, user.role, text(dict(user.attributes))),
    )
