"""The type that a TypeName of the tree means: `read_type(node)`; unknown types are 42704."""

from redask.core.sql.binder.bound import TreeNode, fail, unsupported
from redask.core.sql.types import TYPE_ROWS, SqlType

_MODIFIED = frozenset(("numeric", "varchar", "bpchar"))
# bits of an interval's modifier: INTERVAL '1' MONTH
INTERVAL_FIELDS = {4: "year", 2: "month", 8: "day", 1024: "hour", 2048: "minute", 4096: "second"}
REFUSED_TYPES = frozenset(
    """aclitem bit box cid circle cstring gtsvector jsonpath line lseg macaddr8 money path pg_lsn
    pg_node_tree pg_snapshot polygon record refcursor regrole tid tsquery tsvector
    txid_snapshot unknown varbit void xid8 xml""".split()
)
_NO_VALUES = frozenset(("record", "void", "unknown"))
# information_schema's own types, as they travel
_DOMAINS = {
    "cardinal_number": "int4",
    "character_data": "varchar",
    "sql_identifier": "name",
    "time_stamp": "timestamptz",
}


def read_type(node: TreeNode) -> tuple[SqlType, str | None]:
    """The type, and the field of an interval that was named alone."""
    names = [each["String"]["sval"] for each in node["names"]]
    location = node.get("location", 0)
    name = names[-1]
    if names[0] == "information_schema" and name in _DOMAINS:
        return SqlType(_DOMAINS[name], (), bool(node.get("arrayBounds"))), None
    if len(names) > 2 or (len(names) == 2 and names[0] != "pg_catalog"):
        fail("42704", f'type "{".".join(names)}" does not exist', location)
    if node.get("setof") or node.get("pct_type"):
        unsupported("SETOF and %TYPE", location)
    is_array = name.startswith("_") and name[1:] in TYPE_ROWS  # as pg_type calls an array's type
    name = name[1:] if is_array or name[1:] in REFUSED_TYPES else name
    if name not in TYPE_ROWS or name in _NO_VALUES:
        if name in REFUSED_TYPES:
            unsupported(f"the type {name}", location)
        fail("42704", f'type "{name}" does not exist', location)
    bounds = node.get("arrayBounds", [])
    modifiers = [_integer(each, location) for each in node.get("typmods", [])]
    field = None
    if name == "interval" and modifiers:
        field = INTERVAL_FIELDS.get(modifiers[0])
        if field is None or len(modifiers) > 1:
            unsupported("an interval with several fields or a precision", location)
        modifiers = []
    if modifiers and name not in _MODIFIED:
        unsupported(f"the precision of {TYPE_ROWS[name].sql_name}", location)
    if name == "numeric" and modifiers:
        modifiers = _numeric(modifiers, location)
    if name in ("varchar", "bpchar") and modifiers and modifiers[0] < 1:
        fail("22023", f"length for type {name} must be at least 1", location)
    return SqlType(name, tuple(modifiers), bool(bounds) or is_array), field


def _numeric(modifiers: list[int], location: int) -> list[int]:
    precision, scale = modifiers[0], modifiers[1] if len(modifiers) > 1 else 0
    if not 1 <= precision <= 1000:
        fail("22023", f"NUMERIC precision {precision} must be between 1 and 1000", location)
    if precision > 38 or scale == 38 or not 0 <= scale <= precision:
        unsupported(f"numeric({precision},{scale})", location)
    return [precision, scale]


def _integer(node: TreeNode, location: int) -> int:
    constant = node.get("A_Const", {})
    if "ival" not in constant:
        unsupported("a type modifier that is no integer", location)
    return int(constant["ival"].get("ival", 0))
