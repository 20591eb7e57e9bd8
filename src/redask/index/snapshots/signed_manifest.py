"""What a snapshot of a partition says of itself: `SnapshotManifest`, and when it is refused.

    refused because it is                      so that
    not signed with the database's key         who can write to the place cannot make up an index
    of another database, tenant or version     nothing is read that means something else here
    of another embedding space                 its vectors would all be made again
    of a write that the store does not know    what was restored, copied or forgotten is not mixed

On disk: the signature (HMAC-SHA256, in hex), a line feed, JSON. Each file has its size and SHA-256.
"""

import hmac
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256

MAX_BYTES = 16 * 2**20
_PATH = re.compile(r"(?!.*\.\.)[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*")
_LEAST_CHANGES = 512
_SHARE = 10  # a snapshot is renewed when a tenth has changed


class Refused(Exception):
    """Why a snapshot is not used, in a sentence."""


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """A file of a generation."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class SnapshotSubject:
    """What a snapshot is of, and must be of to be used."""

    identity: str  # of the store
    tenant: str
    layout: str  # of the index, analysis included
    space: tuple[str, int] | None  # embedding model and dimensions


@dataclass(frozen=True, slots=True)
class SnapshotManifest:
    """One snapshot; its files are in `folder` of the place."""

    subject: SnapshotSubject
    watermark: int
    history: str
    folder: str
    files: tuple[SnapshotFile, ...]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)

    def signed(self, key: bytes) -> bytes:
        """As it is stored."""
        body = json.dumps(asdict(self), sort_keys=True).encode()
        return _signature(key, body) + b"\n" + body


def read(content: bytes, key: bytes) -> SnapshotManifest:
    """What was stored; `Refused` if it is not what somebody with the key has written."""
    signature, _, body = content.partition(b"\n")
    if not hmac.compare_digest(signature, _signature(key, body)):
        raise Refused("its manifest is damaged, or was not written by a node of this database")
    found = json.loads(body)
    subject, files = found.pop("subject"), found.pop("files")
    space = subject.pop("space")
    made = SnapshotManifest(
        subject=SnapshotSubject(**subject, space=tuple(space) if space else None),
        files=tuple(SnapshotFile(**file) for file in files),
        **found,
    )
    if not all(
        _PATH.fullmatch(each) for each in (made.folder, *(file.path for file in made.files))
    ):
        raise Refused("its manifest names a file outside of the index")
    return made


def check(
    found: SnapshotManifest,
    wanted: SnapshotSubject,
    watermark: int,
    follows: Callable[[str], bool],
) -> None:
    """Raise `Refused` unless it is a snapshot to start from; the store is at `watermark`."""
    has = found.subject
    if has.identity != wanted.identity:
        raise Refused("it is of another database")
    if has.tenant != wanted.tenant:
        raise Refused("it is of another tenant")
    if has.layout != wanted.layout:
        raise Refused(f"it is of index version {has.layout}, not {wanted.layout}")
    if has.space != wanted.space:
        raise Refused("its vectors are of another embedding model than the database's")
    if found.watermark > watermark or not follows(found.history):
        raise Refused(
            "its last write is none that the database remembers: it is too old, or of another"
            " state of the database"
        )


def is_due(watermark: int, kept: int | None) -> bool:
    """Whether an index at `watermark` is worth a snapshot; there is one of `kept` (None: none)."""
    if kept is None:
        return watermark > 0
    return watermark - kept >= max(_LEAST_CHANGES, kept // _SHARE)


def _signature(key: bytes, body: bytes) -> bytes:
    return (
        hmac.new(sha256(b"redask index snapshot" + key).digest(), body, sha256).hexdigest().encode()
    )
