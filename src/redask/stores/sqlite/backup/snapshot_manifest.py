"""What one back-up holds, as a JSON file; it is there only once everything in it was verified.

    {"redask_backup": 1, "made_at": epoch ns, "made_by": version, "store": identity,
     "timeline": …, "files": [{"name", "size", "sha256", "chunks": [hash, …]}], "checksum": …}

Its name is its time, so that names sort as times do. A manifest that cannot be read is an error
of the caller's back-up, never a reason to take an older one in silence.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from redask.core.errors import BadAsk, StoreFailed
from redask.core.wire import json as canonical

VERSION = 1
ENDING = ".backup.json"
FILES = frozenset({"redask.sqlite", "calls.sqlite", "redask.toml", "synonyms.toml"})
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class BackedUpFile:
    """A file: its content is that of the chunks, one after the other."""

    name: str
    size: int
    sha256: str
    chunks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """One back-up."""

    made_at: int
    made_by: str
    store: str
    timeline: str
    files: tuple[BackedUpFile, ...]

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.made_at:020}{ENDING}"


def written(manifest: BackupManifest) -> bytes:
    """A manifest as its file has it."""
    plain: dict[str, object] = {
        "redask_backup": VERSION,
        "made_at": manifest.made_at,
        "made_by": manifest.made_by,
        "store": manifest.store,
        "timeline": manifest.timeline,
        "files": [
            {
                "name": each.name,
                "size": each.size,
                "sha256": each.sha256,
                "chunks": list(each.chunks),
            }
            for each in manifest.files
        ],
    }
    return canonical.encode({**plain, "checksum": _checksum(plain)})


def read(name: str, content: bytes) -> BackupManifest:
    """The manifest of a file; `StoreFailed` for what is none, or was changed."""
    try:
        plain = json.loads(content)
        version = plain["redask_backup"]
    except (ValueError, KeyError, TypeError) as error:
        raise StoreFailed(f"the back-up {name} is damaged", detail=str(error)) from error
    if version != VERSION:
        raise StoreFailed(
            f"the back-up {name} was made by another redask: upgrade redask to restore it",
            detail=f"version {version!a}, this redask knows {VERSION}",
        )
    try:
        if plain.pop("checksum") != _checksum(plain):
            raise ValueError("its checksum is wrong")
        files = tuple(_file(each) for each in plain["files"])
        made = (plain["made_at"], plain["made_by"], plain["store"], plain["timeline"])
        return BackupManifest(*made, files)
    except (ValueError, KeyError, TypeError, BadAsk) as error:
        raise StoreFailed(f"the back-up {name} is damaged", detail=str(error)) from error


def _file(plain: dict[str, Any]) -> BackedUpFile:
    found = BackedUpFile(plain["name"], plain["size"], plain["sha256"], tuple(plain["chunks"]))
    if found.name not in FILES:
        raise ValueError(f"{found.name!a} is no file of a database")
    for chunk in found.chunks:
        if len(chunk) != 64 or not _HEX.issuperset(chunk):
            raise ValueError(f"{chunk!a} is no hash")
    return found


def _checksum(plain: object) -> str:
    return sha256(canonical.encode(plain)).hexdigest()


def chosen(names: Iterable[str], at: int | None) -> str:
    """The name of the last back-up, or of the last one made by a time (epoch ns)."""
    every = sorted(name for name in names if name.endswith(ENDING))
    if not every:
        raise BadAsk("there is no back-up", detail="source")
    if at is None:
        return every[-1]
    made = [name for name in every if int(name.removesuffix(ENDING)) <= at]
    if not made:
        first = int(every[0].removesuffix(ENDING))
        raise BadAsk(
            f"there is no back-up of that time: the first is of {_utc(first)}", detail="at"
        )
    return made[-1]


def _utc(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
