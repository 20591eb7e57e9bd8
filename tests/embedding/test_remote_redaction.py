"""What an embedder on another machine is sent is redacted, as what a provider is sent."""

from pathlib import Path

import pytest
from embedding_host import hosting

import redask
from redask.core.settings import load

ROW = {"id": 1, "text": "Write to ada@example.org about the ferry.", "password": "hunter2"}
REDACT = '[ask.redact]\nsecrets = true\npersonal = ["email"]\n'


@pytest.mark.parametrize("redacts", [True, False])
def test_the_data_is_redacted_before_it_leaves(tmp_path: Path, redacts: bool) -> None:
    with hosting() as host:
        chosen = f'[embedder]\nname = "openai_compatible"\nbase_url = "{host.url}"\nmodel = "m"\n'
        settings = load(REDACT if redacts else "", {}, chosen)
        with redask.open(tmp_path / "db", settings=settings) as db:
            db.put("notes", [ROW])
            assert list(db.search("ferry"))
        sent = str([call["input"] for call in host.calls])
    assert "ferry" in sent
    assert ("[redacted:email]" in sent) is redacts
    assert ("ada@example.org" in sent or "hunter2" in sent) is not redacts
