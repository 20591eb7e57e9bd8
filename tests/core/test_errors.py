"""One tree of errors: as drawn in its docstring, closed, and without transport numbers."""

import ast
import pickle
import re
from pathlib import Path

import pytest

from redask.core import errors
from redask.core.errors import (
    AskError,
    AuditUnavailable,
    BadAsk,
    BadRows,
    BadStatement,
    BadTtl,
    BadUrn,
    Cancelled,
    CorruptIndex,
    DeadlineExceeded,
    Denied,
    Failure,
    LimitExceeded,
    Misconfigured,
    NotCanonical,
    Overloaded,
    ProviderFailed,
    ProviderRefused,
    ProvidersExhausted,
    RowProblem,
    SqlError,
    StoreFailed,
    TtlFault,
    Unauthenticated,
    Ungrounded,
    UrnFault,
)
from redask.core.model import Notice

# class → its parent and its kind; design.md's tree and contract 20's kinds
TREE: dict[type[AskError], tuple[type[Exception], str]] = {
    AskError: (Exception, "internal"),
    BadAsk: (AskError, "bad_ask"),
    BadStatement: (BadAsk, "bad_ask"),
    BadUrn: (BadAsk, "bad_ask"),
    BadTtl: (BadAsk, "bad_ask"),
    SqlError: (BadAsk, "bad_ask"),
    NotCanonical: (BadAsk, "bad_ask"),
    BadRows: (BadAsk, "bad_ask"),
    Unauthenticated: (AskError, "unauthenticated"),
    Denied: (AskError, "denied"),
    LimitExceeded: (AskError, "limit_exceeded"),
    DeadlineExceeded: (LimitExceeded, "deadline_exceeded"),
    Ungrounded: (AskError, "ungrounded"),
    Overloaded: (AskError, "overloaded"),
    Misconfigured: (AskError, "misconfigured"),
    ProviderFailed: (AskError, "providers_exhausted"),
    ProviderRefused: (ProviderFailed, "provider_refused"),
    ProvidersExhausted: (ProviderFailed, "providers_exhausted"),
    StoreFailed: (AskError, "store_failed"),
    CorruptIndex: (StoreFailed, "store_failed"),
    AuditUnavailable: (StoreFailed, "audit_unavailable"),
    Cancelled: (AskError, "cancelled"),
}


def family(root: type[AskError]) -> set[type[AskError]]:
    return {root}.union(*(family(child) for child in root.__subclasses__()))


def test_the_tree_is_closed() -> None:
    ours = {cls for cls in family(AskError) if cls.__module__.startswith("redask")}
    assert ours == set(TREE)


@pytest.mark.parametrize("cls", TREE)
def test_a_class_has_its_parent_and_its_kind(cls: type[AskError]) -> None:
    parent, kind = TREE[cls]
    assert (cls.__bases__, cls.kind) == ((parent,), kind)


def test_the_docstring_draws_the_tree() -> None:
    drawn: list[tuple[str, str, str]] = []
    path: dict[int, str] = {-4: "Exception"}
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"    ([ │├└─]*)([A-Z]\w+) +(\w+)", line)
        if found:
            depth = len(found[1]) // 3
            path[depth] = found[2]
            drawn.append((found[2], path.get(depth - 1, "Exception"), found[3]))
    assert drawn == [(cls.__name__, parent.__name__, kind) for cls, (parent, kind) in TREE.items()]


def test_no_transport_number_is_in_the_tree() -> None:
    tree = ast.parse(Path(errors.__file__).read_text(encoding="utf-8"))
    numbers = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and type(node.value) is int
    ]
    assert all(abs(number) < 100 for number in numbers)


