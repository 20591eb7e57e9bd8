"""What a database needs to run, as Protocols: `Backend` and its eight parts.

    store      entities, change log, policies, catalogues, vectors       `EntityStore`
    users      users and tokens                                          `Users`
    manifest   which entities came from which file                       `ports.OriginManifest`
    audit      the log of asks                                           `ports.AuditLog`
    access     the log of other reads, refused sign-ins, administration  `ports.AuditLog`
    sealed     the Merkle trees of both logs, and their checkpoints      `ports.SealedLogs`
    ledger     what was spent                                            `ports.Ledger`
    answers    answers given before                                      `ports.AnswerCache`

Everything is synchronous and may be called from any thread. What was acknowledged is durable,
and other processes on the same database see it. Only `redask.core.errors` are raised. What a
backend decides it does not decide itself: see `visibility`, `policy_classes`, `write_rules`,
`manifest_rules` and `audit_rows` beside this file, and `access.credentials`. `backends` has the
rows by URL scheme; a row enrols its backend in tests/contract/stores.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from redask.core.access.credentials import TokenFacts, User, Verifiers
from redask.core.model import Caller, Source
from redask.core.ports import (
    AnswerCache,
    AuditLog,
    Entity,
    Ledger,
    OriginManifest,
    SealedLogs,
    Store,
    VectorStore,
)
from redask.stores.statistics import Collection, Column, Statistics
from redask.stores.write_rules import GIVEN


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A back-up that was made and verified: of how many bytes, how many of them newly written."""

    name: str
    made_at: int
    bytes: int
    written: int
    removed: int = 0  # older back-ups


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """A back-up that was restored; `replaced` is where the directory is that was there before."""

    name: str
    made_at: int
    directory: str
    replaced: str | None


@dataclass(frozen=True, slots=True)
class ReplicaLag:
    """How far the replica that is read is behind; `bytes` is None where it cannot be reached."""

    is_behind: bool
    bytes: int | None = None


class ChangeFeed(Protocol):
    """Tells of writes, whoever made them."""

    def wait(self, seconds: float) -> frozenset[str]:
        """The tenants that were written to since the last call; waits so long for the first.

        The first call tells of all tenants.
        """

    def interrupt(self) -> None:
        """Let who waits go on, told of nothing; from any thread."""

    def close(self) -> None:
        """Let go of it; for the thread that waits."""


@dataclass(frozen=True, slots=True)
class Damage:
    """An entity, or its vector, that is not what was written; what `is_derived` is made again."""

    tenant: str
    urn: str
    is_vector: bool = False
    is_derived: bool = False


CheckProgress = Callable[[int, int], None]  # what was read, of how much; it may raise to end it


@dataclass(frozen=True, slots=True)
class Relabelling:
    """A collection that is being classified anew for another policy: how many rows, of how many.

    Until it is done, the policies before and the new one are in force together.
    """

    tenant: str
    collection: str
    done: int
    total: int


