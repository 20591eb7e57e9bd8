"""The fingerprint of an answer's sources: `of(pairs)` and `content_version(payload)`.

The fingerprint is the lower-case hex SHA-256 over the *set* of `(urn, content_version)`:
sorted by URN bytes then version, duplicates dropped, each as

    urn ‖ 0x1f ‖ version, 8 bytes big-endian ‖ 0x1e

so order does not matter, versions do, and one URN in two versions counts twice. URNs are
opaque here. A content version is a hash of the payload exactly as the caller receives it,
after policy and redaction: the same data gives the same fingerprint in every database, and data
that a caller may not see never changes a seed. It is not the store's sequence number.
"""

import hashlib
from collections.abc import Iterable

from redask.core.errors import BadAsk

_U64 = 1 << 64


def of(pairs: Iterable[tuple[str, int]]) -> str:
    """The fingerprint of `(urn, content_version)` pairs."""
    digest = hashlib.sha256()
    for urn, version in sorted({(urn.encode(), version) for urn, version in pairs}):
        if not 0 <= version < _U64:
            raise BadAsk(f"a content version lies between 0 and 2^64-1, not {version}")
        digest.update(urn + b"\x1f" + version.to_bytes(8, "big") + b"\x1e")
    return digest.hexdigest()


def content_version(payload: str) -> int:
    """The version of a payload: the first 8 bytes, big-endian, of its SHA-256."""
    return int.from_bytes(hashlib.sha256(payload.encode()).digest()[:8], "big")
