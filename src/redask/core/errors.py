"""One tree of errors. What each transport makes of them is `wire.outcomes`, not here.

    AskError                    internal             anything we cannot blame on anybody else
    ├─ BadAsk                   bad_ask              the statement, an option or a value
    │  ├─ BadStatement          bad_ask              … with line, column, found, expected
    │  ├─ BadUrn                bad_ask              … with a UrnFault
    │  ├─ BadTtl                bad_ask              … with a TtlFault
    │  ├─ SqlError              bad_ask              … with an SQLSTATE; a SELECT's own fault
    │  ├─ NotCanonical          bad_ask              a value that has no canonical JSON
    │  └─ BadRows               bad_ask              rows that cannot be written, and why
    ├─ Unauthenticated          unauthenticated
    ├─ Denied                   denied
    ├─ LimitExceeded            limit_exceeded       `limit` names the setting
    │  └─ DeadlineExceeded      deadline_exceeded
    ├─ Ungrounded               ungrounded           `errors`: what validation rejected
    ├─ Overloaded               overloaded
    ├─ Misconfigured            misconfigured
    ├─ ProviderFailed           providers_exhausted  one attempt, with a Failure; failover reads it
    │  ├─ ProviderRefused       provider_refused     stops the walk
    │  └─ ProvidersExhausted    providers_exhausted  every provider of the list failed
    ├─ StoreFailed              store_failed
    │  ├─ CorruptIndex          store_failed         index files to be rebuilt; the index catches it
    │  └─ AuditUnavailable      audit_unavailable
    └─ Cancelled                cancelled

`message` is for people and holds no secret; `detail` says where or how much. Code decides
by class, `kind` or the typed attributes, never by reading a message.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from redask.core.model import Notice

CLOSED = "the database is closed"  # a BadAsk, for whoever comes after closing
FORKED = "a database does not survive a fork: open it in the new process"  # a StoreFailed
_NO_THREAD = ("can't start new thread", "can't create new thread")
WAS_CLOSED = "the database was closed"  # a Cancelled, for whoever was there when it happened


class Failure(StrEnum):
    """Why one call to a provider failed. The first three move on to the next provider."""

    TRANSPORT = "transport"
    SERVER = "5xx"
    TIMEOUT = "timeout"
    REFUSED = "refused"


class UrnFault(StrEnum):
    """What is wrong with a URN."""

    SCHEME = "scheme"
    KIND = "kind"
    SEPARATOR = "separator"
    EMPTY_COLLECTION = "empty collection"
    EMPTY_ID = "empty id"
    EMPTY_FRAGMENT = "empty fragment"
    FRAGMENT_KIND = "fragment not allowed"
    RAW_CHARACTER = "raw character"
    PERCENT = "bad percent"
    UTF8 = "not UTF-8"


class TtlFault(StrEnum):
    """What is wrong with a time to live."""

    EMPTY = "empty"
    MISSING_NUMBER = "missing number"
    MISSING_UNIT = "missing unit"
    ZERO = "zero"
    UNKNOWN_UNIT = "unknown unit"
    OVERFLOW = "overflow"


class AskError(Exception):
    """The root of every error redask raises on purpose."""

    kind: ClassVar[str] = "internal"

    def __init__(self, message: str, *, detail: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail

    def __reduce__(self) -> "tuple[object, tuple[object, ...]]":
        """For pickling and copying: classes whose constructor takes other things included."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(
    kind: type[AskError], args: tuple[object, ...], attributes: dict[str, object]
) -> AskError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class BadAsk(AskError):
    kind = "bad_ask"


class BadStatement(BadAsk):
    """A statement that does not parse; line and column count from 1, in code points."""

    def __init__(self, line: int, column: int, found: str, expected: str) -> None:
        super().__init__(
            f"line {line}, column {column}: expected {expected}, found {found}",
            detail=f"line {line}, column {column}",
        )
        self.line = line
        self.column = column
        self.found = found
        self.expected = expected


class SqlError(BadAsk):
    """A SELECT that PostgreSQL would refuse too, or that is not supported.

    `position` counts code points from 1, and is 0 where there is none.
    """

    def __init__(self, sqlstate: str, message: str, *, position: int = 0, hint: str = "") -> None:
        super().__init__(message, detail=sqlstate)
        self.sqlstate = sqlstate
        self.position = position
        self.hint = hint


