"""User rows to entities, all or nothing: `entities(collection, rows)`; `entity`; `link`.

A row is a mapping with an `id` (an integer or a non-empty text) and any further JSON values.
Its payload is the whole row as canonical JSON, its URN `urn:reddb:<kind>:<collection>/<id>`.
Where no row of a batch has an id, it is the first 16 hexadecimal digits of the payload's SHA-256:
the same row put twice is one row. Two equal ones in one batch are refused, for one would be lost.
Nothing is written here, and nothing is dropped or repaired: every bad row of a batch is
reported at once, by its position (from 0) and reason, in one `BadRows`. `entity` is for
readers of files, whose addresses are not part of the content.

    what                    bound
    collection name         1 to 256 characters, no control characters; `red_…` is ours
    id                      1 to 1,024 characters; a boolean is no integer; `1` and `"1"` are
                            one URN, so in one batch they are duplicates
    column name             1 to 256 characters
    columns                 1,500 a row, and a collection (so that it fits a table anywhere)
    payload                 8 MiB of UTF-8
    text, keys included     no NUL (PostgreSQL cannot carry it), no lone surrogate
    numbers                 no NaN, no infinity, integers up to 4,300 digits
    nesting                 256 levels
    vector                  finite 32-bit floats, as many as the first one of the batch has

An edge is made by `link` alone: its URN comes from its ends and label, so linking twice is
linking once; and from the database's own key, so that nobody finds out what an id stands for by
trying. Whether the ends exist is for the store to say.
"""

import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from redask.core.errors import BadAsk, BadRows, NotCanonical, RowProblem
from redask.core.model import Kind, Urn
from redask.core.ports import Entity
from redask.core.rules import urn as urns
from redask.core.text import lower, name_fault
from redask.core.wire.json import text
from redask.stores import vector_encoding
from redask.stores.canonical_urns import canonical
from redask.stores.payloads import MAX_PAYLOAD_BYTES, holds_nul

MAX_COLUMNS = 1500
MAX_ID_CHARACTERS = 1024
MAX_COLUMN_NAME = 256
LINKS = "links"

_MAX_DIGITS = 4300
CONTENT_ID_DIGITS = 16  # of an id made of the content


def collection_fault(name: object) -> str | None:
    """What is wrong with a collection's name, in words that end "the name …", or None."""
    if not isinstance(name, str):
        return f"is {type(name).__name__}, not text"
    if lower(name[:4]) == "red_":
        return "is reserved: red_ is for redask's own collections"
    return name_fault(name)


def entities(
    collection: str,
    rows: Iterable[Mapping[str, object]],
    *,
    kind: Kind = Kind.ROW,
    vectors: Sequence[Sequence[float] | None] | None = None,
) -> list[Entity]:
    """The rows as entities, in their order; `vectors` belong to them one by one, or are None."""
    fault = collection_fault(collection)
    if fault:
        raise BadAsk(f"the collection name {str(collection)[:300]!a} {fault}", detail="collection")
    if kind is Kind.EDGE:
        raise BadAsk("an edge is made by linking two entities, not from a row", detail="kind")
    batch = list(rows)
    if vectors is not None and len(vectors) != len(batch):
        raise BadAsk(f"{len(batch)} rows came with {len(vectors)} vectors", detail="vectors")
    prefix = urns.encode(Urn(kind, collection, "x")).removesuffix("x")
    made: list[Entity] = []
    problems: list[RowProblem] = []
    positions: dict[str, int] = {}
    dimensions = 0
    with_ids = any(isinstance(row, Mapping) and "id" in row for row in batch)
    for position, row in enumerate(batch):
        vector = None if vectors is None else vectors[position]
        try:
            entity = _entity(prefix, collection, kind, row, vector, with_ids=with_ids)
            first = positions.setdefault(entity.urn, position)
            if first != position and with_ids:
                raise _Bad(f"its id is that of row {first} already")
            if first != position:
                raise _Bad(f"it equals row {first}, and there is no id to tell them apart")
            if entity.vector is not None:
                dimensions = dimensions or len(entity.vector)
                if len(entity.vector) != dimensions:
                    raise _Bad(f"its vector has {len(entity.vector)} dimensions, not {dimensions}")
        except _Bad as bad:
            problems.append(RowProblem(position, str(bad)))
        else:
            made.append(entity)
    if problems:
        raise BadRows(collection, problems, len(batch))
    return made


