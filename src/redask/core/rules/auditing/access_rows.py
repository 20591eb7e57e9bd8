"""Rows of the access log: `access_row`; refused sign-ins are counted: `refuse`, `left_over`.

    ts · tenant · user · role · action · subject · detail · outcome · address · count

    action                                      subject                     detail
    select, search                              the statement, the question
    replay                                      the number of the row       live, if it was
    sign_in (refused ones only)                 the name that was given
    user_add, user_set, user_remove             the user                    role and attributes
    token_make, token_revoke                    the user; the token's id    how long it is good
    policy_set, type_fix                        the collection, column      the policy, the type
    load                                        the dump's file             users, policies of it

`outcome` is `ok`, the kind of the error, or `begun`: a change has a row before it and one after, so
that none is without. A statement or question may be kept as `sha256:<hex>`; of a long one the
beginning and the hash are kept.

Refused sign-ins must not fill the disk: the first of a minute, by tenant, user and address, is a
row; the others of that minute are one more, with their `count`, when the next minute's first comes
or the database is closed. Of more than `MOST` in a minute, the rest count as one.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from redask.core.model import Caller

KEYS = (
    *("ts", "tenant", "user", "role", "action", "subject", "detail", "outcome"),
    *("address", "count"),
)
MOST = 16
MAX_SUBJECT = 32_768  # characters
_MINUTE_NS = 60 * 10**9


@dataclass(frozen=True, slots=True)
class SignInRefusal:
    """Who was refused, as far as it is known, and where from."""

    tenant: str
    user: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class Refusals:
    """The refusals of one minute, and how many of each."""

    minute: int = -1
    counts: Mapping[SignInRefusal, int] = field(default_factory=lambda: MappingProxyType({}))


def access_row(
    ts: int,
    caller: Caller,
    action: str,
    subject: str,
    *,
    detail: str = "",
    outcome: str = "ok",
    address: str = "",
    count: int = 1,
    hashed: bool = False,
) -> dict[str, object]:
    """The row as plain data for the canonical encoder."""
    subject = subject.encode("utf-8", "replace").decode()
    digest = f"sha256:{hashlib.sha256(subject.encode()).hexdigest()}"
    if len(subject) > MAX_SUBJECT:
        subject = f"{subject[:MAX_SUBJECT]}… {digest}"
    return {
        "ts": ts,
        "tenant": caller.tenant,
        "user": caller.user,
        "role": caller.role,
        "action": action,
        "subject": digest if hashed else subject,
        "detail": detail,
        "outcome": outcome,
        "address": address,
        "count": count,
    }


def refuse(
    state: Refusals, refusal: SignInRefusal, now: int
) -> tuple[Refusals, tuple[tuple[SignInRefusal, int], ...]]:
    """The state after one more refusal (epoch ns), and the rows to write: whose, and how many."""
    minute = now // _MINUTE_NS
    due = left_over(state) if minute != state.minute else ()
    counts = dict(state.counts) if minute == state.minute else {}
    if refusal not in counts and len(counts) >= MOST:
        refusal = SignInRefusal(refusal.tenant, "", "others")
    counts[refusal] = counts.get(refusal, 0) + 1
    new = ((refusal, 1),) if counts[refusal] == 1 else ()
    return Refusals(minute, counts), (*due, *new)


def left_over(state: Refusals) -> tuple[tuple[SignInRefusal, int], ...]:
    """Those of a minute that have no row yet."""
    return tuple((each, count - 1) for each, count in state.counts.items() if count > 1)
