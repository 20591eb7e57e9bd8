"""psycopg's errors as ours: `translated(place)`; a sentence says what to do.

A connection that breaks while COMMIT is under way leaves it open whether it was committed: the
call fails, and what it wrote may be there. Of an audit row that means: no answer without a row.

The place is shown without its password to who opens a database. Who is served by it learns neither
host nor port: there the place is `SERVED`, and what libpq says goes to the log alone. Messages of
PostgreSQL about values can hold the values, so those that can are not told.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from redask.core.errors import BadAsk, StoreFailed

SERVED = "the PostgreSQL database"
_log = logging.getLogger("redask.postgres")
_SENTENCES = {
    "57014": "a statement was cancelled, or took too long: nothing of it was written to {place}",
    "55P03": "{place} was not free in time: somebody else writes to it; try again",
    "40P01": "{place} was not free: two transactions waited for each other; try again",
    "40001": "{place} was changed by somebody else meanwhile: try again",
    "53100": "the disk of {place} is full: nothing of this was written",
    "53300": "{place} takes no more connections: raise max_connections, or have fewer processes",
    "25006": "{place} cannot be written: it is a standby, or read-only",
    "28P01": "{place} refuses the password",
    "28000": "{place} refuses this role",
    "3D000": "there is no database {place}: make it with createdb",
    "42501": "the role at {place} may not do this: see docs/postgresql.md for the rights it needs",
    "3F000": "there is no schema redask in {place} any more",
    "42P01": "a table of redask is missing in {place}: restore it from a back-up",
    "XX001": "a table of redask in {place} is damaged: restore it from a back-up",
    "XX002": "an index of redask in {place} is damaged: run REINDEX SCHEMA redask",
}
_TOO_LONG = "54000"
_TOLD = ("08", "28", "3D", "3F", "42", "53", "55", "57", "58", "XX")  # classes without values


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Turn what psycopg raises inside into `StoreFailed`, or `BadAsk` for what cannot be kept."""
    try:
        yield
    except psycopg.Error as error:
        raise _ours(place, error) from error
    except UnicodeEncodeError:
        raise BadAsk("a name holds a lone surrogate, which has no UTF-8") from None


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection is gone, and another may do."""
    return error.sqlstate is None or error.sqlstate.startswith(("08", "57P"))


def _ours(place: str, error: psycopg.Error) -> StoreFailed | BadAsk:
    state = error.sqlstate or ""
    if isinstance(error, psycopg.DataError) and "NUL" in str(error):
        return BadAsk("a name holds a NUL character, which PostgreSQL cannot keep")
    if isinstance(error, errors.CharacterNotInRepertoire | errors.UntranslatableCharacter):
        return BadAsk(
            "a text holds a character that the database cannot keep: its encoding must be UTF8"
        )
    if state == _TOO_LONG:
        return BadAsk("a name or path is too long for an index of PostgreSQL")
    if isinstance(error, psycopg.OperationalError) and is_lost(error):
        sentence = "{place} cannot be reached, or the connection to it was lost"
    else:
        sentence = _SENTENCES.get(state, "{place} failed")
    told = state if state and not state.startswith(_TOLD) else str(error).strip()
    if place == SERVED:
        _log.warning("%s: %s", sentence.format(place=place), told)
        told = state
    return StoreFailed(sentence.format(place=place), detail=told)
