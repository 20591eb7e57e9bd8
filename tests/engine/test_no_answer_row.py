"""A call that ends without an answer: its row cites nothing, whatever an attempt before said."""

from pathlib import Path

import pytest

import redask
from redask.core.errors import Failure, ProvidersExhausted
from redask.providers.scripted import Reply, Scripted


def test_the_markers_of_a_rejected_attempt_are_not_those_of_a_failed_call(tmp_path: Path) -> None:
    scripted = Scripted([Reply("At nine [^9]."), Reply(fail=Failure.TRANSPORT)])
    with redask.open(tmp_path, providers={"scripted": scripted}, embedder="none") as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
        with pytest.raises(ProvidersExhausted):
            db.ask("When does the ferry leave?", using="scripted")
        row = db.audit(1)[0].row
    assert row["retry_count"] == 1
    assert row["citations"] == []
    assert row["validation_ok"] is False
