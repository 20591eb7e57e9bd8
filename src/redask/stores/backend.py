"""What a database needs to run, as Protocols: `Backend` and its six parts.

    store      entities, change log, policies, catalogues, vectors       `EntityStore`
    users      users and tokens                                          `Users`
    manifest   which entities came from which file                       `ports.OriginManifest`
    audit      the log of calls                                          `ports.AuditLog`
    ledger     what was spent                                            `ports.Ledger`
    answers    answers given before                                      `ports.AnswerCache`

Everything is synchronous and may be called from any thread. What was acknowledged is durable,
and other processes on the same database see it. Only `redask.core.errors` are raised. What a
backend decides it does not decide itself: see `visibility`, `policy_classes`, `write_rules`,
`manifest_rules` and `audit_rows` beside this file, and `access.credentials`. `backends` has the
rows by URL scheme; a row enrols its backend in tests/contract/stores.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from redask.core.access.credentials import TokenFacts, User, Verifiers
from redask.core.model import Caller, Source
from redask.core.ports import (
    AnswerCache,
    AuditLog,
    Entity,
    Ledger,
    OriginManifest,
    Store,
    VectorStore,
)
from redask.stores.statistics import Collection, Column, Statistics
from redask.stores.write_rules import GIVEN


class Users(Protocol):
    """Users and tokens; all but the first four are for owners, about the owner's tenant."""

    def sign_in(self, token: str, now: int, tenant: str | None = None) -> Caller:
        """Whose token it is, or `Unauthenticated`; `tenant` is the one it must be for."""

    def only_tenant(self) -> str | None:
        """The tenant, if there is exactly one."""

    def verifiers(self, user: str, tenant: str, now: int) -> Verifiers:
        """What a proof of knowing one of the user's tokens is checked against."""

    def holder(self, token_id: str, now: int) -> Caller:
        """Whose token it is that was proven; `Unauthenticated` once it is not good any more."""

    def list_users(self, caller: Caller) -> list[User]:
        """The users, by name."""

    def add_user(
        self, name: str, role: str, attributes: Mapping[str, object], caller: Caller
    ) -> User:
        """A new user."""

    def change_user(
        self,
        name: str,
        role: str | None,
        attributes: Mapping[str, object] | None,
        caller: Caller,
    ) -> User:
        """Give a user another role, or other attributes in place of all there are."""

    def remove_user(self, name: str, now: int, caller: Caller) -> None:
        """Forget a user, and revoke the user's tokens: nobody of the same name inherits them."""

    def list_tokens(self, caller: Caller) -> list[TokenFacts]:
        """The tokens, the oldest first, without their secrets."""

    def make_token(self, user: str, now: int, seconds: int | None, caller: Caller) -> str:
        """A token for a user; nobody can show it again."""

    def revoke_token(self, token_id: str, now: int, caller: Caller) -> None:
        """Let a token open nothing from now on; revoking twice is fine."""


class EntityStore(Store, VectorStore, Protocol):
    """A whole store: what `ports.Store` and `ports.VectorStore` promise, catalogues, health.

    `identity` is drawn at random when a store is made: an index that was built from
    another store notices by it.
    """

    identity: str

    def put(self, entities: Sequence[Entity], caller: Caller, *, model: str = GIVEN) -> int:
        """As in `Store`; `model` names what made the vectors of these entities."""

    def get(self, urn: str, caller: Caller) -> Source | None:
        """One entity, or None when there is none that the caller may see."""

    def page(
        self, collection: str, caller: Caller, *, after: str = "", limit: int = 100
    ) -> list[Source]:
        """The next entities of a collection in the order of their URNs, after a given one."""

    def set_language(self, collection: str, language: str | None, caller: Caller) -> int:
        """Declare a collection's language (None: detect it). → last sequence."""

    def collections(self, caller: Caller) -> list[Collection]:
        """The collections that hold something or have a language, by name."""

    def columns(self, collection: str, caller: Caller) -> list[Column]:
        """The columns of a collection, by name."""

    def policies(self, caller: Caller) -> dict[str, object]:
        """The policies of the caller's tenant, by collection."""

    def set_policy(self, collection: str, document: object | None, caller: Caller) -> int:
        """Put a collection under a policy, or (None) under none. → last sequence."""

    def column_types(self, tenant: str) -> dict[str, dict[str, str]]:
        """The types that somebody fixed, by collection and key; for SELECT."""

    def set_column_type(
        self, collection: str, key: str, type_name: str | None, caller: Caller
    ) -> None:
        """Fix the type of a column, or (None) fix none. It counts as a change of the policies."""

    def statistics(self, caller: Caller) -> Statistics:
        """What `doctor` tells about this store and the caller's tenant."""

    def check(self) -> list[str]:
        """Read everything and name what is wrong; an empty list means all is well."""


class Backend(Protocol):
    """One open database, whatever keeps it."""

    @property
    def store(self) -> EntityStore:
        """The entities."""

    @property
    def users(self) -> Users:
        """Who may sign in."""

    @property
    def manifest(self) -> OriginManifest:
        """Which entities came from which file."""

    @property
    def audit(self) -> AuditLog:
        """The log of calls."""

    @property
    def ledger(self) -> Ledger:
        """What was spent."""

    @property
    def answers(self) -> AnswerCache:
        """Answers given before."""

    def files(self) -> Mapping[str, int]:
        """The files that it keeps on this machine, by name, in bytes; for `doctor`.

        The last is that of what calls leave.
        """

    def close(self) -> None:
        """Let go of it; what is called afterwards is a `StoreFailed`. Twice is fine."""
