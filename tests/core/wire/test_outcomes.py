"""Contract 20, outcomes: the whole table, every error class in it, and nothing that leaks."""

import asyncio
import traceback
from dataclasses import astuple

import pytest

from redask.core import errors
from redask.core.errors import AskError, Failure
from redask.core.model import Notice
from redask.core.wire import json
from redask.core.wire.outcomes import ANSWERED, INTERNAL, OUTCOMES, Outcome, body, message, of

# kind, HTTP, gRPC, SQLSTATE, JSON-RPC, exit; None where the contract has a dash
CONTRACT = [
    ("answered", 200, "OK", "00000", None, 0),
    ("bad_ask", 400, "INVALID_ARGUMENT", "42601", -32602, 2),
    ("unauthenticated", 401, "UNAUTHENTICATED", "28P01", -32001, 3),
    ("denied", 403, "PERMISSION_DENIED", "42501", -32003, 3),
    ("limit_exceeded", 413, "RESOURCE_EXHAUSTED", "54000", -32013, 4),
    ("ungrounded", 422, "FAILED_PRECONDITION", "22000", -32022, 5),
    ("overloaded", 429, "RESOURCE_EXHAUSTED", "53300", -32029, 6),
    ("misconfigured", 500, "FAILED_PRECONDITION", "F0000", -32050, 7),
    ("provider_refused", 502, "UNKNOWN", "58000", -32030, 8),
    ("providers_exhausted", 503, "UNAVAILABLE", "57P03", -32031, 8),
    ("store_failed", 503, "UNAVAILABLE", "57P03", -32051, 9),
    ("audit_unavailable", 503, "UNAVAILABLE", "57P03", -32051, 9),
    ("deadline_exceeded", 504, "DEADLINE_EXCEEDED", "57014", -32014, 4),
    ("cancelled", None, "CANCELLED", "57014", -32015, 130),
    ("internal", 500, "INTERNAL", "XX000", -32603, 1),
]
ROWS = {outcome.kind: outcome for outcome in (ANSWERED, INTERNAL, *OUTCOMES.values())}


def family(root: type[AskError]) -> set[type[AskError]]:
    children = [cls for cls in root.__subclasses__() if cls.__module__ == errors.__name__]
    return {root}.union(*(family(child) for child in children))


CLASSES = sorted(family(AskError), key=lambda cls: cls.__name__)


@pytest.mark.parametrize("row", CONTRACT, ids=[str(row[0]) for row in CONTRACT])
def test_an_outcome_has_the_contracts_numbers(row: tuple[object, ...]) -> None:
    ours = astuple(ROWS[str(row[0])])
    assert row == tuple(
        None if wanted is None else has for wanted, has in zip(row, ours, strict=True)
    )


def test_there_is_no_other_outcome() -> None:
    assert set(ROWS) == {kind for kind, *_ in CONTRACT}


def test_a_code_without_a_place_in_the_contract_stays_out_of_the_others_way() -> None:
    assert ROWS["cancelled"].http not in {row[1] for row in CONTRACT}
    assert ROWS["answered"].jsonrpc == 0


@pytest.mark.parametrize("cls", CLASSES)
def test_every_class_of_the_tree_has_a_row_of_its_own_or_its_parents(cls: type[AskError]) -> None:
    row = of(cls.__new__(cls))
    assert row.kind == cls.kind
    assert (row is INTERNAL) is (
        cls is AskError
    )  # a class without a row must not fall back to the root


def test_a_class_from_elsewhere_takes_its_nearest_parents_row() -> None:
    class Late(errors.DeadlineExceeded):
        pass

    class Mixed(ValueError, errors.Denied):
        pass

    assert of(Late("timeout_ms", "late")).http == 504
    assert of(Mixed("no")).http == 403


def test_provider_failures_keep_apart_what_stops_and_what_moves_on() -> None:
    failed = errors.ProviderFailed("a", Failure.SERVER, "x")
    assert of(failed).http == of(errors.ProvidersExhausted((failed,))).http == 503
    assert of(errors.ProviderRefused("a", "x")).http == 502


FOREIGN: list[BaseException] = [
    ValueError("secret"),
    KeyError("secret"),
    Exception(),
    RecursionError("secret"),
    KeyboardInterrupt("secret"),
    SystemExit("secret"),
    GeneratorExit("secret"),
    asyncio.CancelledError("secret"),
    ExceptionGroup("secret", [errors.Denied("secret")]),
    UnicodeDecodeError("utf-8", b"secret", 0, 1, "secret"),
]


@pytest.mark.parametrize("error", FOREIGN, ids=[type(error).__name__ for error in FOREIGN])
def test_an_unexpected_exception_is_internal_and_reveals_nothing(error: BaseException) -> None:
    assert of(error) == Outcome("internal", 500, "INTERNAL", "XX000", -32603, 1)
    assert message(error) == "internal error"
    assert json.text(body(error)) == (
        '{"error":{"detail":"","kind":"internal","message":"internal error"}}'
    )


def test_a_body_says_detail_kind_and_message_and_nothing_else() -> None:
    error = errors.LimitExceeded("max_prompt_tokens", "too “long”", detail="9 > 8")
    assert json.text(body(error)) == (
        '{"error":{"detail":"9 > 8","kind":"limit_exceeded","message":"too “long”"}}'
    )


def test_an_ungrounded_body_shows_the_validation_without_the_answer() -> None:
    error = errors.Ungrounded(
        "the answer cites wrongly", (Notice("malformed", "[^0]"), Notice("out_of_range", "[^9]"))
    )
    assert json.text(body(error)) == (
        '{"error":{"detail":"[^0]; [^9]","kind":"ungrounded",'
        '"message":"the answer cites wrongly"},'
        '"validation":{"errors":[{"detail":"[^0]","kind":"malformed"},'
        '{"detail":"[^9]","kind":"out_of_range"}],"ok":false,"warnings":[]}}'
    )


def test_neither_cause_nor_trace_of_our_own_error_leaves() -> None:
    def fail() -> None:
        try:
            raise RuntimeError("sk-secret")
        except RuntimeError as cause:
            raise errors.StoreFailed("the store did not answer") from cause

    with pytest.raises(errors.StoreFailed) as caught:
        fail()
    assert "sk-secret" in "".join(traceback.format_exception(caught.value))
    assert json.text(body(caught.value)) == (
        '{"error":{"detail":"","kind":"store_failed","message":"the store did not answer"}}'
    )
