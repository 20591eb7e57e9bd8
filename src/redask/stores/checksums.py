"""Checksums of what a store keeps: of each entity, with who may read it, and of each vector.

A disk that changes a byte is noticed by whoever reads it: SQLite itself sees a broken page, but not
a changed value. A CRC of 32 bits does for that; it is no protection against somebody who writes.

    entity    its key, the numbers of its tenant, collection and policy class, URN and payload
    vector    the key of its entity, and its numbers
"""

from zlib import crc32

from redask.core.errors import StoreFailed

_SIGN, _RANGE = 1 << 31, 1 << 32  # signed, as SQLite keeps it in four bytes
EntityNumbers = tuple[
    int, int, int, int
]  # numbers of the entity, its tenant, collection, policy class


def of_entity(place: EntityNumbers, urn: bytes, payload: bytes) -> int:
    """The checksum of an entity."""
    return _signed(crc32(payload, crc32(b"%d %d %d %d %b " % (*place, urn))))


def of_vector(key: int, vector: bytes) -> int:
    """The checksum of a vector."""
    return _signed(crc32(vector, crc32(b"%d" % key)))


def is_whole(place: EntityNumbers, urn: str, payload: str | None, checksum: int | None) -> bool:
    """Whether an entity is what was written; so is what is deleted, or has no checksum yet."""
    if payload is None or checksum is None:
        return True
    return of_entity(place, urn.encode(), payload.encode()) == checksum


def check_entity(place: EntityNumbers, urn: str, payload: str | None, checksum: int | None) -> None:
    """Refuse an entity that is not what was written.

    Who asked may not be one who may know of it, so the error names nothing.
    """
    if not is_whole(place, urn, payload, checksum):
        raise damaged("an entity")


def check_vector(key: int, vector: bytes | None, checksum: int | None) -> None:
    """The same for a vector."""
    if vector is not None and checksum is not None and of_vector(key, vector) != checksum:
        raise damaged("a vector")


def damaged(what: str) -> StoreFailed:
    """The error of what is not what was written."""
    return StoreFailed(
        f"{what} in the store is not what was written: `redask doctor --deep` names all that is "
        "damaged, and mends what can be mended"
    )


def _signed(crc: int) -> int:
    return crc - _RANGE if crc >= _SIGN else crc
