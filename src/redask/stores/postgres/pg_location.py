"""Where a database on PostgreSQL is, and where this machine keeps what is derived of it.

    postgresql://user:password@host:port/database?sslmode=…    as libpq reads it

The search index, the tables of SELECT, `redask.toml` and `synonyms.toml` are in a directory of this
machine: `REDASK_LOCAL_DIRECTORY`, else `redask` in the user's cache directory, and in it one for
each URL, named by a hash of the URL without its password. It can be deleted: all but the two
files is made again. A password is in no name, message or file; `shown` tells host and database.

A URL is taken apart as libpq does it, and not as the Web does: `#` and `?` may stand in a password.
One in which a part of a password would be taken for a host or a database is refused.
"""

import os
import re
import stat
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urlencode

from redask.core.errors import Misconfigured
from redask.index import private_files

DIRECTORY, READ_URL = "REDASK_LOCAL_DIRECTORY", "REDASK_READ_URL"
_SECRET = {"password", "sslpassword", "sslkey", "passfile", "oauth_client_secret"}
_DIGITS = 16
UNREADABLE = (
    "the URL of the database cannot be read: it is postgresql://user:password@host:port/database,"
    " and in each part of it, in a password, too, %25 stands for %, %40 for @, %2F for / and"
    " %20 for a space"
)
_HOST = r"(?:\[[^\]/?@]*\]|[^:/?,@\[]*)(?::[0-9]*)?"
_URL = re.compile(
    rf"postgresql://(?:(?P<user>[^:@/]*)(?::[^@/]*)?@)?(?P<hosts>{_HOST}(?:,{_HOST})*)"
    r"(?P<path>/[^?@]*)?(?:\?(?P<query>.*))?",
    re.DOTALL,
)
_WIDE = 0o077


def url_of(location: str) -> str:
    """The location as libpq reads it; a `Path` makes one slash of two."""
    return re.sub(r"^[A-Za-z]+:/+", lambda found: _slashes(found[0]), location)


def _slashes(scheme: str) -> str:
    return "postgresql:///" if scheme.endswith("///") else "postgresql://"


def without_secrets(location: str) -> str:
    """The URL without a password, its options in order."""
    parts = _split(location)
    options = sorted(each for each in parts.options.items() if each[0] not in _SECRET)
    query = f"?{urlencode(options)}" if options else ""
    return f"postgresql://{parts.user}{parts.hosts}{parts.path}{query}"


def shown(location: str) -> str:
    """Host and database, for messages."""
    parts = _split(location)
    host = parts.hosts or parts.options.get("host", "")
    name = unquote(parts.path.lstrip("/")) or parts.options.get("dbname", "")
    text = f"the PostgreSQL database {quote(name, safe=' /-._') or '(default)'}"
    return f"{text} at {quote(unquote(host), safe='/:,.-[]_')}" if host else text


def local_directory(location: str, environment: Mapping[str, str] | None = None) -> Path:
    """The directory of this machine for a location; nothing is made."""
    known = os.environ if environment is None else environment
    cache = known.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    root = Path(known.get(DIRECTORY) or Path(cache) / "redask")
    return root / sha256(without_secrets(location).encode()).hexdigest()[:_DIGITS]


def read_url(environment: Mapping[str, str] | None = None) -> tuple[str, str] | None:
    """The replica to read from, as libpq reads it and for messages; None: there is none."""
    given = (os.environ if environment is None else environment).get(READ_URL, "").strip()
    if not given:
        return None
    if not re.match(r"postgres(ql)?:/", given):
        raise Misconfigured(f"{READ_URL} is no postgresql:// URL", detail=READ_URL)
    return url_of(given), shown(given)


def make_local_directory(location: str) -> Path:
    """The same, made if it is missing, for nobody else to read."""
    directory = local_directory(location)
    try:
        private_files.make_directory(directory)
    except OSError as error:
        raise Misconfigured(
            f"the local directory {directory} cannot be made: {error.strerror}; choose another by "
            f"{DIRECTORY}",
            detail=DIRECTORY,
        ) from None
    return directory


def check_modes(location: str) -> None:
    """Raise `Misconfigured` if other users of the machine may read what is kept here."""
    directory = local_directory(location)
    if os.name == "nt" or not directory.is_dir():
        return
    status = os.stat(directory)
    mode, user = stat.S_IMODE(status.st_mode), os.geteuid()
    if mode & _WIDE or user not in (0, status.st_uid):
        raise Misconfigured(
            f"{directory} is not this user's alone (mode {mode:04o}): it should be 0700",
            detail="files.modes",
        )


class _Parts(NamedTuple):
    """A URL without the password before its host; `user` has its @, `path` its slash."""

    user: str
    hosts: str
    path: str
    options: dict[str, str]


def _split(location: str) -> _Parts:
    found = _URL.fullmatch(url_of(location))
    if found is None:
        raise Misconfigured(UNREADABLE, detail="location")
    pairs = [each.partition("=") for each in (found["query"] or "").split("&") if each]
    options = {unquote(name): unquote(value) for name, _, value in pairs}
    user = "" if found["user"] is None else f"{found['user']}@"
    return _Parts(user, found["hosts"], found["path"] or "", options)
