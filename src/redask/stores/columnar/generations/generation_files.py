"""The file of a generation says in its name what it must be: `name_for`, and `verify_generation`.

DuckDB compares each block with a checksum of its own when it reads it; `verify_generation` compares
the whole file, for `doctor --deep`. One that is not what was written is not used again.
"""

import secrets
from hashlib import sha256
from pathlib import Path
from zlib import crc32

ENDING = ".duckdb"
CURRENT = "current"
_PART = 1 << 20


def folder_of(directory: Path, tenant: str) -> Path:
    """Where a tenant's generations are."""
    return directory / sha256(tenant.encode()).hexdigest()[:32]


def name_for(path: Path) -> str:
    """A new name for a file that is complete."""
    return f"{secrets.token_hex(8)}-{_crc(path):08x}{ENDING}"


def verify_generation(folder: Path) -> str:
    """What is wrong with the present generation; it is put aside. Empty if nothing is."""
    current = folder / CURRENT
    try:
        name = current.read_text(encoding="ascii", errors="replace")
        expected = name.removesuffix(ENDING).partition("-")[2]
        if not expected or f"{_crc(folder / name):08x}" == expected:
            return ""
    except FileNotFoundError:
        if not current.exists():
            return ""
    except (OSError, ValueError):
        pass  # a name that cannot be one
    current.unlink(missing_ok=True)
    return "their file fails its checksum"


def _crc(path: Path) -> int:
    crc = 0
    with open(path, "rb") as file:
        while part := file.read(_PART):
            crc = crc32(part, crc)
    return crc
