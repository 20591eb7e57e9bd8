"""Sample data of a small company: tables with foreign keys, documents, people, settings.

Nordlicht Kaffee roasts coffee in Hamburg. It was made up for redask, and `load` puts it into
any database: rows, a link for every foreign key, a document chunk for every section, nodes
and their edges, key-values.
"""

import json
import re
from importlib.resources import files

from redask.api.sync import OpenDatabase
from redask.core.model import Kind, Urn
from redask.core.rules import urn

_HEADING = re.compile(r"^(#+) +(.*)$", re.MULTILINE)


def load(db: OpenDatabase) -> int:
    """Put the company into a database. → how many entities there are."""
    here = files(__name__)
    company = json.loads((here / "company.json").read_text(encoding="utf-8"))
    written = 0
    for table, rows in company["tables"].items():
        written += len(db.put(table, rows))
    written += len(db.put("people", company["nodes"], kind="node"))
    written += len(db.put("settings", company["values"], kind="kv"))
    for file in sorted((here / "documents").iterdir(), key=lambda entry: entry.name):
        chunks = sections(file.name, file.read_text(encoding="utf-8"))
        written += len(db.put("handbook", chunks, kind="document"))
    for column, target in company["references"].items():
        table, _, name = column.partition(".")
        for row in company["tables"][table]:
            source = urn.encode(Urn(Kind.ROW, table, str(row["id"])))
            target_urn = urn.encode(Urn(Kind.ROW, target, str(row[name])))
            db.link(source, name.removesuffix("_id"), target_urn)
            written += 1
    for source, label, target in company["edges"]:
        db.link(f"urn:reddb:{source}", label, f"urn:reddb:{target}")
        written += 1
    return written


def sections(path: str, text: str) -> list[dict[str, object]]:
    """A Markdown text as one chunk for each section that is not empty."""
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
