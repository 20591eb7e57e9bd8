"""Which files there are: `find` the files of a path, in the order of their names.

    a file that was named       read, whatever it is called; no reader for it is a problem
    a folder                    every file in it that a reader is for, at any depth; hidden ones
                                (.git) and folders to avoid are passed over, others counted
    a link to a file            read as what it leads to
    a link to a folder          followed after everything else, and each folder once
    … to a folder above it      a problem: a loop
    what cannot be listed       a problem, and everything below it is taken for not seen

Only names and sizes are looked at here. Order is by name, never the file system's.
"""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from redask.core.model import FileProblem
from redask.ingest.records import FoundFile, ReaderRow

ReaderFor = Callable[[str], ReaderRow | None]


@dataclass(slots=True)
class FileList:
    """The files of one path that was asked for."""

    root: str
    files: list[FoundFile] = field(default_factory=list)
    problems: list[FileProblem] = field(default_factory=list)
    ignored: int = 0
    folder: bool = True


def find(
    path: str, choice: str | None, reader_for: ReaderFor, avoid: frozenset[str] = frozenset()
) -> FileList:
    """The files at a path; `avoid` are real paths of folders that are not entered."""
    place = os.path.abspath(path)
    try:
        place.encode()
        status = os.stat(place)
    except (OSError, ValueError) as error:
        return FileList(place, problems=[FileProblem(_shown(path), _reason(error))], folder=False)
    if stat.S_ISDIR(status.st_mode):
        return _Walk(place, choice, reader_for, avoid).everything()
    listed = FileList(os.path.dirname(place), folder=False)
    row = reader_for(place)
    if not stat.S_ISREG(status.st_mode):
        listed.problems.append(FileProblem(place, "is neither a file nor a folder"))
    elif row is None:
        suffix = os.path.splitext(place)[1] or "without an ending"
        listed.problems.append(FileProblem(place, f"no reader is for such files ({suffix})"))
    else:
        name = os.path.basename(place)
        listed.files.append(FoundFile(place, listed.root, name, choice, True, row, status.st_size))
    return listed


class _Walk:
    """One folder, from top to bottom."""

    def __init__(
        self, root: str, choice: str | None, reader_for: ReaderFor, avoid: frozenset[str]
    ) -> None:
        self._choice = choice
        self._reader_for = reader_for
        self._avoid = avoid
        self._entered: set[str] = set()
        self._links: list[str] = []
        self._list = FileList(root)

    def everything(self) -> FileList:
        """All files of the folder, then those behind links to other folders."""
        self._enter(self._list.root)
        while self._links:
            self._follow(self._links.pop(0))
        self._list.files.sort(key=lambda file: file.path)
        return self._list

    def _follow(self, link: str) -> None:
        target = os.path.realpath(link)
        if f"{os.path.realpath(os.path.dirname(link))}/".startswith(f"{target}/"):
            self._refuse(link, "is a link back to a folder above it")
        elif target not in self._entered:
            self._enter(link)

    def _enter(self, top: str) -> None:
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            real = os.path.realpath(folder)
            if real in self._avoid:
                continue
            self._entered.add(real)
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError as error:
                self._refuse(folder, _reason(error))
                continue
            waiting += reversed([entry.path for entry in self._sort_out(entries)])

    def _sort_out(self, entries: list["os.DirEntry[str]"]) -> Iterator["os.DirEntry[str]"]:
        """Keep files and links; give the folders to enter."""
        for entry in entries:
            if entry.name.startswith("."):
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    yield entry
                elif entry.is_dir():
                    self._links.append(entry.path)
                else:
                    self._keep(entry)
            except (OSError, ValueError) as error:
                self._refuse(entry.path, _reason(error))

    def _keep(self, entry: "os.DirEntry[str]") -> None:
        row = self._reader_for(entry.path)
        if row is None:
            self._list.ignored += 1
            return
        entry.path.encode()
        status = entry.stat()
        if not stat.S_ISREG(status.st_mode):
            self._refuse(entry.path, "is neither a file nor a folder")
            return
        root = self._list.root
        name = os.path.relpath(entry.path, root).replace(os.sep, "/")
        self._list.files.append(
            FoundFile(entry.path, root, name, self._choice, False, row, status.st_size)
        )

    def _refuse(self, path: str, reason: str) -> None:
        self._list.problems.append(FileProblem(_shown(path), reason))


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror or error}"
    return "has a name that is not UTF-8"


def _shown(path: str) -> str:
    """A path that can be printed and stored, whatever bytes its name has."""
    return path.encode("utf-8", "backslashreplace").decode()