def entity(address: Urn, content: Mapping[str, object]) -> Entity:
    """One entity whose address is not part of its content: a chunk of a document, a table's row.

    `BadAsk` says what is wrong with it, in words that follow its name.
    """
    fault = collection_fault(address.collection)
    if fault:
        raise BadAsk(f"the collection name {address.collection[:300]!a} {fault}")
    try:
        _id({"id": address.id})
        payload = _payload(content)
    except _Bad as bad:
        raise BadAsk(str(bad)) from None
    return Entity(urns.encode(address), payload)


def link(source: str, label: str, target: str, key: bytes = b"") -> Entity:
    """The edge from one entity to another; the same three texts give the same edge.

    Without a key, in every database.
    """
    fault = name_fault(label) if isinstance(label, str) else "is not text"
    if fault:
        raise BadAsk(f"the label of a link {fault}", detail="label")
    source, target = canonical(source), canonical(target)
    told = "\x1f".join((source, label, target)).encode()
    digest = hmac.new(key, told, sha256).hexdigest() if key else sha256(told).hexdigest()
    return Entity(
        urns.encode(Urn(Kind.EDGE, LINKS, digest[:16])),
        text({"from": source, "label": label, "to": target}),
        source=source,
        target=target,
    )


class _Bad(Exception):
    """Why a row is bad; caught above and never seen outside."""


def _entity(
    prefix: str,
    collection: str,
    kind: Kind,
    row: object,
    vector: Sequence[float] | None,
    *,
    with_ids: bool,
) -> Entity:
    if not isinstance(row, Mapping):
        raise _Bad(f"it is {type(row).__name__}, not a mapping of columns to values")
    if not row:
        raise _Bad("it is empty")
    name = _id(row) if with_ids else None
    if vector is not None:
        fault = vector_encoding.fault(vector)
        if fault:
            raise _Bad(f"its vector {fault}")
    elif kind is Kind.VECTOR:
        raise _Bad("it has no vector")
    if name is None:
        payload = _payload(row)
        urn = f"{prefix}{sha256(payload.encode()).hexdigest()[:CONTENT_ID_DIGITS]}"
    else:
        plain = name.isalnum() and name.isascii()
        urn = f"{prefix}{name}" if plain else _urn(kind, collection, name)
        payload = _payload(row)
    return Entity(urn, payload, vector=None if vector is None else tuple(vector))


def _id(row: Mapping[str, object]) -> str:
    if "id" not in row:
        raise _Bad("it has no id, though another row has one")
    value = row["id"]
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise _Bad(f"its id is {type(value).__name__}, not an integer or a text")
    if isinstance(value, int):
        if abs(value) >= 10**MAX_ID_CHARACTERS:
            raise _Bad(f"its id has more than {MAX_ID_CHARACTERS} digits")
        return str(value)
    if not 1 <= len(value) <= MAX_ID_CHARACTERS:
        raise _Bad(f"its id has {len(value)} characters, not 1 to {MAX_ID_CHARACTERS}")
    if "\0" in value:
        raise _Bad("its id holds a NUL character")
    return str(value)


def _urn(kind: Kind, collection: str, name: str) -> str:
    try:
        return urns.encode(Urn(kind, collection, name))
    except BadAsk as error:
        raise _Bad(f"its id cannot be part of a URN: {error.message}") from None


def _payload(row: Mapping[str, object]) -> str:
    if len(row) > MAX_COLUMNS:
        raise _Bad(f"it has {len(row)} columns, more than {MAX_COLUMNS}")
    for name in row:
        if isinstance(name, str) and not 1 <= len(name) <= MAX_COLUMN_NAME:
            raise _Bad(f"a column name has {len(name)} characters, not 1 to {MAX_COLUMN_NAME}")
    try:
        payload = text(dict(row))
    except NotCanonical as error:
        where = f" at {error.detail}" if error.detail else ""
        raise _Bad(f"{error.message}{where}") from None
    size = len(payload) if payload.isascii() else len(payload.encode())
    if size > MAX_PAYLOAD_BYTES:
        raise _Bad(f"its payload is {size} bytes long, more than {MAX_PAYLOAD_BYTES}")
    if "\\u0000" in payload and holds_nul(dict(row)):
        raise _Bad("a text in it holds a NUL character")
    if size > _MAX_DIGITS:
        _check_integers(payload)
    return payload


def _check_integers(payload: str) -> None:
    """Refuse an integer that Python would later refuse to read back."""
    try:
        json.loads(payload)
    except ValueError:
        raise _Bad(f"an integer in it has more than {_MAX_DIGITS} digits") from None