EXAMPLES: list[tuple[AskError, str, str]] = [
    *(
        (cls("it went wrong", detail="there"), "it went wrong", "there")
        for cls in TREE
        if cls.__init__ is AskError.__init__
    ),
    (
        BadStatement(2, 3, "x", "a number"),
        "line 2, column 3: expected a number, found x",
        "line 2, column 3",
    ),
    (BadUrn(UrnFault.EMPTY_ID, "no id"), "no id", "empty id"),
    (BadTtl(TtlFault.ZERO, "no time"), "no time", "zero"),
    (SqlError("22012", "division by zero", position=8), "division by zero", "22012"),
    (
        BadRows("notes", [RowProblem(n, "no id") for n in range(12)], 20),
        "12 of 20 rows for notes are bad, so none was written: "
        + "; ".join(f"row {n}: no id" for n in range(10))
        + "; and 2 more",
        "0, 1, 2, 3, 4, 5, 6, 7, 8, 9",
    ),
    (
        BadRows("notes", [RowProblem(3, "no id")], 4),
        "1 of 4 rows for notes are bad, so none was written: row 3: no id",
        "3",
    ),
    (LimitExceeded("timeout_ms", "too much", detail="5 > 4"), "too much", "5 > 4"),
    (DeadlineExceeded("timeout_ms", "too late"), "too late", ""),
    (
        Ungrounded("still wrong", (Notice("malformed", "[^0]"), Notice("out_of_range", "[^9]"))),
        "still wrong",
        "[^0]; [^9]",
    ),
    (ProviderFailed("groq", Failure.TIMEOUT, "slow", detail="5 s"), "groq: timeout: slow", "5 s"),
    (ProviderRefused("groq", "HTTP 401", detail="key"), "groq: refused: HTTP 401", "key"),
    (
        ProvidersExhausted(
            (
                ProviderFailed("a", Failure.TRANSPORT, "gone"),
                ProviderFailed("b", Failure.SERVER, "ill"),
            )
        ),
        "no provider answered: a: transport: gone; b: 5xx: ill",
        "a: transport: gone; b: 5xx: ill",
    ),
]


def test_every_class_has_an_example_here() -> None:
    assert {type(example) for example, *_ in EXAMPLES} == set(TREE)


@pytest.mark.parametrize(
    ("error", "message", "detail"),
    EXAMPLES,
    ids=[type(example[0]).__name__ for example in EXAMPLES],
)
def test_an_error_has_a_message_and_a_detail(error: AskError, message: str, detail: str) -> None:
    assert (error.message, error.detail) == (message, detail)
    assert str(error) == message
    assert error.args == (message,)


def test_detail_is_empty_unless_given() -> None:
    assert (AskError("x").detail, Denied("x").detail) == ("", "")
    assert ProviderFailed("a", Failure.SERVER, "x").detail == ""
    assert ProviderRefused("a", "x").detail == ""


def test_what_code_decides_by_is_typed() -> None:
    statement = BadStatement(2, 3, "x", "y")
    assert (statement.line, statement.column) == (2, 3)
    assert (statement.found, statement.expected) == ("x", "y")
    assert BadUrn(UrnFault.KIND, "m").fault is UrnFault.KIND
    assert BadTtl(TtlFault.OVERFLOW, "m").fault is TtlFault.OVERFLOW
    assert LimitExceeded("max_prompt_tokens", "m").limit == "max_prompt_tokens"
    errors_ = (Notice("malformed", "d"),)
    assert Ungrounded("m", errors_).errors is errors_


def test_a_refusal_is_a_failure_that_stops() -> None:
    refused = ProviderRefused("groq", "no")
    assert (refused.provider, refused.failure) == ("groq", Failure.REFUSED)
    assert refused.said == "no"


def test_exhaustion_keeps_every_attempt_and_reports_the_last() -> None:
    attempts = (ProviderFailed("a", Failure.SERVER, "x"), ProviderFailed("b", Failure.TIMEOUT, "y"))
    exhausted = ProvidersExhausted(attempts)
    assert exhausted.attempts is attempts
    assert (exhausted.provider, exhausted.failure) == ("b", Failure.TIMEOUT)


def test_the_faults_are_those_of_the_contracts() -> None:
    assert [failure.value for failure in Failure] == ["transport", "5xx", "timeout", "refused"]
    assert [fault.value for fault in TtlFault] == [
        *("empty", "missing number", "missing unit"),
        *("zero", "unknown unit", "overflow"),
    ]
    assert {fault.value for fault in UrnFault} == {
        *("scheme", "kind", "separator", "empty collection", "empty id", "empty fragment"),
        *("fragment not allowed", "raw character", "bad percent", "not UTF-8"),
    }


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "not enough memory"),
        (RuntimeError("can't start new thread"), "no thread can be started"),
        (RuntimeError("can't create new thread at interpreter shutdown"), "no thread"),
    ],
)
def test_what_the_machine_has_no_more_of_is_an_error_of_ours(
    error: BaseException, message: str
) -> None:
    told = errors.of_the_machine(error)
    assert isinstance(told, errors.Overloaded)
    assert message in told.message


def test_other_errors_stay_what_they_are() -> None:
    for error in (RuntimeError("other"), errors.StoreFailed("x"), KeyError("x")):
        assert errors.of_the_machine(error) is error


def test_an_error_is_the_same_in_another_process() -> None:
    failed = errors.StoreFailed("the disk is full", detail="53100").after("3 of 5 were written")
    for error in (failed, errors.DeadlineExceeded("timeout_ms", "too late")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.message, again.detail) == (
            type(error),
            error.message,
            error.detail,
        )
    assert str(failed) == "the disk is full; 3 of 5 were written"
