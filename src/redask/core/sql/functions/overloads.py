"""Which of several operators or functions is meant: PostgreSQL's rules for choosing a candidate.

`choose(rows, types)` → the row, None when none fits, `AMBIGUOUS` when several do. Step by step as
in "Operator Type Resolution" and "Function Type Resolution" of PostgreSQL's manual:

    1  an exact match, where an untyped operand counts as the other operand's type
    2  candidates that every operand can be cast to implicitly
    3  the most exact matches; then the most matches with preferred types
    4  for untyped operands: text if a candidate takes it, else the one category all take
    5  if all typed operands have one type, the candidate that takes it for the untyped ones too
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from redask.core.sql.binder.bound import Bound
from redask.core.sql.types import REGISTERED, SqlType

EmitCall = str | Callable[..., Bound]
AMBIGUOUS: Literal["ambiguous"] = "ambiguous"


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call an operator or a function.

    `emit` is a template over the operands, cast to the types of `takes`, or a function of them
    that gives the `Bound`. With `variadic` the last of `takes` may come again and again.
    """

    takes: tuple[SqlType, ...]
    gives: SqlType
    emit: EmitCall
    variadic: bool = False
    strict: bool = True

    def spread(self, count: int) -> tuple[SqlType, ...] | None:
        """The types of this many operands; None when it takes another number."""
        if not self.variadic:
            return self.takes if len(self.takes) == count else None
        if count < len(self.takes):
            return None
        return self.takes + self.takes[-1:] * (count - len(self.takes))


# source → targets of PostgreSQL's implicit casts
IMPLICIT: dict[str, frozenset[str]] = {
    "int2": frozenset(("int4", "int8", "numeric", "float4", "float8", "oid", *REGISTERED)),
    "int4": frozenset(("int8", "numeric", "float4", "float8", "oid", *REGISTERED)),
    "int8": frozenset(("numeric", "float4", "float8", "oid", *REGISTERED)),
    "numeric": frozenset(("float4", "float8")),
    "float4": frozenset(("float8",)),
    "date": frozenset(("timestamp", "timestamptz")),
    "timestamp": frozenset(("timestamptz",)),
    "time": frozenset(("interval",)),
    "varchar": frozenset(("text", "bpchar", "name", "regclass")),
    "bpchar": frozenset(("text", "varchar", "name")),
    "text": frozenset(("varchar", "bpchar", "name", "regclass")),
    "name": frozenset(("text",)),
    "char": frozenset(("text",)),
    **dict.fromkeys(REGISTERED, frozenset(("oid", "int8"))),
    "regproc": frozenset(("oid", "int8", "regprocedure")),
    "regprocedure": frozenset(("oid", "int8", "regproc")),
    "oid": frozenset(REGISTERED),
    "cidr": frozenset(("inet",)),
    "int2vector": frozenset(("int2[]",)),
    "oidvector": frozenset(("oid[]",)),
}


def fits(given: SqlType, wanted: SqlType) -> bool:
    """Whether a cast is implicit."""
    if given.bare == wanted.bare:
        return True
    if given.name == "unknown" and not given.is_array:
        return True
    if given.is_array and wanted.is_array:
        return wanted.name in IMPLICIT.get(given.name, ())
    return str(wanted.bare) in IMPLICIT.get(given.name, ()) and not given.is_array


def choose(
    rows: Sequence[Overload], types: Sequence[SqlType], *, is_operator: bool = False
) -> tuple[Overload, tuple[SqlType, ...]] | Literal["ambiguous"] | None:
    """The row that is meant, and the types its operands are cast to."""
    bare = [each.bare for each in types]
    known = [each for each in bare if each.name != "unknown"]
    exact = bare
    if is_operator and len(bare) == 2 and len(known) == 1:
        exact = [known[0], known[0]]
    candidates = []
    for row in rows:
        wanted = row.spread(len(bare))
        if wanted is None:
            continue
        if list(wanted) == exact:
            return row, wanted
        if all(fits(given, want) for given, want in zip(bare, wanted, strict=True)):
            candidates.append((row, wanted))
    for narrow in (_most_exact, _most_preferred, _by_category, _by_one_type):
        if len(candidates) <= 1:
            break
        candidates = narrow(candidates, bare)
    if len(candidates) > 1:
        return AMBIGUOUS
    return candidates[0] if candidates else None


_Candidates = list[tuple[Overload, tuple[SqlType, ...]]]


def _best(candidates: _Candidates, score: Callable[[tuple[SqlType, ...]], int]) -> _Candidates:
    scores = [score(wanted) for _, wanted in candidates]
    top = max(scores)
    return [each for each, own in zip(candidates, scores, strict=True) if own == top]


def _most_exact(candidates: _Candidates, types: Sequence[SqlType]) -> _Candidates:
    def score(wanted: tuple[SqlType, ...]) -> int:
        return sum(
            given == want
            for given, want in zip(types, wanted, strict=True)
            if given.name != "unknown"
        )

    return _best(candidates, score)


def _most_preferred(candidates: _Candidates, types: Sequence[SqlType]) -> _Candidates:
    def score(wanted: tuple[SqlType, ...]) -> int:
        return sum(
            given == want or (given.category == want.category and want.preferred)
            for given, want in zip(types, wanted, strict=True)
            if given.name != "unknown"
        )

    return _best(candidates, score)


def _by_category(candidates: _Candidates, types: Sequence[SqlType]) -> _Candidates:
    """For each untyped operand: text if possible, else the category that all candidates take."""
    places = [place for place, each in enumerate(types) if each.name == "unknown"]
    if not places:
        return candidates
    kept = candidates
    for place in places:
        categories = {wanted[place].category for _, wanted in candidates}
        chosen = "S" if "S" in categories else categories.pop() if len(categories) == 1 else None
        if chosen is None:
            return candidates
        kept = [each for each in kept if each[1][place].category == chosen]
        preferred = [each for each in kept if each[1][place].preferred]
        kept = preferred or kept
    return kept or candidates


def _by_one_type(candidates: _Candidates, types: Sequence[SqlType]) -> _Candidates:
    known = {each for each in types if each.name != "unknown"}
    if len(known) != 1:
        return candidates
    (one,) = known
    fitting = [each for each in candidates if all(fits(one, want) for want in each[1])]
    return fitting if len(fitting) == 1 else candidates
