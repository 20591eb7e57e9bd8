"""stores.provenance_rows: what is kept is what was written, or the row is named."""

import json

import pytest

from redask.core.errors import StoreFailed
from redask.core.rules.audit_chain import ACCEPTED, PROVENANCE_PRUNED, ROW
from redask.core.rules.auditing.lived_time import DAY_NS, MARGIN
from redask.stores.auditing import provenance_rows
from redask.stores.auditing.provenance_rows import (
    NAME,
    KeptProvenance,
    digest,
    fault,
    opened,
    sealed,
)

TEXT = sealed({"found": 1}, "salt")


def kept(
    seq: int, text: str | None = TEXT, *, committed: str | None = digest(TEXT)
) -> KeptProvenance:
    beside = {} if committed is None else {NAME: committed}
    return KeptProvenance(seq, ROW, "{}", json.dumps(beside), text)


def pruned(seq: int, to: int) -> KeptProvenance:
    return KeptProvenance(seq, PROVENANCE_PRUNED, json.dumps({"rule": "r", "to": to}), "{}", None)


def test_the_salt_hides_the_text_behind_its_hash() -> None:
    assert digest(sealed({"a": 1}, "x")) != digest(sealed({"a": 1}, "y"))
    assert opened(digest(TEXT), TEXT) == {"found": 1, "salt": "salt"}
    assert opened(digest(TEXT), None) is None
    assert opened("", TEXT) is None
    with pytest.raises(StoreFailed, match="audit verify"):
        opened(digest(TEXT), sealed({"found": 2}, "salt"))


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([kept(1), kept(2)], None),
        ([kept(1, None, committed=None), kept(2)], None),
        ([kept(1, None), kept(2)], (1, "what made the answer of row 1 is missing")),
        ([kept(1, None), kept(2), pruned(3, 1)], None),
        (
            [kept(1, None), kept(2, None), pruned(3, 1)],
            (2, "what made the answer of row 2 is missing"),
        ),
        (
            [kept(1, None), kept(2, "{}"), pruned(3, 1)],
            (2, "what made the answer of row 2 is not what was written"),
        ),
        ([kept(1, committed=None)], (1, "what made the answer of row 1 was added")),
        (
            [kept(1, "{}"), kept(2, None)],
            (1, "what made the answer of row 1 is not what was written"),
        ),
        ([KeptProvenance(1, ACCEPTED, "{}", "{}", None)], None),
    ],
)
def test_the_first_row_that_is_not_as_written_is_named(
    records: list[KeptProvenance], expected: tuple[int, str] | None
) -> None:
    assert fault(records) == expected


def test_retention_begins_a_day_late_so_that_it_leaves_a_record_a_day() -> None:
    late = 10 * DAY_NS + MARGIN
    assert not provenance_rows.due(0, late + DAY_NS, 10 * DAY_NS)
    assert provenance_rows.due(0, late + DAY_NS + 1, 10 * DAY_NS)
