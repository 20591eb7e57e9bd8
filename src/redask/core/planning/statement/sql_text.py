"""A statement's tree as PostgreSQL text: one line, always the same for the same tree.

Identifiers are quoted unless they are plain lower case and no key word. Columns carry their table
where more than one table is there. `limit` becomes FETCH FIRST … WITH TIES.
"""

import re

from redask.core.planning.statement.trees import (
    Against,
    ColumnOf,
    Comparison,
    Existence,
    KeyStep,
    Literal,
    Match,
    MeasuredColumn,
    Membership,
    Missing,
    NewestPeriod,
    Recent,
    ReferredName,
    Statement,
    Tally,
    Test,
)

SHARES = {"share": "1.0", "percentage": "100.0"}
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")
_KEYWORDS = frozenset(
    """all analyse analyze and any array as asc asymmetric authorization between bigint binary bit
    boolean both case cast char character check coalesce collate collation column concurrently
    constraint create cross current_catalog current_date current_role current_schema current_time
    current_timestamp current_user date dec decimal default deferrable desc distinct do else end
    except exists extract false fetch float for foreign freeze from full grant greatest group
    grouping having ilike in initially inner inout int integer intersect interval into is isnull
    join lateral leading least left like limit localtime localtimestamp name national natural nchar
    none normalize not notnull null nullif numeric offset on only or order out outer overlaps
    overlay placing position precision primary real references returning right row select
    session_user setof similar smallint some substring symmetric system_user table tablesample text
    then time timestamp to trailing treat trim true type union unique user using value values
    varchar variadic verbose when where window with xmlattributes year""".split()
)


def identifier(name: str) -> str:
    """A name, quoted where PostgreSQL needs it."""
    if _PLAIN.match(name) and name not in _KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def literal(value: Literal) -> str:
    """A number as it is, or a text in quotes."""
    return value.text if value.number else "'" + value.text.replace("'", "''") + "'"


def write(statement: Statement) -> str:
    """The SELECT of a tree."""
    return _StatementText(statement).text()


def output(shown: MeasuredColumn) -> str:
    """What stands in the place of a column, with its label."""
    if isinstance(shown.name, NewestPeriod):
        start = _newest(shown.name.column, shown.name.unit, shown.name.back)
        text = f"to_char({start}, '{_WRITTEN[shown.name.unit]}')"
    else:
        assert shown.name is not None
        text = _referred(shown.name)
    return f"{text} AS {identifier(shown.label)}"


def _referred(name: ReferredName) -> str:
    text = " || ' ' || ".join(f"referred.{identifier(each.name)}" for each in name.names)
    source = f"{identifier(name.target.table)} AS referred"
    own = f"{identifier(name.column.table)}.{identifier(name.column.name)}"
    test = f"referred.{identifier(name.target.name)} = {own}"
    return f"coalesce((SELECT {text} FROM {source} WHERE {test}), CAST({own} AS text))"


