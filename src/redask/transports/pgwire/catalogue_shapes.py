"""What a catalogue query gives: names and types as PostgreSQL would announce them.

They come from the statement as it was written and the layout of the catalogue; where that does
not say, the type is text, which every value can be written as.
"""

from sqlglot import exp

from redask.transports.pgwire.catalogue_rows import layout
from redask.transports.pgwire.oids import (
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
    return tuple((_name(item), type_of(item, tree)) for item in first.expressions)


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


def type_of(item: exp.Expr | None, tree: exp.Expr, depth: int = 0) -> int:
    """The type of an expression; text in doubt."""
    if item is None or depth > 20:
        return TEXT
    if isinstance(item, _SUMS):
        return _sum_type(item, tree, depth)
    if isinstance(item, exp.Alias | exp.Paren | exp.Neg | exp.Window | exp.Max | exp.Min):
        return type_of(item.this, tree, depth + 1)
    if isinstance(item, exp.Column):
        return _column_type(item, tree, depth)
    if isinstance(item, _TRUTHS):
        return BOOL
    if isinstance(item, exp.Cast):
        return _cast_type(item)
    if isinstance(item, exp.Literal):
        return TEXT if item.is_string else INT4 if item.name.isdecimal() else NUMERIC
    if isinstance(item, exp.Count | exp.RowNumber):
        return INT8
    if isinstance(item, exp.Array | exp.ArrayAgg):
        return TEXT_ARRAY
    if isinstance(item, exp.Case):
        kinds = {type_of(each.args["true"], tree, depth + 1) for each in item.args.get("ifs") or ()
                 if not isinstance(each.args["true"], exp.Null)}  # fmt: skip
        return kinds.pop() if len(kinds) == 1 else TEXT
    if isinstance(item, exp.Dot):
        return type_of(item.expression, tree, depth + 1)
    if isinstance(item, exp.Func):
        return _KNOWN.get(_name(item), TEXT)
    return TEXT


def _column_type(column: exp.Column, tree: exp.Expr, depth: int) -> int:
    name = column.name.lower()
    made = [alias for alias in tree.find_all(exp.Alias) if alias.alias.lower() == name]
    inner = [alias for alias in made if alias.this is not column and column.parent is not alias]
    if inner:
        return type_of(inner[0].this, tree, depth + 1)
    if name == "user":
        return NAME
    used = {table.name.lower() for table in tree.find_all(exp.Table)}
    found = {
        columns[name]
        for table, columns in layout().items()
        if name in columns and (table in used or table.removeprefix("is_") in used)
    }
    return _BY_NAME.get(found.pop(), TEXT) if len(found) == 1 else TEXT


def _sum_type(item: exp.Expr, tree: exp.Expr, depth: int) -> int:
    parts = [type_of(part, tree, depth + 1) for part in (item.this, item.expression)]
    numbers = [_NUMBERS.index(part) for part in parts if part in _NUMBERS]
    return _NUMBERS[max(numbers)] if numbers else TEXT


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
    for mark in tree.find_all(exp.Parameter):
        if not mark.name.isdecimal():
            continue
        above, kind = mark.parent, TEXT
        if isinstance(above, exp.Cast):
            kind = _cast_type(above)
        elif isinstance(above, exp.EQ | exp.NEQ | exp.In):
            other = above.expression if above.this is mark else above.this
            kind = type_of(other, tree) if isinstance(other, exp.Column) else TEXT
        elif isinstance(above, _SUMS):
            kind = type_of(above, tree)
        elif isinstance(above, exp.Limit | exp.Offset):
            kind = INT8
        number = int(mark.name)
        if kinds.get(number, TEXT) == TEXT:
            kinds[number] = kind
    return tuple(kinds.get(number, TEXT) for number in range(1, max(kinds, default=0) + 1))
