"""What made an answer, beside its audit row: what every backend's log does alike.

It is kept as text of its own, so that it can go before its row does. The row commits to the text's
hash (`NAME`, one of the values beside the row), and the text holds a salt, so that the hash tells
nothing of it. Retention takes texts from the old end, and puts a record `provenance_pruned` behind
the chain; a text that is missing without one, or is another, is a `fault`.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from redask.core.errors import StoreFailed
from redask.core.rules.audit_chain import PROVENANCE_PRUNED, ROW
from redask.core.rules.auditing.lived_time import DAY_NS, expires
from redask.core.wire.json import text

NAME = "provenance"
_SALT = "salt"


class KeptProvenance(NamedTuple):
    """A record of a chain, as `fault` looks at it: its text, or None where there is none."""

    seq: int
    kind: str
    row: str
    beside: str
    text: str | None


def sealed(provenance: Mapping[str, object], salt: str) -> str:
    """The text that is kept."""
    return text({**provenance, _SALT: salt})


def digest(written: str) -> str:
    """What the row commits to."""
    return hashlib.sha256(written.encode()).hexdigest()


def opened(committed: str, written: str | None) -> Mapping[str, Any] | None:
    """What was kept, once it is known to be what was written; None: it is not there (any more)."""
    if not committed or written is None:
        return None
    if digest(written) != committed:
        raise StoreFailed(
            "what was kept of how this answer was made is not what was written: see `redask audit "
            "verify`"
        )
    kept: Mapping[str, Any] = json.loads(written)
    return kept


def fault(records: Iterable[KeptProvenance]) -> tuple[int, str] | None:
    """The first row whose text is not what was written, or is missing and was not pruned."""
    missing: list[int] = []
    wrong: dict[int, str] = {}
    pruned = 0
    for each in records:
        if each.kind == PROVENANCE_PRUNED:
            to = json.loads(each.row).get("to")
            pruned = to if isinstance(to, int) else pruned  # else it was forged
        elif each.kind == ROW:
            committed = json.loads(each.beside).get(NAME) if NAME in each.beside else None
            if committed is None and each.text is not None:
                wrong[each.seq] = "was added"
            elif committed is not None and each.text is None:
                missing.append(each.seq)
            elif each.text is not None and digest(each.text) != committed:
                wrong[each.seq] = "is not what was written"
    wrong |= {seq: "is missing" for seq in missing if seq > pruned}
    if not wrong:
        return None
    first = min(wrong)
    return first, f"what made the answer of row {first} {wrong[first]}"


def due(oldest: int, now: int, keep_ns: int) -> bool:
    """Whether retention should begin: a day late at most, so that it leaves a record a day."""
    return expires(oldest, now, keep_ns + DAY_NS)
