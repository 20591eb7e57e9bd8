"""Old back-ups of a directory are removed: `prune(destination, keep)`, which leaves the last ones.

First the manifests go, then the chunks that none of those left names. Ended in between, it leaves
chunks that nobody names: the next time takes them. If one of the manifests to keep cannot be read,
nothing is removed: it may be what needs the others' chunks.
"""

from pathlib import Path

from redask.core.errors import BadAsk
from redask.stores.sqlite.backup import snapshot_manifest
from redask.stores.sqlite.backup.chunk_store import ChunkStore, sync_folder


def check_keep(keep: int | None) -> None:
    """Refuse to keep less than the back-up that is being made."""
    if keep is not None and keep < 1:
        raise BadAsk(f"at least one back-up is kept, not {keep}", detail="keep")


def prune(destination: Path, keep: int) -> int:
    """Leave the last `keep` back-ups. Hold the directory's lock. → how many were removed"""
    names = sorted(path.name for path in destination.glob(f"*{snapshot_manifest.ENDING}"))
    old, kept = names[:-keep], names[-keep:]
    needed: set[str] = set()
    for name in kept:
        manifest = snapshot_manifest.read(name, (destination / name).read_bytes())
        needed.update(chunk for file in manifest.files for chunk in file.chunks)
    for name in old:
        (destination / name).unlink()
    sync_folder(destination)
    ChunkStore(destination).remove_others(needed)
    return len(old)
