"""Types of the columns and parameters of a SELECT before it runs: `TypeInference(tables).of(tree)`.

    expression                                       type
    a column                                         its own, also through WITH and subqueries
    count, length, row_number, rank …                integer
    avg, total, round, sqrt …                        real
    sum, abs, + - * / of integers, of reals          integer, real
    min, max, coalesce, CASE                         what all its values have in common
    comparisons, AND, OR, NOT, IN, LIKE, EXISTS      boolean
    CAST                                             integer, real or text
    everything else, and every doubt                 text

Nobody is told of a type that a value may turn out not to have: any value can be written as text,
and so text is what stays when in doubt. A parameter has the type of the column it is compared
with, integer behind LIMIT and OFFSET, the type of its CAST, else text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from redask.core.text import lower

Columns = list[tuple[str, str]]  # names and types
_ANY = "null"  # a NULL, which fits every type
_INTEGERS = (
    *(exp.Count, exp.Length, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile, exp.Sign),
    *(exp.Unicode,),
)
_REALS = (exp.Avg, exp.Round, exp.Sqrt, exp.Exp, exp.Ln, exp.Pow, exp.PercentRank, exp.CumeDist)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)
_TRUTHS = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.And, exp.Or, exp.Not, exp.Is),
    *(exp.In, exp.Between, exp.Like, exp.ILike, exp.Glob, exp.Exists, exp.Boolean),
)
_COMPARING = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.Is),
    *(exp.NullSafeEQ, exp.NullSafeNEQ),
)
_CASTS = {
    **dict.fromkeys(("INT", "BIGINT", "SMALLINT", "TINYINT"), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "real"),
    **dict.fromkeys(("TEXT", "VARCHAR", "CHAR", "NCHAR", "NVARCHAR"), "text"),
}
_MOST = 200  # how deep an expression is followed


@dataclass(frozen=True, slots=True)
class TypeInference:
    """Knows the tables of a statement by name; `reached` are the WITH names."""

    tables: Mapping[str, Columns]
    reached: dict[str, Columns] = field(default_factory=dict)

    def of(self, tree: exp.Expr, outer: Mapping[str, Columns] | None = None) -> Columns:
        """Names and types of what a query gives; names are only good for looking columns up."""
        here = TypeInference(self.tables, dict(self.reached))
        clause = tree.args.get("with_")
        for cte in clause.expressions if clause is not None else ():
            here.reached[lower(cte.alias)] = here._with(cte, outer or {})
        if isinstance(tree, exp.Subquery):
            return here.of(tree.this, outer)
        if isinstance(tree, exp.SetOperation):
            left, right = here.of(tree.this, outer), here.of(tree.expression, outer)
            if len(left) != len(right):
                return []
            return [(name, _common([a, b])) for (name, a), (_, b) in zip(left, right, strict=True)]
        if not isinstance(tree, exp.Select):
            return []
        own = here._sources(tree, outer or {})
        sources = {**(outer or {}), **own}
        found: Columns = []
        for item in tree.expressions:
            found += here._item(item, own, sources)
        return found

    def parameters(self, tree: exp.Expr, count: int) -> list[str]:
        """The type of each parameter."""
        types = ["text"] * count
        everything = [column for columns in self.tables.values() for column in columns]
        for number, mark in _marks(tree):
            if number <= count and types[number - 1] == "text":
                types[number - 1] = _parameter(mark, everything)
        return types

    def _with(self, cte: exp.Expr, outer: Mapping[str, Columns]) -> Columns:
        query = cte.this
        first = query.this if isinstance(query, exp.SetOperation) else query
        alias = cte.args["alias"]
        names = [column.name for column in alias.args.get("columns") or ()]
        seed = _renamed(self.of(first, outer), names)
        inside = TypeInference(self.tables, {**self.reached, lower(cte.alias): seed})
        return _renamed(inside.of(query, outer), names)

    def _sources(self, select: exp.Select, outer: Mapping[str, Columns]) -> dict[str, Columns]:
        found: dict[str, Columns] = {}
        start = select.args.get("from_")
        joins = [join.this for join in select.args.get("joins") or ()]
        for each in [*([start.this] if start is not None else []), *joins]:
            found[lower(each.alias_or_name)] = self._source(each, outer)
        return found

    def _source(self, source: exp.Expr, outer: Mapping[str, Columns]) -> Columns:
        if isinstance(source, exp.Table):
            known = self.reached.get(lower(source.name))
            return known if known is not None else self.tables.get(source.name, [])
        if isinstance(source, exp.Subquery):
            return self.of(source.this, outer)
        return []

    def _item(
        self, item: exp.Expr, own: Mapping[str, Columns], sources: Mapping[str, Columns]
    ) -> Columns:
        if isinstance(item, exp.Star):
            return [column for columns in own.values() for column in columns]
        if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
            return list(sources.get(lower(item.table), []))
        kind = _Typing(self, sources).of(item)
        return [(item.alias_or_name, "text" if kind == _ANY else kind)]


@dataclass(slots=True)
class _Typing:
    """The types of expressions among some tables."""

    shaper: TypeInference
    sources: Mapping[str, Columns]
    depth: int = 0

    def of(self, node: exp.Expr | None) -> str:
        self.depth += 1
        kind = "text" if node is None or self.depth > _MOST else self._kind(node)
        self.depth -= 1
        return kind

    def _kind(self, node: exp.Expr) -> str:
        if isinstance(node, exp.Alias | exp.Paren | exp.Window | exp.Filter | exp.Distinct):
            return self.of(node.this)
        if isinstance(node, exp.Column):
            return self._column(node)
        if isinstance(node, exp.Literal):
            return _literal(node)
        if isinstance(node, exp.Null):
            return _ANY
        if isinstance(node, exp.Cast):
            return _CASTS.get(node.to.this.name, "text")
        if isinstance(node, _TRUTHS):
            return "boolean"
        if isinstance(node, _INTEGERS):
            return "integer"
        if isinstance(node, _REALS):
            return "real"
        if isinstance(node, exp.Sum | exp.Abs | exp.Neg):
            return _numeric([self.of(node.this)])
        if isinstance(node, _ARITHMETIC):
            return _numeric([self.of(node.this), self.of(node.expression)])
        if isinstance(node, exp.Subquery):
            inner = self.shaper.of(node.this, self.sources)
            return inner[0][1] if len(inner) == 1 else "text"
        parts = _alternatives(node)
        return "text" if parts is None else _common([self.of(part) for part in parts])

    def _column(self, column: exp.Column) -> str:
        name, table = lower(column.name), lower(column.table)
        places = [self.sources.get(table, [])] if table else list(self.sources.values())
        found = {kind for columns in places for known, kind in columns if lower(known) == name}
        return found.pop() if len(found) == 1 else "text"


def _alternatives(node: exp.Expr) -> Sequence[exp.Expr] | None:
    """The expressions whose value it may have, when it only chooses among some."""
    if isinstance(node, exp.Min | exp.Max | exp.FirstValue | exp.LastValue):
        return [node.this, *node.expressions]
    if isinstance(node, exp.Coalesce):
        return [node.this, *node.expressions]
    if isinstance(node, exp.Case):
        default = node.args.get("default")
        chosen = [branch.args["true"] for branch in node.args.get("ifs") or ()]
        return [*chosen, default if default is not None else exp.Null()]
    if isinstance(node, exp.If):
        other = node.args.get("false")
        return [node.args["true"], other if other is not None else exp.Null()]
    return None


def _literal(node: exp.Literal) -> str:
    if node.is_string:
        return "text"
    written = node.name
    if written.isdecimal():
        return "integer" if int(written) < 1 << 63 else "real"
    return "real"


def _numeric(kinds: list[str]) -> str:
    known = {kind for kind in kinds if kind != _ANY}
    if known <= {"integer", "boolean"} and known:
        return "integer"
    return "real" if known and known <= {"integer", "boolean", "real"} else "text"


def _common(kinds: list[str]) -> str:
    known = {kind for kind in kinds if kind != _ANY}
    if not known:
        return _ANY
    return known.pop() if len(known) == 1 else "text"


def _renamed(columns: Columns, names: list[str]) -> Columns:
    if len(names) != len(columns):
        return columns
    return [(name, kind) for name, (_, kind) in zip(names, columns, strict=True)]


def _marks(tree: exp.Expr) -> Iterator[tuple[int, exp.Expr]]:
    """The parameters of a statement with their numbers."""
    following = 0
    for node in tree.find_all(exp.Placeholder, exp.Column):
        if isinstance(node, exp.Placeholder):
            following += 1
            yield following, node
        elif node.name[:1] == "$" and node.name[1:].isdecimal():  # which SQLite reads as a name
            yield int(node.name[1:]), node


def _parameter(mark: exp.Expr, columns: Columns) -> str:
    above = mark.parent
    while isinstance(above, exp.Paren | exp.Tuple):
        above = above.parent
    if isinstance(above, exp.Limit | exp.Offset):
        return "integer"
    if isinstance(above, exp.Cast):
        return _CASTS.get(above.to.this.name, "text")
    if not isinstance(above, _COMPARING):
        return "text"
    others = [
        node
        for node in above.find_all(exp.Column)
        if node.find_ancestor(*_COMPARING) is above and node.name[:1] != "$"
    ]
    kinds = {kind for name, kind in columns if any(lower(name) == lower(o.name) for o in others)}
    kind = kinds.pop() if len(others) == 1 and len(kinds) == 1 else "text"
    return "text" if kind == "json" else kind
