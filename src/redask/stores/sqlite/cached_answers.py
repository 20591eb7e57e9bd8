"""The answer cache in `calls.sqlite`: bounded, shared by processes, the oldest out first.

It keeps whole Answers by key; whether one may be used is for `rules.caching` to say. An
entry that cannot be read (another version wrote it) is a miss.
"""

import json

from redask.core.ports import CachedAnswer
from redask.core.wire import json as canonical
from redask.stores import answer_encoding
from redask.stores.sqlite.connection import Database


class SqliteAnswerCache:
    """The cache of one database directory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: str) -> CachedAnswer | None:
        """What is stored under a key, however old."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT answer, prompt_hash, stored_at, ttl FROM answers WHERE key = ?", (key,)
            ).fetchone()
        if found is None:
            return None
        try:
            return CachedAnswer(answer_encoding.read(json.loads(found[0])), *found[1:])
        except (ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, entry: CachedAnswer, most: int) -> None:
        """Store an answer; of more than `most` entries, those stored first go."""
        # SQLite's integers end at 2^63-1 seconds: longer than that is for ever
        ttl = min(entry.ttl, (1 << 63) - 1)
        answer = canonical.text(answer_encoding.plain(entry.answer))
        with self._database.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO answers (key, answer, prompt_hash, stored_at, ttl)"
                " VALUES (?, ?, ?, ?, ?)",
                (key, answer, entry.prompt_hash, entry.stored_at, ttl),
            )
            connection.execute(
                "DELETE FROM answers WHERE place <= (SELECT place FROM answers"
                " ORDER BY place DESC LIMIT 1 OFFSET ?)",
                (most,),
            )