class BadUrn(BadAsk):
    def __init__(self, fault: UrnFault, message: str) -> None:
        super().__init__(message, detail=fault.value)
        self.fault = fault


class BadTtl(BadAsk):
    def __init__(self, fault: TtlFault, message: str) -> None:
        super().__init__(message, detail=fault.value)
        self.fault = fault


class NotCanonical(BadAsk):
    """A value without canonical JSON; `detail` is the path to it."""


@dataclass(frozen=True, slots=True)
class RowProblem:
    """Why one row cannot be written; `position` counts from 0."""

    position: int
    reason: str


class BadRows(BadAsk):
    """Rows that cannot be written; `problems` has them all, the message the first ten."""

    def __init__(self, collection: str, problems: Sequence[RowProblem], total: int) -> None:
        shown = "; ".join(f"row {each.position}: {each.reason}" for each in problems[:10])
        rest = f"; and {len(problems) - 10} more" if len(problems) > 10 else ""
        super().__init__(
            f"{len(problems)} of {total} rows for {collection} are bad, so none was written: "
            f"{shown}{rest}",
            detail=", ".join(str(each.position) for each in problems[:10]),
        )
        self.problems = tuple(problems)


class Unauthenticated(AskError):
    kind = "unauthenticated"


class Denied(AskError):
    kind = "denied"


class LimitExceeded(AskError):
    kind = "limit_exceeded"

    def __init__(self, limit: str, message: str, *, detail: str = "") -> None:
        super().__init__(message, detail=detail)
        self.limit = limit


class DeadlineExceeded(LimitExceeded):
    kind = "deadline_exceeded"


class Ungrounded(AskError):
    """The answer was still wrong after the retry; it is not part of the error."""

    kind = "ungrounded"

    def __init__(self, message: str, errors: tuple[Notice, ...]) -> None:
        super().__init__(message, detail="; ".join(notice.detail for notice in errors))
        self.errors = errors


class Overloaded(AskError):
    kind = "overloaded"


class Misconfigured(AskError):
    kind = "misconfigured"


class ProviderFailed(AskError):
    """One call that brought no answer; `billed` are the (prompt, completion) tokens it cost.

    `said` is what the provider said, or what happened; the message says which provider it was.
    """

    kind = "providers_exhausted"

    def __init__(
        self,
        provider: str,
        failure: Failure,
        message: str,
        *,
        detail: str = "",
        billed: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(f"{provider}: {failure.value}: {message}", detail=detail)
        self.provider = provider
        self.failure = failure
        self.said = message
        self.billed = billed


class ProviderRefused(ProviderFailed):
    kind = "provider_refused"

    def __init__(
        self,
        provider: str,
        message: str,
        *,
        detail: str = "",
        billed: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(provider, Failure.REFUSED, message, detail=detail, billed=billed)


class ProvidersExhausted(ProviderFailed):
    """Every provider of the list failed; `attempts` holds them in order."""

    def __init__(self, attempts: tuple[ProviderFailed, ...]) -> None:
        last = attempts[-1]
        super().__init__(last.provider, last.failure, last.said)
        tried = "; ".join(attempt.message for attempt in attempts)
        AskError.__init__(self, f"no provider answered: {tried}", detail=tried)
        self.attempts = attempts


class StoreFailed(AskError):
    kind = "store_failed"

    def after(self, done: str) -> "StoreFailed":
        """The same for work of several steps: what of it was written before."""
        return type(self)(f"{self.message}; {done}", detail=self.detail)


class CorruptIndex(StoreFailed):
    """Index files that cannot be used. The index is derived: whoever catches this rebuilds it."""


class AuditUnavailable(StoreFailed):
    kind = "audit_unavailable"


class Cancelled(AskError):
    kind = "cancelled"


def of_the_machine(error: BaseException) -> BaseException:
    """`Overloaded`, where Python says that there is no memory or no thread left; else the error.

    Threads' work, asks and the opening of a database pass through it, so that neither ends in an
    internal error, nor in waiting for a thread that was never there.
    """
    if isinstance(error, MemoryError):
        return Overloaded("there is not enough memory for this: try again, or ask for less")
    if isinstance(error, RuntimeError) and str(error).startswith(_NO_THREAD):
        return Overloaded("no thread can be started: the process or the machine has too many")
    return error
