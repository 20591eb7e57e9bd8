"""Which tests of a driver's suite are left out, and why: the lists in `left_out/`.

A line is `kind<TAB>name<TAB>reason`; a name that ends in `*` stands for all that begin so. The
first line counts the tests that are left: those that read.

postgres    does not pass on a PostgreSQL that only reads; the reason is what it said (measured)
no-read     passes on a PostgreSQL that only reads, and is no read all the same (`refusal_reasons`)
refused     reads, and redask refuses it by name, as docs/sql.md says (`refusal_reasons`)
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

MEASURED = ("postgres",)
BY_REASON = ("no-read", "refused")
_COUNT = "# tests that read: "


@dataclass(frozen=True)
class LeftOut:
    """One line: what is left out, of which kind, and why."""

    kind: str
    name: str
    reason: str

    def holds(self, name: str) -> bool:
        """Whether it is about this test."""
        if self.name.endswith("*"):
            return name.startswith(self.name[:-1])
        return name == self.name


@dataclass(frozen=True)
class LeftOutList:
    """The tests of one suite that are left out, and how many are left."""

    reads: int
    lines: tuple[LeftOut, ...]

    def line(self, name: str, kinds: Iterable[str]) -> LeftOut | None:
        """The first line of these kinds that is about a test."""
        wanted = set(kinds)
        return next((one for one in self.lines if one.kind in wanted and one.holds(name)), None)


def read_list(path: Path) -> LeftOutList:
    """What a file says; nothing is left out where there is none."""
    if not path.exists():
        return LeftOutList(0, ())
    count, *lines = path.read_text(encoding="utf-8").splitlines()
    return LeftOutList(int(count.removeprefix(_COUNT)), tuple(_parsed(line) for line in lines))


def _parsed(line: str) -> LeftOut:
    kind, name, reason = line.split("\t")
    if kind not in (*MEASURED, *BY_REASON) or not name or not reason:
        raise ValueError(f"not a line of a list: {line}")
    return LeftOut(kind, name, reason)


def write_list(path: Path, found: LeftOutList) -> None:
    """The lines by kind and name."""
    order = {kind: at for at, kind in enumerate((*BY_REASON, *MEASURED))}
    lines = sorted(found.lines, key=lambda one: (order[one.kind], one.name))
    text = [f"{_COUNT}{found.reads}", *(f"{one.kind}\t{one.name}\t{one.reason}" for one in lines)]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def collapsed(kind: str, reasons: dict[str, str], every: Iterable[str]) -> list[LeftOut]:
    """One line for all the values that a test is run with, where each of them is left out."""
    totals = Counter(_function(name) for name in every)
    found: dict[str, list[str]] = {}
    for name in sorted(reasons):
        found.setdefault(_function(name), []).append(name)
    lines = []
    for function, names in found.items():
        if len(names) > 1 and len(names) == totals[function]:
            lines.append(LeftOut(kind, f"{function}[*", reasons[names[0]]))
        else:
            lines += [LeftOut(kind, name, reasons[name]) for name in names]
    return lines


def _function(name: str) -> str:
    return name.partition("[")[0]