class _StatementText:
    def __init__(self, statement: Statement) -> None:
        self._statement = statement
        self._qualified = bool(statement.steps) or any(map(_nests, statement.where))

    def text(self) -> str:
        """The whole statement."""
        asked = self._statement
        if asked.outputs[0].aggregate in SHARES:
            return self._share(asked.outputs[0].aggregate)
        shown = ", ".join(map(self._output, asked.outputs))
        parts = [f"SELECT {'DISTINCT ' if asked.distinct else ''}{shown}"]
        parts.append(f"FROM {identifier(asked.table)}")
        parts += [self._join(step) for step in asked.steps]
        if asked.where:
            parts.append("WHERE " + " AND ".join(map(self._test, asked.where)))
        if asked.groups:
            parts.append("GROUP BY " + ", ".join(map(self._column, asked.groups)))
        if asked.having:
            tests = (f"{self._measure(each)} {op} {value}" for each, op, value in asked.having)
            parts.append("HAVING " + " AND ".join(tests))
        if asked.order:
            keys = (f"{self._measure(key)} {_DIRECTIONS[way]}" for key, way in asked.order)
            parts.append("ORDER BY " + ", ".join(keys))
        if asked.limit is not None:
            parts.append(f"FETCH FIRST {asked.limit} ROWS WITH TIES")
        return " ".join(parts)

    def _share(self, name: str) -> str:
        """The share of the rows of one table that pass the tests; no row, no share."""
        tests = " AND ".join(map(self._test, self._statement.where))
        shown = f"avg(CASE WHEN {tests} THEN {SHARES[name]} ELSE 0 END) AS {name}"
        return f"SELECT {shown} FROM {identifier(self._statement.table)}"

    def _column(self, column: ColumnOf) -> str:
        if self._qualified:
            return f"{identifier(column.table)}.{identifier(column.name)}"
        return identifier(column.name)

    def _output(self, each: MeasuredColumn) -> str:
        if each.name is not None:
            return output(each)
        shown = self._measure(each)
        return f"{shown} AS {identifier(each.label)}" if each.label else shown

    def _measure(self, measure: MeasuredColumn) -> str:
        inner = "*" if measure.column is None else self._column(measure.column)
        if not measure.aggregate:
            return inner
        return f"{measure.aggregate}({'DISTINCT ' if measure.distinct else ''}{inner})"

    def _join(self, step: KeyStep) -> str:
        return f"JOIN {identifier(step.table)} ON {self._pairs(step)}"

    def _pairs(self, step: KeyStep) -> str:
        return " AND ".join(
            f"{self._column(left)} = {self._column(right)}" for left, right in step.pairs
        )

    def _test(self, test: Test) -> str:
        match test:
            case Comparison(column, op, value):
                return f"{self._column(column)} {op} {literal(value)}"
            case Membership(column, values, negative):
                word = "NOT IN" if negative else "IN"
                return f"{self._column(column)} {word} ({', '.join(map(literal, values))})"
            case Match(column, pattern, negative):
                word = "NOT ILIKE" if negative else "ILIKE"
                return f"{self._column(column)} {word} {literal(Literal(pattern))}"
            case Against(column, op, aggregate):
                inner = f"SELECT {aggregate}({identifier(column.name)})"
                source = identifier(column.table)
                return f"{self._column(column)} {op} ({inner} FROM {source})"
            case Missing(column, negative):
                return f"{self._column(column)} IS {'NOT ' if negative else ''}NULL"
            case Recent(column, unit, back):
                return self._recent(column, unit, back)
            case Existence(steps, tests, negative):
                inner = self._subquery("1", steps, tests)
                return f"{'NOT ' if negative else ''}EXISTS ({inner})"
            case Tally(steps, tests, op, number):
                return f"({self._subquery('count(*)', steps, tests)}) {op} {number}"
            case junction:
                word = f" {junction.op.upper()} "
                return f"({word.join(map(self._test, junction.parts))})"

    def _recent(self, column: ColumnOf, unit: str, back: int) -> str:
        shown = self._column(column)
        if not back:
            return f"{shown} >= {_newest(column, unit, 0)}"
        start, end = _newest(column, unit, back), _newest(column, unit, 0)
        return f"({shown} >= {start} AND {shown} < {end})"

    def _subquery(self, shown: str, steps: tuple[KeyStep, ...], tests: tuple[Test, ...]) -> str:
        first, *others = steps
        joins = "".join(f" {self._join(step)}" for step in others)
        where = [self._pairs(first), *(self._test(test) for test in tests)]
        source = f"SELECT {shown} FROM {identifier(first.table)}{joins}"
        return f"{source} WHERE {' AND '.join(where)}"


def _newest(column: ColumnOf, unit: str, back: int) -> str:
    """The start of the unit that holds a column's newest date, or of one before it."""
    newest = f"SELECT max({identifier(column.name)}) FROM {identifier(column.table)}"
    start = f"date_trunc('{unit}', ({newest}))"
    return f"{start} - interval '{back} {unit}'" if back else start


_WRITTEN = {"month": "FMMonth YYYY", "year": "YYYY"}
_DIRECTIONS = {"asc": "ASC", "desc": "DESC NULLS LAST"}


def _nests(test: Test) -> bool:
    """Whether a test holds a subquery that refers to the outer tables."""
    return isinstance(test, Existence | Tally)
