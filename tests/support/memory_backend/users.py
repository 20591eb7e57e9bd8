"""Users and tokens in memory: see `redask.stores.backend.Users`."""

from collections.abc import Mapping

from memory_backend.state import Access, Tenant, Token
from redask.core.access import credentials
from redask.core.access.credentials import StoredToken, TokenFacts, User, Verifiers
from redask.core.access.policy import must_own
from redask.core.errors import BadAsk
from redask.core.model import Caller
from redask.core.values import printable


class MemoryUsers:
    """Who may sign in to one database."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def sign_in(self, token: str, now: int, tenant: str | None = None) -> Caller:
        token = token if isinstance(token, str) else ""
        return credentials.signed_in(token, self._stored(credentials.token_id(token)), now, tenant)

    def only_tenant(self) -> str | None:
        self._access.check()
        names = list(self._access.shared.tenants)
        return names[0] if len(names) == 1 else None

    def verifiers(self, user: str, tenant: str, now: int) -> Verifiers:
        state = self._access.reading(tenant)
        live = [
            token
            for token in state.tokens.values()
            if token.facts.user == user and user in state.users
            if credentials.is_live(token.facts, now)
        ]
        live.sort(key=lambda token: (token.facts.made, token.facts.id))
        salt = credentials.scram_salt(self._access.shared.secret, tenant, user)
        return Verifiers(salt, tuple(token.verifier for token in live))

    def holder(self, token_id: str, now: int, tenant: str | None = None) -> Caller:
        return credentials.held_by(self._stored(token_id), now, tenant)

    def role_of(self, user: str, tenant: str) -> str | None:
        found = self._access.reading(tenant).users.get(user)
        return found.role if found else None

    def _stored(self, token_id: str) -> StoredToken | None:
        self._access.check()
        for name, tenant in self._access.shared.tenants.items():
            token = tenant.tokens.get(token_id)
            user = tenant.users.get(token.facts.user) if token else None
            if token and user:
                caller = Caller(tenant=name, user=user.name, role=user.role)
                return StoredToken(token.facts, token.hash, caller)
        return None

    def list_users(self, caller: Caller) -> list[User]:
        must_own(caller)
        return [user for _, user in sorted(self._access.reading(caller.tenant).users.items())]

    def add_user(
        self, name: str, role: str, attributes: Mapping[str, object], caller: Caller
    ) -> User:
        must_own(caller)
        user = credentials.check_user(name, role, attributes)
        with self._access.writing(caller.tenant) as tenant:
            if name in tenant.users:
                raise BadAsk(f"there is a user {printable(name)} already", detail="user")
            tenant.users[name] = user
            tenant.version += 1
        return user

    def change_user(
        self,
        name: str,
        role: str | None,
        attributes: Mapping[str, object] | None,
        caller: Caller,
    ) -> User:
        must_own(caller)
        with self._access.writing(caller.tenant) as tenant:
            known = _known(tenant, name)
            user = credentials.check_user(
                name,
                known.role if role is None else role,
                known.attributes if attributes is None else attributes,
            )
            tenant.users[name] = user
            tenant.version += 1
        return user

    def remove_user(self, name: str, now: int, caller: Caller) -> None:
        must_own(caller)
        with self._access.writing(caller.tenant) as tenant:
            _known(tenant, name)
            del tenant.users[name]
            tenant.version += 1
            for token_id, token in tenant.tokens.items():
                if token.facts.user == name:
                    tenant.tokens[token_id] = _revoked(token, now)

    def list_tokens(self, caller: Caller) -> list[TokenFacts]:
        must_own(caller)
        tokens = self._access.reading(caller.tenant).tokens.values()
        facts = [token.facts for token in tokens]
        return sorted(facts, key=lambda each: (each.made, each.id))

    def make_token(self, user: str, now: int, seconds: int | None, caller: Caller) -> str:
        must_own(caller)
        expires = credentials.expiry(now, seconds)
        ident, token, stored = credentials.new_token()
        salt = credentials.scram_salt(self._access.shared.secret, caller.tenant, user)
        with self._access.writing(caller.tenant) as tenant:
            _known(tenant, user)
            facts = TokenFacts(ident, user, now, expires, None)
            tenant.tokens[ident] = Token(facts, stored, credentials.verifier(token, salt))
        return token

    def revoke_token(self, token_id: str, now: int, caller: Caller) -> None:
        must_own(caller)
        with self._access.writing(caller.tenant) as tenant:
            if token_id not in tenant.tokens:
                raise BadAsk(f"there is no token {printable(token_id)}", detail="token")
            tenant.tokens[token_id] = _revoked(tenant.tokens[token_id], now)


def _revoked(token: Token, now: int) -> Token:
    facts = token.facts
    if facts.revoked is not None:
        return token
    ended = TokenFacts(facts.id, facts.user, facts.made, facts.expires, now)
    return token._replace(facts=ended)


def _known(tenant: Tenant, name: str) -> User:
    if name not in tenant.users:
        raise BadAsk(f"there is no user {printable(name)}", detail="user")
    return tenant.users[name]
