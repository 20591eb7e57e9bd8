"""The content of a record as one hash that tells nothing of it: `leaf`.

    salts             SHAKE-256( nonce ), 64 hex digits of it for each name in sorted order
    commitment        SHA-256( salt " " value ), the value as canonical JSON
    leaf              SHA-256( lines `name commitment`, sorted by name, LF between them )

The nonce is 64 hex digits, drawn for each record; hashes are such, too. Texts are UTF-8. Nobody
can guess a value from the leaf, however few values are likely: the nonce is not known. It stands
in the log, beside the row.

A value can be erased: its commitment stays, its salt and the nonce go, and the salts of what is
left are kept one by one (`Opening`). The leaf is the same, so the chain and old proofs hold; and
nobody can try values against the commitment any more.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

_NOTHING: Mapping[str, str] = MappingProxyType({})
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Opening:
    """What a leaf is computed with beside the values: the nonce, or what an erasure left."""

    nonce: str = ""
    salts: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    erased: Mapping[str, str] = field(default_factory=lambda: _NOTHING)

    def stored(self) -> str:
        """As it is kept: the nonce, or JSON."""
        if self.nonce:
            return self.nonce
        kept = {"erased": dict(self.erased), "salts": dict(self.salts)}
        return json.dumps(kept, sort_keys=True, separators=(",", ":"))


def read_opening(stored: str) -> Opening:
    """The opening that `stored` gave."""
    if not stored.startswith("{"):
        return Opening(stored)
    kept = json.loads(stored)
    return Opening("", kept["salts"], kept["erased"])


def leaf(values: Mapping[str, str], opening: Opening) -> str:
    """The hash of these values, each as its canonical JSON, and of those that were erased."""
    salts = _salts(values, opening)
    every = {name: _sha256(f"{salts[name]} {value}") for name, value in values.items()}
    every.update(opening.erased)
    return _sha256("\n".join([f"{name} {every[name]}" for name in sorted(every)]))


def without(
    values: Mapping[str, str], opening: Opening, names: Collection[str]
) -> tuple[dict[str, str], Opening]:
    """The values without these, and the opening then; the leaf stays the same."""
    salts = _salts(values, opening)
    gone = {name: _sha256(f"{salts[name]} {values[name]}") for name in values if name in names}
    left = {name: value for name, value in values.items() if name not in names}
    kept = {name: salts[name] for name in left}
    return left, Opening("", kept, {**opening.erased, **gone})


def values_of(text: str) -> dict[str, str]:
    """The values of a canonical JSON object by name, each as it is written there."""
    found: dict[str, str] = {}
    place = 1
    while text[place] != "}":
        place += text[place] == ","
        name, after = _DECODER.raw_decode(text, place)
        _, end = _DECODER.raw_decode(text, after + 1)
        found[name] = text[after + 1 : end]
        place = end
    return found


def _salts(values: Mapping[str, str], opening: Opening) -> Mapping[str, str]:
    if not opening.nonce:
        return opening.salts
    drawn = hashlib.shake_256(opening.nonce.encode()).hexdigest(32 * len(values))
    return {name: drawn[64 * n : 64 * n + 64] for n, name in enumerate(sorted(values))}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
