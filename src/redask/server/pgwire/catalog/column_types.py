"""What a catalogue query gives: names and types as PostgreSQL would announce them.

They come from the statement as it was written and the layout of the catalogue; where that does
not say, the type is text, which every value can be written as.
"""

from sqlglot import exp

from redask.server.pgwire.catalog.relations import layout
from redask.server.pgwire.types.oids import (
    BOOL,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    NAME,
    NAME_ARRAY,
    NUMERIC,
    OID,
    TEXT,
    TEXT_ARRAY,
    TIMESTAMPTZ,
    TYPES,
    VOID,
)

_BY_NAME = {known.name: oid for oid, known in TYPES.items()}
_CASTS = {"INT": INT4, "BIGINT": INT8, "SMALLINT": INT2, "BOOLEAN": BOOL, "DECIMAL": NUMERIC,
          "FLOAT": FLOAT4, "DOUBLE": FLOAT8}  # fmt: skip
_DEEPEST = 20
_SUMS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod)
_NUMBERS = (INT2, INT4, INT8, NUMERIC, FLOAT4, FLOAT8)  # a sum has the last of its parts' types
REGISTERED = {
    "regclass": ("pg_regclass", "pg_regname"),
    "regtype": ("pg_regtype", "format_type"),
    "regnamespace": ("pg_regnamespace", "pg_namespace_name"),
    "regproc": ("pg_regproc", "pg_regproc"),
}
_KNOWN = {
    **dict.fromkeys(("current_schema", "current_database", "current_user"), NAME),
    **dict.fromkeys(("session_user", "current_catalog", "pg_get_userbyid"), NAME),
    "current_schemas": NAME_ARRAY,
    **dict.fromkeys(("pg_backend_pid", "array_upper", "array_length", "cardinality"), INT4),
    **dict.fromkeys(("txid_current", "pg_database_size", "pg_total_relation_size"), INT8),
    **dict.fromkeys(("pg_is_in_recovery", "pg_table_is_visible", "pg_type_is_visible"), BOOL),
    **dict.fromkeys(("pg_has_role", "has_table_privilege", "has_schema_privilege"), BOOL),
    **dict.fromkeys(("pg_try_advisory_lock", "pg_advisory_unlock", "pg_bool", "pg_any"), BOOL),
    **dict.fromkeys(("pg_advisory_unlock_all", "pg_advisory_lock", "pg_notify"), VOID),
    **dict.fromkeys(("to_regclass", "to_regtype"), OID),
    "pg_postmaster_start_time": TIMESTAMPTZ,
}
_TRUTHS = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.And, exp.Or, exp.Not, exp.Is),
    *(exp.In, exp.Between, exp.Like, exp.Exists, exp.Boolean, exp.RegexpLike, exp.Escape),
    exp.Operator,
)


def cast_name(node: exp.Expr) -> str:
    """The plain name of the type that something is cast to."""
    to = node.args["to"]
    kind = to.args.get("kind") if isinstance(to, exp.DataType) else None
    written = kind.sql() if isinstance(kind, exp.Expr) else str(kind or to.this)
    return written.rpartition(".")[2].strip('"').lower()


def announce(tree: exp.Expr) -> tuple[tuple[str, int], ...] | None:
    """Names and types of the columns; None with a star among them."""
    first = tree
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.this
    if not isinstance(first, exp.Select) or any(_is_star(item) for item in first.expressions):
        return None
    types = _Types(tree)
    return tuple((_name(item), types.of(item)) for item in first.expressions)


def _is_star(item: exp.Expr) -> bool:
    return isinstance(item, exp.Star) or (
        isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
    )


def _name(item: exp.Expr) -> str:
    if item.alias:
        alias = item.args["alias"]
        return item.alias if getattr(alias, "quoted", False) else item.alias.lower()
    if isinstance(item, exp.Column):
        return item.name
    if isinstance(item, exp.Cast | exp.Paren | exp.Bracket):
        return _name(item.this)
    if isinstance(item, exp.Dot):
        return _name(item.expression) if isinstance(item.expression, exp.Func) else item.name
    if isinstance(item, exp.Anonymous):
        return str(item.this).lower()
    if isinstance(item, exp.Case):
        return "case"
    if isinstance(item, exp.CurrentVersion):
        return "version"
    if isinstance(item, exp.Func):
        return item.sql_name().lower()
    return "?column?"


