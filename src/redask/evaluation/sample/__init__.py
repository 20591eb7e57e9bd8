"""A small company to try things on: tables with foreign keys, documents, people, settings.

Nordlicht Kaffee roasts coffee in Hamburg. It was made up for redask, and `load` puts it into
any database: rows, a link for every foreign key, a document chunk for every section, nodes
and their edges, key-values.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from redask.api.sync import OpenDatabase
from redask.core.model import Caller, Kind, Urn
from redask.core.rules import urn

LINKS = "links"  # the collection that every link is in
_HEADING = re.compile(r"^(#+) +(.*)$", re.MULTILINE)


def load(db: OpenDatabase) -> int:
    """Put the company into a database. → how many entities there are."""
    written = 0
    for collection, kind, rows in _collections():
        written += len(db.put(collection, rows, kind=kind))
    for source, label, target in _links():
        db.link(source, label, target)
        written += 1
    return written


def is_alone(db: OpenDatabase) -> bool:
    """Whether a database holds nothing but the company, or a part of it; for its owner."""
    held = db.preview_policy(role=Caller().role)["collections"]
    counts = {each["collection"]: each["rows_in_all"] for each in held}
    if counts.pop(LINKS, 0) > len(list(_links())):
        return False
    for collection, kind, rows in _collections():
        for row in rows:
            payload = db.get(urn.encode(Urn(Kind(kind), collection, str(row["id"]))))
            if payload is not None:
                counts[collection] -= json.loads(payload) == row
    return not any(counts.values())


def _collections() -> Iterator[tuple[str, str, list[dict[str, object]]]]:
    """Every collection but the links: its name, its kind and its rows."""
    for table, rows in _company()["tables"].items():
        yield table, "row", rows
    yield "people", "node", _company()["nodes"]
    yield "settings", "kv", _company()["values"]
    documents = sorted((files(__name__) / "documents").iterdir(), key=lambda entry: entry.name)
    texts = ((file.name, file.read_text(encoding="utf-8")) for file in documents)
    yield "handbook", "document", [chunk for text in texts for chunk in sections(*text)]


def _links() -> Iterator[tuple[str, str, str]]:
    """A link for every foreign key, and those between people: source, label, target."""
    company = _company()
    for column, target in company["references"].items():
        table, _, name = column.partition(".")
        for row in company["tables"][table]:
            source = urn.encode(Urn(Kind.ROW, table, str(row["id"])))
            target_urn = urn.encode(Urn(Kind.ROW, target, str(row[name])))
            yield source, name.removesuffix("_id"), target_urn
    for source, label, target in company["edges"]:
        yield f"urn:reddb:{source}", label, f"urn:reddb:{target}"


@cache
def _company() -> Any:
    return json.loads((files(__name__) / "company.json").read_text(encoding="utf-8"))


def sections(path: str, text: str) -> list[dict[str, object]]:
    """A Markdown text as one chunk for each section that says something."""
    headings = list(_HEADING.finditer(text))
    title = headings[0][2]
    chunks: list[dict[str, object]] = []
    for number, heading in enumerate(headings):
        following = headings[number + 1].start() if number + 1 < len(headings) else len(text)
        body = " ".join(text[heading.end() : following].split())
        if body:
            name = f"{title} – {heading[2]}"
            chunks.append({"id": f"{path}:{number}", "title": name, "path": path, "text": body})
    return chunks
