"""Who writes to a SQLite file: `writer_of(path)`, for the error of whoever waited in vain.

SQLite tells nobody. Linux lists the holders of locks in `/proc/locks`; the write lock of a database
in WAL mode is a byte of its `-shm` file. Looking takes no lock and opens no file of the database:
closing one would drop SQLite's own locks of this process. Where there is no such list, or a
container hides the process, it is "another process".
"""

import os
from pathlib import Path

_LOCKS = Path("/proc/locks")
_WRITE_BYTE = 120  # WAL_WRITE_LOCK of SQLite's WAL-index format
_UNKNOWN = "another process"


def writer_of(path: Path) -> str:
    """The process that holds the write lock of a database, as one names it to people."""
    try:
        status = os.stat(path.with_name(f"{path.name}-shm"))
        listed = _LOCKS.read_text()
    except OSError:
        return _UNKNOWN
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    for line in listed.splitlines():
        words = [word for word in line.split()[1:] if word != "->"]
        match words:
            case ["POSIX", _, "WRITE", pid, file, first, last] if (
                file == f"{device}:{status.st_ino}"
                and int(first) <= _WRITE_BYTE
                and (last == "EOF" or int(last) >= _WRITE_BYTE)
                and pid.isdecimal()
                and pid != "0"
            ):
                mine = int(pid) == os.getpid()
                return f"this process ({pid})" if mine else f"process {pid}"
    return _UNKNOWN
