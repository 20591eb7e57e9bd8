"""The answer cache in `calls.sqlite`: bounded, shared by processes, the oldest out first.

It keeps whole Answers by key; whether one may be used is for `rules.caching` to say. An
entry that cannot be read (another version wrote it) is a miss.
"""

import json
from typing import Any

from redask.core.model import Answer, Footnote, Mode, Notice, Source, Validation
from redask.core.ports import CachedAnswer
from redask.core.wire import json as canonical
from redask.stores.sqlite.connection import Database


class SqliteAnswerCache:
    """The cache of one database directory."""

    def __init__(self, database: Database, max_entries: int) -> None:
        self._database = database
        self._max_entries = max_entries

    def get(self, key: str) -> CachedAnswer | None:
        """What is stored under a key, however old."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT answer, prompt_hash, stored_at, ttl FROM answers WHERE key = ?", (key,)
            ).fetchone()
        if found is None:
            return None
        try:
            return CachedAnswer(_read(json.loads(found[0])), found[1], found[2], found[3])
        except (ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, entry: CachedAnswer) -> None:
        """Store an answer; the oldest entries go when there are too many."""
        # SQLite's integers end at 2^63-1 seconds: longer than that is for ever
        ttl = min(entry.ttl, (1 << 63) - 1)
        answer = canonical.text(_written(entry.answer))
        with self._database.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO answers (key, answer, prompt_hash, stored_at, ttl)"
                " VALUES (?, ?, ?, ?, ?)",
                (key, answer, entry.prompt_hash, entry.stored_at, ttl),
            )
            connection.execute(
                "DELETE FROM answers WHERE place <= (SELECT place FROM answers"
                " ORDER BY place DESC LIMIT 1 OFFSET ?)",
                (self._max_entries,),
            )


def _written(answer: Answer) -> dict[str, object]:
    return {
        "answer": answer.answer,
        "citations": [[note.marker, note.urn] for note in answer.citations],
        "sources": [[source.urn, source.payload] for source in answer.sources_flat],
        "ok": answer.validation.ok,
        "errors": [[notice.kind, notice.detail] for notice in answer.validation.errors],
        "warnings": [[notice.kind, notice.detail] for notice in answer.validation.warnings],
        "provider": answer.provider,
        "model": answer.model,
        "mode": answer.mode.value,
    }


def _read(kept: dict[str, Any]) -> Answer:
    return Answer(
        answer=kept["answer"],
        citations=tuple(Footnote(*each) for each in kept["citations"]),
        sources_flat=tuple(Source(*each) for each in kept["sources"]),
        validation=Validation(
            kept["ok"],
            tuple(Notice(*each) for each in kept["errors"]),
            tuple(Notice(*each) for each in kept["warnings"]),
        ),
        provider=kept["provider"],
        model=kept["model"],
        mode=Mode(kept["mode"]),
    )
