"""Sources that do not fit into the limits are in no plan, no answer and no audit row."""

from pathlib import Path

import redask
from redask.core.settings import load


def test_a_source_that_was_dropped_for_its_size_is_named_nowhere(tmp_path: Path) -> None:
    settings = load("[ask]\nmax_sources_bytes = 150\n", {})
    with redask.open(tmp_path, settings=settings, embedder="none") as db:
        rows = [{"id": number, "text": f"Ferry {number} leaves at nine."} for number in range(9)]
        db.put("notes", rows)
        answer = db.ask("When does the ferry leave?")
        planned = [each["urn"] for each in db.explain("When does the ferry leave?")["sources"]]
        audited = db.audit(1)[0].row["sources_urns"]
    kept = [source.urn for source in answer.sources_flat]
    assert 0 < len(kept) < len(rows)
    assert [each.kind for each in answer.validation.warnings] == ["sources_trimmed"]
    assert audited == planned == kept
