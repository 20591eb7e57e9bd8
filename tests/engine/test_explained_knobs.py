"""EXPLAIN shows the knobs as they would be sent, and the audit row as they were."""

from pathlib import Path

import redask
from redask.core.rules.determinism import derive_seed
from redask.providers.scripted import Scripted


class Narrow(Scripted):
    """A provider whose wire carries seeds of 32 bits."""

    def narrow(self, seed: int) -> int:
        return seed % (2**32 - 1)


def test_explain_shows_the_seed_as_this_provider_would_get_it(tmp_path: Path) -> None:
    with redask.open(tmp_path, providers={"scripted": Narrow([])}, embedder="none") as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
        planned = db.explain("When does the ferry leave?", using="scripted")["determinism"]
        db.ask("When does the ferry leave?", using="scripted")
        sent = db.audit(1)[0].row["seed"]
        chosen = db.explain("When?", using="scripted", seed=2**40)["determinism"]
    assert planned["seed"] == sent
    assert planned["seed"] < 2**32
    assert chosen["seed"] == 2**40 % (2**32 - 1)
    assert derive_seed("When does the ferry leave?", "x") > 2**32  # so narrowing can be seen
