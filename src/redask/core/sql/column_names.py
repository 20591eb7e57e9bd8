"""Names that PostgreSQL can have: `sql_names` of the keys of a payload, or of collections.

PostgreSQL's names are 1 to 63 bytes, and differ by case. A key that is such a name is
its own name. Of any other key it is its first 54 bytes (whole characters), `_`, and
8 hexadecimal digits of its SHA-256. A name that is taken gets `_2`, or the next number that is
free: keys that are names of their own come first, then the others by code points.
"""

from collections.abc import Collection, Iterable
from hashlib import sha256

MAX_BYTES = 63
_KEPT = 54


def sql_names(keys: Iterable[str], taken: Collection[str] = ()) -> dict[str, str]:
    """A name for each key, unique beside those that are taken."""
    ordered = sorted(set(keys))
    names = {key: key for key in ordered if _is_name(key) and key not in taken}
    used = {*names, *taken}
    for key in ordered:
        if key in names:
            continue
        wanted = key if _is_name(key) else _shortened(key)
        name, number = wanted, 2
        while name in used:
            ending = f"_{number}"
            name, number = _cut(wanted, MAX_BYTES - len(ending)) + ending, number + 1
        names[key] = name
        used.add(name)
    return names


def _is_name(key: str) -> bool:
    return 0 < len(key.encode()) <= MAX_BYTES


def _shortened(key: str) -> str:
    return f"{_cut(key, _KEPT)}_{sha256(key.encode()).hexdigest()[:8]}"


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode(errors="ignore")
