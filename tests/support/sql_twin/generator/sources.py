"""FROM clauses with the columns they bring: `Source`, made by `source`."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from redask.core.ports import TableShape
from sql_twin.generator.expressions import Column, Maker, plain
from sql_twin.generator.templates import LITERALS
from sql_twin.reference import quoted
from sql_twin.world import COLUMN_TYPES

_JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "INNER JOIN")
_SHARED = ("int4", "text")


@dataclass(frozen=True, slots=True)
class Source:
    """The text after FROM; `unique` names columns that together occur once."""

    text: str
    columns: list[Column]
    unique: tuple[str, ...]


def source(maker: Maker, tables: Sequence[TableShape]) -> Source:
    """One table, two or three joined, or rows that are written out."""
    rng = maker.rng
    small = [table for table in tables if table.name in COLUMN_TYPES]
    chance = rng.random()
    if chance < 0.12:
        return _series(rng) if chance < 0.04 else _values(rng)
    if chance < 0.45:
        return _table(rng.choice(small), "t")
    if chance < 0.6:
        return _table(rng.choice([each for each in tables if each.name != "links"]), "t")
    first, second = _table(rng.choice(small), "a"), _table(rng.choice(small), "b")
    joined = _join(maker, first, second)
    return _join(maker, joined, _table(rng.choice(small), "c")) if chance > 0.94 else joined


def _table(table: TableShape, alias: str) -> Source:
    columns = [
        Column(f"{alias}.{quoted(name)}", plain(kind))
        for name, kind in table.columns
        if plain(kind) in LITERALS
    ]
    return Source(f"{quoted(table.name)} AS {alias}", columns, (f"{alias}.urn",))


def _join(maker: Maker, left: Source, right: Source) -> Source:
    rng = maker.rng
    kind = rng.choice(_JOINS)
    on = [
        f"{one.text} = {two.text}"
        for one in left.columns
        for two in right.columns
        if one.type == two.type in _SHARED and "urn" not in one.text and "urn" not in two.text
    ]
    condition = rng.choice(on) if on else "true"
    if kind != "FULL JOIN" and rng.random() < 0.3:
        maker.columns = left.columns + right.columns
        condition += f" AND {maker.make('bool', 1)}"
    if not on and kind == "FULL JOIN":
        kind = "JOIN"
    return Source(
        f"{left.text} {kind} {right.text} ON {condition}",
        left.columns + right.columns,
        left.unique + right.unique,
    )


def _series(rng: Random) -> Source:
    last, step = rng.randint(1, 12), rng.choice(("", ", 2", ", 3"))
    return Source(f"generate_series(1, {last}{step}) AS g(x)", [Column("g.x", "int4")], ("g.x",))


def _values(rng: Random) -> Source:
    kinds = [rng.choice(("int4", "text", "date", "bool", "int8")) for _ in range(rng.randint(1, 3))]
    rows = ", ".join(
        "(" + ", ".join([str(at), *(rng.choice(LITERALS[kind]) for kind in kinds)]) + ")"
        for at in range(rng.randint(1, 5))
    )
    names = [f"c{at}" for at in range(len(kinds))]
    columns = [Column(f"v.{name}", kind) for name, kind in zip(names, kinds, strict=True)]
    return Source(
        f"(VALUES {rows}) AS v({', '.join(['k', *names])})",
        [Column("v.k", "int4"), *columns],
        ("v.k",),
    )
