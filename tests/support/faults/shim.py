"""The shim that makes system calls fail: `built()` compiles it, `arm(…)` says which call fails.

A process that is to be disturbed is started with `preloaded(environment)`; then `arm` and `seen`
work in it and in its forks. `FAULTS` are the kinds of calls, and how each of them fails.
"""

import ctypes
import errno
import os
import subprocess
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

_SOURCE = Path(__file__).parent / "fault_shim.c"
KINDS = {"write": 1, "sync": 2, "rename": 3, "open": 4, "mmap": 5, "truncate": 6}


@dataclass(frozen=True, slots=True)
class Fault:
    """How calls of one kind fail; `lasting`: from the Nth on, as on a disk that is full."""

    call: str
    error: str
    lasting: bool = False

    @property
    def name(self) -> str:
        return f"{self.call} {self.error}{' lasting' if self.lasting else ''}"


FAULTS = (
    *(Fault("write", each) for each in ("ENOSPC", "EIO", "EINTR")),
    Fault("write", "ENOSPC", lasting=True),
    *(Fault("sync", each) for each in ("ENOSPC", "EIO", "EINTR")),
    *(Fault("rename", each) for each in ("ENOSPC", "EIO")),
    Fault("rename", "EIO", lasting=True),
    *(Fault("open", each) for each in ("ENOSPC", "EIO", "EINTR", "EMFILE")),
    Fault("open", "EMFILE", lasting=True),
    *(Fault("mmap", each) for each in ("ENOMEM", "EIO")),
    *(Fault("truncate", each) for each in ("ENOSPC", "EIO", "EINTR")),
)


def built() -> Path:
    """The compiled shim; compiled once for each version of its source."""
    name = f"redask-fault-shim-{sha256(_SOURCE.read_bytes()).hexdigest()[:16]}.so"
    folder = Path(tempfile.gettempdir())
    made = folder / name
    if not made.exists():
        draft = folder / f"{name}.{os.getpid()}"
        command = ["cc", "-O1", "-shared", "-fPIC", "-Wall", "-o", str(draft), str(_SOURCE)]
        subprocess.run([*command, "-ldl"], check=True)
        os.replace(draft, made)
    return made


def preloaded(environment: dict[str, str]) -> dict[str, str]:
    """An environment for a process with the shim in it."""
    return {**environment, "LD_PRELOAD": str(built())}


def is_loaded() -> bool:
    """Whether this process has the shim."""
    return hasattr(ctypes.CDLL(None), "fault_arm")


def arm(root: Path, fault: Fault | None = None, number: int = 0) -> None:
    """Let the Nth call below a directory fail; without a fault the calls are counted."""
    library = ctypes.CDLL(None)
    kind = KINDS[fault.call] if fault else 0
    code = getattr(errno, fault.error) if fault else 0
    lasting = int(fault.lasting) if fault else 0
    library.fault_arm(os.fsencode(root), kind, ctypes.c_long(number), code, lasting)


def seen() -> dict[str, int]:
    """How many calls of each kind there were since `arm`."""
    counted = ctypes.CDLL(None).fault_seen
    counted.restype = ctypes.c_long
    return {name: counted(kind) for name, kind in KINDS.items()}


def struck() -> int:
    """How many calls failed since `arm`."""
    counted = ctypes.CDLL(None).fault_struck
    counted.restype = ctypes.c_long
    return int(counted())
