"""Lists the files to read: `find` the files at a path, sorted by name.

    a path to a file            read; a problem if there is no reader for its suffix
    a path to a folder          every file in it that has a reader, recursively; hidden files and
                                folders (.git) and those to avoid are skipped, others listed
    a symlink to a file         read as its target, if that is inside of the folder
    a symlink to a folder       followed after everything else, and each folder once; likewise
    … out of the folder         a problem, unless they are to be followed: whoever may write into
                                the folder would choose what else is read
    … to a folder above it      a problem: a loop
    what cannot be listed       a problem; files below it count as unknown, not as deleted

Only names and sizes are read here. The order is by name, never the file system's.
"""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from redask.core.model import FileProblem
from redask.ingest.records import FoundFile, ReaderRow

LEADS_OUT = "is a symlink out of the folder: --follow-symlinks reads those, too"
ReaderFor = Callable[[str], ReaderRow | None]


@dataclass(slots=True)
class FileList:
    """The files at one requested path."""

    root: str
    files: list[FoundFile] = field(default_factory=list)
    problems: list[FileProblem] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    folder: bool = True


def find(
    path: str,
    collection: str | None,
    reader_for: ReaderFor,
    avoid: frozenset[str] = frozenset(),
    *,
    follow: bool = False,
) -> FileList:
    """The files at a path; `avoid` are real paths of folders to skip.

    With `follow`, symlinks in a folder may lead out of it.
    """
    absolute = os.path.abspath(path)
    try:
        absolute.encode()
        status = os.stat(absolute)
    except (OSError, ValueError) as error:
        problem = FileProblem(_printable(path), _reason(error))
        return FileList(absolute, problems=[problem], folder=False)
    if stat.S_ISDIR(status.st_mode):
        inside = None if follow else os.path.realpath(absolute)
        return _Walk(absolute, collection, reader_for, avoid, inside).run()
    listed = FileList(os.path.dirname(absolute), folder=False)
    row = reader_for(absolute)
    if not stat.S_ISREG(status.st_mode):
        listed.problems.append(FileProblem(absolute, "is neither a file nor a folder"))
    elif row is None:
        suffix = os.path.splitext(absolute)[1] or "without an ending"
        listed.problems.append(FileProblem(absolute, f"no reader is for such files ({suffix})"))
    else:
        name = os.path.basename(absolute)
        listed.files.append(
            FoundFile(absolute, listed.root, name, collection, True, row, status.st_size)
        )
    return listed


class _Walk:
    """The walk of one folder, top down."""

    def __init__(
        self,
        root: str,
        collection: str | None,
        reader_for: ReaderFor,
        avoid: frozenset[str],
        inside: str | None,
    ) -> None:
        self._inside = inside  # the folder that no symlink leads out of; None: they may
        self._collection = collection
        self._reader_for = reader_for
        self._avoid = avoid
        self._visited: set[str] = set()
        self._symlinks: list[str] = []
        self._list = FileList(root)

    def run(self) -> FileList:
        """All files of the folder, and those of folders it has symlinks to."""
        self._enter(self._list.root)
        while self._symlinks:
            self._follow(self._symlinks.pop(0))
        self._list.files.sort(key=lambda file: file.path)
        return self._list

    def _follow(self, link: str) -> None:
        target = os.path.realpath(link)
        if f"{os.path.realpath(os.path.dirname(link))}/".startswith(f"{target}/"):
            self._add_problem(link, "is a link back to a folder above it")
        elif target not in self._visited:
            self._enter(link)

    def _enter(self, top: str) -> None:
        stack = [top]
        while stack:
            folder = stack.pop()
            real = os.path.realpath(folder)
            if real in self._avoid:
                continue
            self._visited.add(real)
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError as error:
                self._add_problem(folder, _reason(error))
                continue
            stack += reversed([entry.path for entry in self._subfolders(entries)])

    def _subfolders(self, entries: list["os.DirEntry[str]"]) -> Iterator["os.DirEntry[str]"]:
        """Add files and symlinks to the lists; yield the folders to enter."""
        for entry in entries:
            if entry.name.startswith("."):
                continue
            try:
                if entry.is_symlink() and self._leads_out(entry):
                    self._add_problem(entry.path, LEADS_OUT)
                elif entry.is_dir(follow_symlinks=False):
                    yield entry
                elif entry.is_dir():
                    self._symlinks.append(entry.path)
                else:
                    self._add_file(entry)
            except (OSError, ValueError) as error:
                self._add_problem(entry.path, _reason(error))

    def _leads_out(self, entry: "os.DirEntry[str]") -> bool:
        """Whether a symlink leads out of the folder; one without a reader is no matter."""
        if self._inside is None or not (entry.is_dir() or self._reader_for(entry.path)):
            return False
        return not f"{os.path.realpath(entry.path)}/".startswith(f"{self._inside.rstrip('/')}/")

    def _add_file(self, entry: "os.DirEntry[str]") -> None:
        row = self._reader_for(entry.path)
        if row is None:
            self._list.ignored.append(_printable(entry.path))
            return
        entry.path.encode()
        status = entry.stat()
        if not stat.S_ISREG(status.st_mode):
            self._add_problem(entry.path, "is neither a file nor a folder")
            return
        root = self._list.root
        name = os.path.relpath(entry.path, root).replace(os.sep, "/")
        self._list.files.append(
            FoundFile(entry.path, root, name, self._collection, False, row, status.st_size)
        )

    def _add_problem(self, path: str, reason: str) -> None:
        self._list.problems.append(FileProblem(_printable(path), reason))


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror or error}"
    return "has a name that is not UTF-8"


def _printable(path: str) -> str:
    """A path as valid UTF-8: bytes of its name that are not are escaped."""
    return path.encode("utf-8", "backslashreplace").decode()