class _Types:
    """The types of the expressions of one statement, each worked out once; text in doubt."""

    def __init__(self, tree: exp.Expr) -> None:
        self._known: dict[int, int] = {}
        self._tables = {table.name.lower() for table in tree.find_all(exp.Table)}
        self._aliases: dict[str, list[exp.Alias]] = {}
        for alias in tree.find_all(exp.Alias):
            self._aliases.setdefault(alias.alias.lower(), []).append(alias)

    def of(self, item: exp.Expr | None, depth: int = 0) -> int:
        if item is None or depth > _DEEPEST:
            return TEXT
        if id(item) not in self._known:
            self._known[id(item)] = TEXT  # for who means itself
            self._known[id(item)] = self._worked_out(item, depth + 1)
        return self._known[id(item)]

    def _worked_out(self, item: exp.Expr, depth: int) -> int:
        if isinstance(item, _SUMS):
            return self._sum(item, depth)
        if isinstance(item, exp.Alias | exp.Paren | exp.Neg | exp.Window | exp.Max | exp.Min):
            return self.of(item.this, depth)
        if isinstance(item, exp.Column):
            return self._column(item, depth)
        if isinstance(item, _TRUTHS):
            return BOOL
        if isinstance(item, exp.Cast):
            return _cast_type(item)
        if isinstance(item, exp.Literal):
            return _literal_type(item)
        if isinstance(item, exp.Count | exp.RowNumber):
            return INT8
        if isinstance(item, exp.Array | exp.ArrayAgg):
            return TEXT_ARRAY
        if isinstance(item, exp.Case):
            ways = [each.args["true"] for each in item.args.get("ifs") or ()]
            kinds = {self.of(each, depth) for each in ways if not isinstance(each, exp.Null)}
            return kinds.pop() if len(kinds) == 1 else TEXT
        if isinstance(item, exp.Dot):
            return self.of(item.expression, depth)
        if isinstance(item, exp.Func):
            return _KNOWN.get(_name(item), TEXT)
        return TEXT

    def _sum(self, item: exp.Expr, depth: int) -> int:
        """The last of the types of its parts, if all are numbers; what is bound will be one."""
        parts = [each for each in (item.this, item.expression)
                 if not isinstance(each, exp.Parameter | exp.Null)]  # fmt: skip
        kinds = [self.of(part, depth) for part in parts]
        if not kinds or not set(kinds) <= set(_NUMBERS):
            return TEXT
        return max(kinds, key=_NUMBERS.index)

    def _column(self, column: exp.Column, depth: int) -> int:
        name = column.name.lower()
        for alias in self._aliases.get(name, ()):
            if alias.this is not column and column.parent is not alias:
                return self.of(alias.this, depth)
        if name == "user":
            return NAME
        found = {
            columns[name]
            for table, columns in layout().items()
            if name in columns
            and (table in self._tables or table.removeprefix("is_") in self._tables)
        }
        return _BY_NAME.get(found.pop(), TEXT) if len(found) == 1 else TEXT


def _literal_type(item: exp.Literal) -> int:
    if item.is_string:
        return TEXT
    if not item.name.isdecimal():
        return NUMERIC
    value = int(item.name[:20])
    return INT4 if value < 1 << 31 else INT8 if value < 1 << 63 else NUMERIC


def _cast_type(cast: exp.Expr) -> int:
    kind = cast_name(cast)
    if kind in REGISTERED:
        return TEXT
    to = cast.args["to"].this
    known = _CASTS.get(to.name if hasattr(to, "name") else "", _BY_NAME.get(kind, TEXT))
    return TEXT if TYPES[known].items else known


def parameter_types(tree: exp.Expr) -> tuple[int, ...]:
    """The type of each parameter: that of its cast or of the column beside it."""
    kinds: dict[int, int] = {}
    types = _Types(tree)
    for mark in tree.find_all(exp.Parameter):
        if not mark.name.isdecimal():
            continue
        above, kind = mark.parent, TEXT
        if isinstance(above, exp.Cast):
            kind = _cast_type(above)
        elif isinstance(above, exp.EQ | exp.NEQ | exp.In):
            other = above.expression if above.this is mark else above.this
            kind = types.of(other) if isinstance(other, exp.Column) else TEXT
        elif isinstance(above, _SUMS):
            kind = types.of(above)
        elif isinstance(above, exp.Limit | exp.Offset):
            kind = INT8
        number = int(mark.name)
        if kinds.get(number, TEXT) == TEXT:
            kinds[number] = kind
    return tuple(kinds.get(number, TEXT) for number in range(1, max(kinds, default=0) + 1))
