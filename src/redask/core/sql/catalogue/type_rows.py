"""The rows of pg_type and pg_range, as PostgreSQL 15 has them.

pg_type has every type of `TYPE_ROWS` and its array. Drivers look up in pg_range what a range is
made of, before they read one.
"""

from redask.core.sql.catalogue.object_ids import OWNER, SYSTEM
from redask.core.sql.catalogue.system_ids import FUNCTIONS
from redask.core.sql.types import REGISTERED, TYPE_ROWS, SqlType
from redask.core.sql.written.written_types import MULTIRANGES, RANGES

# typlen, typalign and typstorage; other types have varying length: -1, i, x
_LAYOUT = {
    "bool": (1, "c", "p"), "char": (1, "c", "p"), "name": (64, "c", "p"), "int8": (8, "d", "p"),
    "int2": (2, "s", "p"), "int4": (4, "i", "p"), "oid": (4, "i", "p"),
    "xid": (4, "i", "p"), "float4": (4, "i", "p"), "float8": (8, "d", "p"), "void": (4, "i", "p"),
    "unknown": (-2, "c", "p"), "date": (4, "i", "p"), "time": (8, "d", "p"),
    "timestamp": (8, "d", "p"), "timestamptz": (8, "d", "p"), "interval": (16, "d", "p"),
    "numeric": (-1, "i", "m"), "uuid": (16, "c", "p"), "record": (-1, "d", "x"),
    "int2vector": (-1, "i", "p"), "oidvector": (-1, "i", "p"),
    "timetz": (12, "d", "p"), "inet": (-1, "i", "m"), "cidr": (-1, "i", "m"),
    "macaddr": (6, "i", "p"), "point": (16, "d", "p"),
    **dict.fromkeys(("tsrange", "tstzrange", "int8range"), (-1, "d", "x")),
    **dict.fromkeys(("tsmultirange", "tstzmultirange", "int8multirange"), (-1, "d", "x")),
    **dict.fromkeys(REGISTERED, (4, "i", "p")),
}  # fmt: skip
_BY_REFERENCE = ("name", "interval", "uuid", "point")
_UNDERSCORED = """json date time timestamp timestamptz interval numeric record void uuid
    jsonb timetz inet cidr macaddr point""".split()
_MODIFIED = "bpchar varchar time timetz timestamp timestamptz interval numeric".split()
_ELEMENTS = {"name": 18, "int2vector": 21, "oidvector": 26, "point": 701}
_SUBSCRIPTS = {
    "name": "raw_array_subscript_handler",
    "point": "raw_array_subscript_handler",
    "jsonb": "jsonb_subscript_handler",
}
_PSEUDO = ("unknown", "record", "void")
COLLATION = 100
# the B-tree operator class that orders the bounds
_BOUND_ORDER = {
    "int4": 1978, "int8": 3124, "numeric": 3125, "date": 3122, "timestamp": 3128,
    "timestamptz": 3127,
}  # fmt: skip


def type_length(kind: SqlType) -> int:
    """PostgreSQL's typlen: bytes, -1 when it varies."""
    return -1 if kind.is_array else _LAYOUT.get(kind.name, (-1, "i", "x"))[0]


def by_value(kind: SqlType) -> bool:
    """PostgreSQL's typbyval."""
    return type_length(kind) in (1, 2, 4, 8) and kind.name not in _BY_REFERENCE


def alignment(kind: SqlType) -> str:
    """PostgreSQL's typalign."""
    own = _LAYOUT.get(kind.name, (-1, "i", "x"))[1]
    return own if not kind.is_array else "d" if own == "d" else "i"


def storage(kind: SqlType) -> str:
    """PostgreSQL's typstorage."""
    return "x" if kind.is_array else _LAYOUT.get(kind.name, (-1, "i", "x"))[2]


def collation(kind: SqlType) -> int:
    """PostgreSQL's typcollation: that of the database, or C for names."""
    if kind.name == "name":
        return 950
    return COLLATION if kind.name in ("text", "varchar", "bpchar") else 0


def type_rows() -> list[dict[str, object]]:
    """One row for each type and each array type, in the order of `TYPE_ROWS`."""
    rows = []
    for name, row in TYPE_ROWS.items():
        rows.append(_row(SqlType(name), name, _ELEMENTS.get(name, 0), row.array_oid))
        if row.array_oid:
            rows.append(_row(SqlType(name, (), True), f"_{name}", row.oid, 0))
    return rows


def range_rows() -> list[dict[str, object]]:
    """One row for each range type, with the type of its bounds and its multirange."""
    multiranges = {name: multirange for multirange, name in MULTIRANGES.items()}
    return [
        {
            "rngtypid": SqlType(name).oid, "rngsubtype": SqlType(bound).oid,
            "rngmultitypid": SqlType(multiranges[name]).oid, "rngcollation": 0,
            "rngsubopc": _BOUND_ORDER[bound],
            # only ranges of whole steps have one way to be written
            "rngcanonical": FUNCTIONS.get(f"{name}_canonical", 0),
            "rngsubdiff": FUNCTIONS[f"{name}_subdiff"],
        }
        for name, bound in RANGES.items()
    ]  # fmt: skip


def _row(kind: SqlType, name: str, element: int, array: int) -> dict[str, object]:
    calls = "array_" if kind.is_array else f"{name}_" if name in _UNDERSCORED else name
    family = "multirange" if name in MULTIRANGES else "range" if name in RANGES else ""
    calls = f"{family}_" if family else calls
    modified = kind.name in _MODIFIED
    is_pseudo = kind.name in _PSEUDO
    subscript = "array_subscript_handler" if element else ""
    if not kind.is_array:
        subscript = _SUBSCRIPTS.get(name, subscript)
    return {
        "oid": kind.oid, "typname": name, "typnamespace": SYSTEM, "typowner": OWNER,
        "typlen": type_length(kind), "typbyval": by_value(kind),
        "typtype": "p" if is_pseudo else family[:1] or "b",
        "typcategory": "P" if is_pseudo and kind.is_array else kind.category,
        "typispreferred": kind.preferred, "typisdefined": True, "typdelim": ",",
        "typelem": element, "typarray": array, "typinput": FUNCTIONS[f"{calls}in"],
        "typoutput": FUNCTIONS[f"{calls}out"], "typreceive": FUNCTIONS[f"{calls}recv"],
        "typsend": FUNCTIONS[f"{calls}send"],
        "typmodin": FUNCTIONS[f"{kind.name}typmodin"] if modified else 0,
        "typmodout": FUNCTIONS[f"{kind.name}typmodout"] if modified else 0,
        "typanalyze": FUNCTIONS[f"{calls}typanalyze"] if kind.is_array or family else 0,
        "typsubscript": FUNCTIONS[subscript] if subscript else 0,
        "typalign": alignment(kind), "typstorage": storage(kind), "typtypmod": -1,
        "typcollation": collation(kind),
    }  # fmt: skip
