"""Who else may read a database's directory: `check_modes` refuses it, as PostgreSQL does.

    mode 0700 or 0750, files 0600 or 0640     fine: a group may be let in to make backups
    anything wider                            Misconfigured, with the command that mends it
    of another user                           Misconfigured, but for root, who reads it anyway
    no database yet, nothing else there       made 0700
    no database yet, among other files        as above: a directory of its own is better
    Windows                                   nothing is checked: access lists hold there

A file system that keeps no modes shows all of them wide: `files.modes = "any"`, in the operator's
own configuration, turns the check off.
"""

import os
import shlex
import stat
from pathlib import Path

from redask.core.errors import Misconfigured
from redask.index import private_files
from redask.stores.sqlite.calls_migrations import CALLS_FILE
from redask.stores.sqlite.store import FILE

_WIDE = 0o027  # writable by the group, or anything for all others
_CONFIGURATION = {"redask.toml", "synonyms.toml"}


def check_modes(location: str) -> None:
    """Raise `Misconfigured` if others may read or change what is there."""
    directory = Path(location)
    if os.name == "nt" or not directory.is_dir():
        return
    try:
        if not (directory / FILE).exists() and _is_ours(directory):
            os.chmod(directory, private_files.DIRECTORY)
        databases = [
            directory / f"{name}{log}" for name in (FILE, CALLS_FILE) for log in ("", "-wal")
        ]
        for path in (directory, *filter(Path.exists, databases)):
            _check(path, directory)
    except OSError as error:
        message = f"{_shown(directory)} cannot be looked at: {error.strerror}"
        raise Misconfigured(message, detail="files.modes") from None


def _is_ours(directory: Path) -> bool:
    """Whether it holds no file of anybody else, and is not somebody else's."""
    mine = os.stat(directory).st_uid == os.geteuid()
    return mine and {each.name for each in directory.iterdir()} <= _CONFIGURATION


def _check(path: Path, directory: Path) -> None:
    status = os.stat(path)
    if status.st_uid != os.geteuid() and os.geteuid() != 0:
        raise Misconfigured(
            f"{_shown(path)} belongs to another user: open the database as its owner, "
            "or copy it to a directory of your own",
            detail="files.modes",
        )
    mode = stat.S_IMODE(status.st_mode)
    if mode & _WIDE:
        raise Misconfigured(
            f"{_shown(path)} is open to other users of this machine (mode {mode:04o}): "
            f"run `chmod -R u=rwX,go= {_shown(directory)}`; it should be 0700, its files 0600",
            detail="files.modes",
        )


def _shown(path: Path) -> str:
    """A path as a shell reads it; what a terminal would obey is escaped."""
    text = str(path)
    if not text.isprintable():
        return "$'" + text.encode("unicode_escape").decode().replace("'", "\\'") + "'"
    return shlex.quote(text)
