"""Random statements over announced tables: `generate(tables, seed)`, without end, repeatable.

Each statement has a generator of its own, so that number 4711 can be made without the others. Where
rows are cut off (LIMIT), numbered (windows) or put in a row (string_agg), the order is total, so
that PostgreSQL's result is the only right one.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from redask.core.ports import TableShape
from sql_twin.cases import Case
from sql_twin.generator.aggregate_templates import (
    AGGREGATES,
    FRAMES,
    ORDERED_AGGREGATES,
    WINDOWS,
)
from sql_twin.generator.expressions import Column, Maker, plain
from sql_twin.generator.sources import Source, source
from sql_twin.generator.templates import KEYS, RISKY, TEMPLATES
from sql_twin.reference import quoted
from sql_twin.world import COLUMN_TYPES

_PARAMETER = re.compile(r"\$(\d+)::")
_SORTABLE = (*KEYS, "int4[]", "text[]")


@dataclass(frozen=True, slots=True)
class Query:
    """A query with the types of its columns."""

    text: str
    types: list[str]


def generate(tables: Sequence[TableShape], seed: int) -> Iterator[Case]:
    """Statements, one after the other."""
    for number in itertools.count():
        yield statement(tables, seed, number)


def statement(tables: Sequence[TableShape], seed: int, number: int) -> Case:
    """One of them."""
    rng = Random(f"{seed}/{number}")
    maker = Maker(rng, [], loose=rng.random() < 0.15)
    shape: Callable[[Maker, Sequence[TableShape]], Query] = rng.choices(
        (_plain, _grouped, _windowed, _distinct, _combined, _nested, _correlated, _risky),
        (30, 25, 12, 8, 8, 12, 5, 8),
    )[0]
    query = shape(maker, tables)
    return _case(f"seed {seed} number {number}", query.text, maker.params)


def _case(name: str, text: str, params: list[object]) -> Case:
    """The parameters that the text has, numbered as they come."""
    used: list[int] = []

    def number(found: re.Match[str]) -> str:
        if int(found[1]) not in used:
            used.append(int(found[1]))
        return f"${used.index(int(found[1])) + 1}::"

    return Case(name, _PARAMETER.sub(number, text), tuple(params[each - 1] for each in used))


def _from(maker: Maker, tables: Sequence[TableShape]) -> Source:
    found = source(maker, tables)
    maker.columns = found.columns
    return found


def _where(maker: Maker, share: float = 0.5) -> str:
    return f" WHERE {maker.make('bool')}" if maker.rng.random() < share else ""


def _named(maker: Maker, expressions: list[str]) -> str:
    """A select list; some have names of their own."""
    return ", ".join(
        f"{each} AS x{at}" if maker.rng.random() < 0.5 else each
        for at, each in enumerate(expressions)
    )


def _sorted(maker: Maker, types: list[str], *, limit: bool = True) -> str:
    """ORDER BY every column, when all can be sorted, and perhaps some of the rows."""
    rng = maker.rng
    if rng.random() < 0.4 or any(each not in _SORTABLE for each in types):
        return ""
    order = list(range(1, len(types) + 1))
    rng.shuffle(order)
    how = ("", "", " DESC", " NULLS FIRST", " DESC NULLS LAST", " ASC")
    text = " ORDER BY " + ", ".join(f"{each}{rng.choice(how)}" for each in order)
    if limit and rng.random() < 0.4:
        text += f" LIMIT {rng.randint(0, 12)}"
        text += f" OFFSET {rng.randint(0, 5)}" if rng.random() < 0.3 else ""
    return text


def _types(maker: Maker) -> list[str]:
    some = KEYS if maker.rng.random() < 0.4 else tuple(TEMPLATES)
    return [maker.rng.choice(some) for _ in range(maker.rng.randint(1, 4))]


def _plain(maker: Maker, tables: Sequence[TableShape]) -> Query:
    start = _from(maker, tables)
    types = _types(maker)
    columns = _named(maker, [maker.make(each, 3) for each in types])
    text = f"SELECT {columns} FROM {start.text}{_where(maker)}{_sorted(maker, types)}"
    return Query(text, types)


def _key(maker: Maker) -> tuple[str, str]:
    """An expression to group by: equal values print alike."""
    if maker.rng.random() < 0.5:
        column = maker.column(KEYS)
        if column:
            return column.text, column.type
    kind = maker.rng.choice(KEYS)
    return maker.make(kind, 1), kind


def _aggregate(maker: Maker) -> tuple[str, str]:
    if maker.rng.random() < 0.15:
        template, inner, kind = maker.rng.choice(ORDERED_AGGREGATES)
        return template.replace("{self}", maker.make(inner, 1)), kind
    template, kind = maker.rng.choice(AGGREGATES)
    return maker.fill(template, kind, 2), kind


def _grouped(maker: Maker, tables: Sequence[TableShape]) -> Query:
    rng = maker.rng
    start = _from(maker, tables)
    keys = [_key(maker) for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3)))]
    found = [_aggregate(maker) for _ in range(rng.randint(1, 3))]
    types = [kind for _, kind in (*keys, *found)]
    columns = _named(maker, [text for text, _ in (*keys, *found)])
    text = f"SELECT {columns} FROM {start.text}{_where(maker)}"
    if keys:
        by = ", ".join(str(at) for at in range(1, len(keys) + 1))
        chance = rng.random()
        plainly = all(each in {column.text for column in maker.columns} for each, _ in keys)
        if chance < 0.15 and plainly:
            by = f"{rng.choice(('ROLLUP', 'CUBE'))} ({', '.join(each for each, _ in keys)})"
        text += f" GROUP BY {by}"
    if rng.random() < 0.2:
        text += f" HAVING {rng.choice(('count(*) > 1', 'count(*) < 30', 'max(1) = 1'))}"
    return Query(text + _sorted(maker, types), types)


def _windowed(maker: Maker, tables: Sequence[TableShape]) -> Query:
    rng = maker.rng
    start = _from(maker, tables)
    shown, kinds = [], []
    for _ in range(rng.randint(1, 2)):
        template, kind = rng.choice(WINDOWS)
        part = f"PARTITION BY {_key(maker)[0]} " if rng.random() < 0.5 else ""
        order = ", ".join((_key(maker)[0] + rng.choice(("", " DESC")), *start.unique))
        frame = rng.choice(FRAMES)
        shown.append(f"{maker.fill(template, kind, 1)} OVER ({part}ORDER BY {order}{frame})")
        kinds.append(kind)
    text = f"SELECT {_named(maker, [*start.unique, *shown])} FROM {start.text}{_where(maker, 0.3)}"
    types = ["int4" if each in ("g.x", "v.k") else "text" for each in start.unique] + kinds
    return Query(text + _sorted(maker, types), types)


def _distinct(maker: Maker, tables: Sequence[TableShape]) -> Query:
    rng = maker.rng
    start = _from(maker, tables)
    keys = [_key(maker) for _ in range(rng.randint(1, 2))]
    types = [kind for _, kind in keys]
    if rng.random() < 0.5:
        text = f"SELECT DISTINCT {_named(maker, [each for each, _ in keys])} FROM {start.text}"
        return Query(text + _where(maker) + _sorted(maker, types), types)
    on = keys[0][0]
    shown = ", ".join([on, *start.unique])
    text = f"SELECT DISTINCT ON ({on}) {shown} FROM {start.text}{_where(maker)} ORDER BY {shown}"
    return Query(text, [])


def _combined(maker: Maker, tables: Sequence[TableShape]) -> Query:
    types = [maker.rng.choice(KEYS) for _ in range(maker.rng.randint(1, 3))]
    parts = []
    for _ in range(maker.rng.choice((2, 2, 2, 3))):
        start = _from(maker, tables)
        columns = ", ".join(maker.make(each, 1) for each in types)
        parts.append(f"SELECT {columns} FROM {start.text}{_where(maker, 0.4)}")
    text = parts[0]
    for part in parts[1:]:
        words = ("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL", "INTERSECT ALL")
        text += f" {maker.rng.choice(words)} {part}"
    return Query(text + _sorted(maker, types), types)


def _nested(maker: Maker, tables: Sequence[TableShape]) -> Query:
    """A query as a derived table or a CTE, and another over it."""
    rng = maker.rng
    inner = rng.choice((_plain, _grouped, _combined))(maker, tables)
    names = [f"q{at}" for at in range(len(inner.types))]
    columns = [Column(f"s.{name}", kind) for name, kind in zip(names, inner.types, strict=True)]
    maker.columns = columns
    shown = _types(maker)
    outer = _named(maker, [maker.make(each) for each in shown])
    if rng.random() < 0.35:
        outer, shown = "count(*), " + _aggregate(maker)[0], []
    rest = _where(maker) + (_sorted(maker, shown) if shown else "")
    listed = ", ".join(names)
    if rng.random() < 0.5:
        return Query(f"WITH s({listed}) AS ({inner.text}) SELECT {outer} FROM s{rest}", [])
    return Query(f"SELECT {outer} FROM ({inner.text}) AS s({listed}){rest}", [])


def _correlated(maker: Maker, tables: Sequence[TableShape]) -> Query:
    """Subqueries that look outside, and LATERAL."""
    rng = maker.rng
    outer = "kinds AS k"
    maker.columns = [
        Column("k.id", "int4"),
        Column("k.n", "int4"),
        Column("k.label", "text"),
        Column("b.seats", "int4"),
        Column("b.amount", "numeric"),
        Column("b.starts", "timestamp"),
        Column("b.status", "text"),
    ]
    aggregate, _ = _aggregate(maker)
    inner = f"SELECT {aggregate} FROM bookings AS b WHERE b.kind_id = k.id"
    condition = maker.make("bool", 1)
    chance = rng.random()
    if chance < 0.35:
        return Query(f"SELECT k.id, ({inner}) FROM {outer}", [])
    if chance < 0.7:
        exists = f"EXISTS (SELECT 1 FROM bookings AS b WHERE b.kind_id = k.id AND {condition})"
        word = rng.choice(("", "NOT "))
        return Query(f"SELECT k.id FROM {outer} WHERE {word}{exists} ORDER BY k.id", [])
    return Query(f"SELECT k.id, x.v FROM {outer}, LATERAL ({inner} AND {condition}) AS x(v)", [])


def _risky(maker: Maker, tables: Sequence[TableShape]) -> Query:
    """One expression that may raise an error, for every row of a table."""
    table = maker.rng.choice([each for each in tables if each.name in COLUMN_TYPES])
    maker.columns = [
        Column(quoted(name), plain(kind)) for name, kind in table.columns if name != "urn"
    ]
    risk = maker.fill(maker.rng.choice(RISKY), "int4", maker.rng.choice((1, 1, 2)))
    return Query(f"SELECT id, {risk} FROM {quoted(table.name)}", [])
