"""The answer cache: bounded, shared by processes, the oldest out first.

It keeps whole Answers by key; whether one may be used is for `rules.caching` to say. An entry is
a miss if it cannot be read (another version wrote it), fails its checksum, or is of another
timeline of the store (see `history`).
"""

import json
from hashlib import sha256
from typing import Any

from redask.core.ports import CachedAnswer
from redask.core.wire import json as canonical
from redask.stores import answer_encoding
from redask.stores.relational.sql_database import EVERY_TENANT, SqlDatabase


class RelationalAnswerCache:
    """The cache of one database directory."""

    def __init__(self, database: SqlDatabase, timeline: str) -> None:
        self._database = database
        self._timeline = timeline

    def get(self, key: str) -> CachedAnswer | None:
        """What is stored under a key, however old."""
        with self._database.reading(key) as connection:
            found = connection.execute(
                "SELECT key, answer, prompt_hash, stored_at, ttl FROM answers WHERE key = ?",
                (key,),
            ).fetchone()
        if found is None:
            return None
        try:
            kept = json.loads(found[1])
            if kept["timeline"] != self._timeline or not is_whole(*found):
                return None
            return CachedAnswer(answer_encoding.read(kept["answer"]), *found[2:])
        except (ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, entry: CachedAnswer, most: int) -> None:
        """Store an answer; of more than `most` entries, those stored first go."""
        # SQLite's integers end at 2^63-1 seconds: longer than that is for ever
        ttl = min(entry.ttl, (1 << 63) - 1)
        kept = {"timeline": self._timeline, "answer": answer_encoding.plain(entry.answer)}
        checksum = _checksum(kept, key, entry.prompt_hash, entry.stored_at, ttl)
        answer = canonical.text({**kept, "checksum": checksum})
        with self._database.writing(EVERY_TENANT) as connection:
            connection.execute("DELETE FROM answers WHERE key = ?", (key,))
            connection.execute(
                "INSERT INTO answers (key, answer, prompt_hash, stored_at, ttl)"
                " VALUES (?, ?, ?, ?, ?)",
                (key, answer, entry.prompt_hash, entry.stored_at, ttl),
            )
            connection.execute(
                "DELETE FROM answers WHERE place <= (SELECT place FROM answers"
                " ORDER BY place DESC LIMIT 1 OFFSET ?)",
                (most,),
            )

    def forget_damaged(self) -> int:
        """Forget what is not what was stored. → how many"""
        with self._database.reading(EVERY_TENANT) as connection:
            found = connection.execute(
                "SELECT place, key, answer, prompt_hash, stored_at, ttl FROM answers"
            ).fetchall()
        damaged = [(place,) for place, *entry in found if not _passes(*entry)]
        if damaged:
            with self._database.writing(EVERY_TENANT) as connection:
                connection.executemany("DELETE FROM answers WHERE place = ?", damaged)
        return len(damaged)


def _passes(*entry: Any) -> bool:
    try:
        return is_whole(*entry)
    except (ValueError, KeyError, TypeError):
        return False


def is_whole(key: str, answer: str, prompt_hash: str, stored_at: int, ttl: int) -> bool:
    """Whether an entry is what was stored; `ValueError`, `KeyError` or `TypeError` for others."""
    kept = json.loads(answer)
    given = kept.pop("checksum")
    return bool(_checksum(kept, key, prompt_hash, stored_at, ttl) == given)


def _checksum(kept: object, *columns: object) -> str:
    return sha256(canonical.encode([kept, *columns])).hexdigest()
