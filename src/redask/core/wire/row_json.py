"""Rows of a SELECT as the JSON that transports send: `rows_json`; pure.

The bytes are those of canonical JSON of a list of objects, a value as `json_cells` has it, the
second column `name` as `name_2` (`distinct`). With `browsers`, integers that JavaScript would round
are texts (`for_browsers`). A result becomes text row by row, in the process that made it: nobody
who only hands it on holds its values as objects. It comes in pieces, at least one, of PIECE_BYTES
and the row that goes beyond: whoever hands them on copies none of it whole. Beyond `most` bytes it
is `LimitExceeded`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from redask.core.errors import LimitExceeded
from redask.core.sql.json_cells import json_value
from redask.core.wire import json as canonical

MAX_SAFE = 2**53 - 1
MAX_BYTES = 64 * 1024 * 1024
PIECE_BYTES = 256 * 1024


def rows_json(
    names: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    browsers: bool,
    most: int = MAX_BYTES,
) -> Iterator[bytes]:
    """The rows as a JSON list of objects, in pieces."""
    order = sorted(zip(distinct(names), range(len(names)), strict=True))
    keys = [(f"{canonical.text(name)}:", at) for name, at in order]
    cell = _browser_cell if browsers else _cell
    piece, size, joint = bytearray(b"["), 1, b""
    for row in rows:
        written = _row(keys, row, cell)
        size += len(written) + 1
        if size > most:
            message = f"the result is larger than {most / 2**20:g} MiB as JSON"
            raise LimitExceeded("result_bytes", message, detail="result_bytes")
        piece += joint + written
        joint = b","
        if len(piece) >= PIECE_BYTES:
            yield bytes(piece)
            piece = bytearray()
    yield bytes(piece) + b"]"


def _row(
    keys: list[tuple[str, int]], row: Sequence[object], cell: Callable[[object], str]
) -> bytes:
    return f"{{{','.join([key + cell(row[at]) for key, at in keys])}}}".encode()


def _cell(value: object) -> str:
    if value is None:
        return "null"
    return canonical.text(value if type(value) is str else json_value(value))


def _browser_cell(value: object) -> str:
    if type(value) is int:
        return f'"{value}"' if abs(value) > MAX_SAFE else str(value)
    return _cell(for_browsers(value) if isinstance(value, list | tuple | dict) else value)


def for_browsers(value: object) -> object:
    """The same value with integers that JavaScript would round as texts."""
    if isinstance(value, dict):
        return {key: for_browsers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [for_browsers(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_SAFE:
        return str(value)
    return value


def distinct(names: Sequence[str]) -> list[str]:
    """The names, the second `name` as `name_2`, where that is free."""
    taken, found = set(names), []
    seen: set[str] = set()
    for name in names:
        number, other = 2, name
        while other in seen or (other != name and other in taken):
            other, number = f"{name}_{number}", number + 1
        seen.add(other)
        found.append(other)
    return found
