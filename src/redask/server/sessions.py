"""What every transport is given: an `Authenticator` that signs callers in, and their `Session`.

A session raises `errors.AskError` and nothing else on purpose.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Protocol

from redask.core.access.credentials import Verifiers
from redask.core.errors import Unauthenticated
from redask.core.model import Answer, Ask, Event, Source
from redask.core.ports import SelectShape, TableShape


class Session(Protocol):
    """What a signed-in caller can do."""

    async def answer(self, ask: Ask) -> Answer:
        """Answer a question."""

    def events(self, ask: Ask) -> AsyncGenerator[Event, None]:
        """The events of an answer while it is written; raises only before the first one."""

    async def plan(self, ask: Ask) -> dict[str, object]:
        """What an ask would do."""

    async def find(self, ask: Ask) -> dict[str, object]:
        """The hits of a search, as plain data."""

    async def execute(self, statement: str, params: Sequence[object]) -> list[dict[str, object]]:
        """Run ASK, EXPLAIN ASK or SELECT."""

    def select_now(self, sql: str, params: Sequence[object]) -> list[dict[str, object]] | None:
        """The rows of a SELECT, if they are to be had at once; None: `execute` it."""

    async def describe(self, sql: str) -> SelectShape:
        """What a SELECT would give, without running it."""

    def version(self) -> int:
        """A number that changes with every write to the store."""

    async def tables(self) -> list[TableShape]:
        """What the caller can SELECT from."""

    async def source(self, urn: str) -> Source | None:
        """One entity as the caller may see it."""

    async def put(
        self, collection: str, rows: Sequence[Mapping[str, object]], *, kind: str
    ) -> list[str]:
        """Write rows. → their URNs"""

    async def audit_rows(self, limit: int, before: int | None) -> list[dict[str, object]]:
        """The newest audit rows the caller may see."""


class Authenticator(Protocol):
    """Where callers are told apart."""

    async def sign_in(self, token: str | None) -> Session:
        """The session of a token; None is who comes without one. Raises `Unauthenticated`."""


class ScramAuthenticator(Authenticator, Protocol):
    """An authenticator for transports where a token is a password that is proven and never sent."""

    async def verifiers(self, user: str, tenant: str) -> Verifiers:
        """What the proof is checked against; nobody is told whether there is such a user."""

    async def sign_in_holder(self, token: str) -> Session:
        """The session of a token, by its public part, once it was proven."""


def bearer(authorization: str | None) -> str | None:
    """The token of a header `Authorization: Bearer TOKEN`; None without the header."""
    if authorization is None:
        return None
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("expected the header `Authorization: Bearer TOKEN`")
    return token.strip()