class Users(Protocol):
    """Users and tokens; all but the first five are for owners, about the owner's tenant."""

    def sign_in(self, token: str, now: int, tenant: str | None = None) -> Caller:
        """Whose token it is, or `Unauthenticated`; `tenant` is the one it must be for."""

    def only_tenant(self) -> str | None:
        """The tenant, if there is exactly one."""

    def verifiers(self, user: str, tenant: str, now: int) -> Verifiers:
        """What a proof of knowing one of the user's tokens is checked against."""

    def holder(self, token_id: str, now: int, tenant: str | None = None) -> Caller:
        """Whose token it is that was proven; `Unauthenticated` once it is not good any more."""

    def role_of(self, user: str, tenant: str) -> str | None:
        """The role that a user has now; None for who is none of the tenant's users."""

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
    another store notices by it. `edge_key` is what the ids of its edges are made with, decided
    when it was made; see `entity_rows.link`. `timeline` is drawn anew when a store is restored,
    or opened as a copy: leases and cached answers of another timeline count for nothing.
    """

    identity: str
    timeline: str
    edge_key: bytes

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

    def set_policy(
        self, collection: str, document: object | None, caller: Caller, *, finish: bool = True
    ) -> int:
        """Put a collection under a policy, or (None) under none. → last sequence

        It holds at once. A large collection is then classified anew, which `finish` waits for, or
        leaves to `relabel`.
        """

    def tenants(self) -> list[str]:
        """The names of all tenants that were ever written to."""

    def relabelling(self) -> list[Relabelling]:
        """The collections of all tenants that are being classified anew."""

    def relabel(self, tenant: str) -> None:
        """Take the next step with one of them, if any; short, and in a transaction of its own."""

    def check_policy(self, collection: str, document: object, caller: Caller) -> None:
        """Raise `BadAsk` if `set_policy` would refuse it; nothing is written."""

    def policy_faults(self, caller: Caller) -> list[str]:
        """What is wrong with the policies in force: see `visibility.faults_of`."""

    def is_only_searched(self, caller: Caller) -> bool:
        """Whether the caller reads all there is, and that is documents, vectors and edges only.

        So there is no table to plan a SELECT with, and none need be opened to find that out.
        """

    def column_types(self, tenant: str) -> dict[str, dict[str, str]]:
        """The types that somebody fixed, by collection and key; for SELECT."""

    def set_column_type(
        self, collection: str, key: str, type_name: str | None, caller: Caller
    ) -> None:
        """Fix the type of a column, or (None) fix none. It counts as a change of the policies."""

    def dump(self, caller: Caller) -> Iterator[dict[str, object]]:
        """What the owner's tenant holds, in one state, as records of JSON: see `app.dumps`."""

    def statistics(self, caller: Caller) -> Statistics:
        """What `doctor` tells about this store and the caller's tenant."""

    def check(self) -> list[str]:
        """Read everything and name what is wrong; an empty list means all is well."""

    def examine(self, tenant: str | None, progress: CheckProgress | None = None) -> list[Damage]:
        """Compare each entity and vector, of a tenant or (None) of all, with its checksum."""

    def forget_vectors(self, tenant: str, urns: Sequence[str]) -> None:
        """Forget the vectors of these, so that an embedder makes them again."""

    def recount(self) -> None:
        """Make the counters of catalogues again."""


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
        """The log of asks."""

    @property
    def access(self) -> AuditLog:
        """The log of SELECTs, searches, refused sign-ins, and changes of who may do what."""

    @property
    def sealed(self) -> SealedLogs:
        """The Merkle trees of both logs, and their checkpoints."""

    @property
    def ledger(self) -> Ledger:
        """What was spent."""

    @property
    def answers(self) -> AnswerCache:
        """Answers given before."""

    @property
    def read_only(self) -> bool:
        """Whether it can be read and verified only: nothing is answered that leaves a row."""

    def replica_lag(self) -> ReplicaLag | None:
        """How far the replica is behind that is read in place of the primary; None: none is."""

    def change_feed(self) -> ChangeFeed | None:
        """What tells of other machines' writes; None where all who write are on this one."""

    def anchor(self) -> None:
        """Let the store remember both logs as they are now; see `rules.audit_chain`.

        Where store and logs do not belong together, nothing changes.
        """

    def accept_logs(self, caller: Caller, reason: str) -> str:
        """Take the logs as they are, and note there what was wrong, and why it is accepted.

        For owners. → what was wrong; empty: nothing, and nothing was done.
        """

    def check_calls(self) -> list[str]:
        """What is wrong with the file of what calls leave, in sentences."""

    def forget_damaged_answers(self) -> int:
        """Forget cached answers that are not what was stored. → how many"""

    def files(self) -> Mapping[str, int]:
        """The files that it keeps on this machine, by name, in bytes; for `doctor`.

        The last is that of what calls leave.
        """

    def back_up(
        self,
        destination: Path,
        *,
        made_at: int,
        made_by: str,
        progress: Callable[[int, int], None] | None = None,
        keep: int | None = None,
    ) -> BackupReport:
        """Add a back-up of all of it, as it is at one moment, to a directory; `made_at` is now.

        `progress` is told how many bytes are done, of how many. Then all but the last `keep`
        back-ups of the directory are removed.
        """

    def interrupt(self) -> None:
        """Let every statement that runs now fail with `StoreFailed`, and leave nothing behind."""

    def close(self) -> None:
        """Let go of it; what is called afterwards is a `StoreFailed`. Twice is fine."""
