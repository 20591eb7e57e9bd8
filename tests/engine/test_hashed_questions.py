"""The questions of some tenants are kept as hashes, those of the others as they were asked."""

from hashlib import sha256
from pathlib import Path

import pytest

import redask
from redask.core.rules.audit_chain import Intact
from redask.core.settings import load

QUESTION = "When does the ferry leave?"
HASHED = f"sha256:{sha256(QUESTION.encode()).hexdigest()}"


@pytest.mark.parametrize(
    ("text", "acme", "local"),
    [
        ("", QUESTION, QUESTION),
        ('ask.audit.hash_tenants = ["acme"]', HASHED, QUESTION),
        ('ask.audit.hash_tenants = ["acme", "local"]', HASHED, HASHED),
        ('ask.audit.question = "hash"', HASHED, HASHED),
    ],
)
def test_a_tenants_questions_are_hashed(tmp_path: Path, text: str, acme: str, local: str) -> None:
    settings = load(text, {"REDASK_EMBEDDER_NAME": "none"})
    for tenant, expected in (("acme", acme), ("local", local)):
        with redask.open(tmp_path / "db", settings=settings, tenant=tenant) as db:
            db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
            db.ask(QUESTION)
            assert db.audit(1)[0].row["question"] == expected
            assert isinstance(db.verify_audit(), Intact)
