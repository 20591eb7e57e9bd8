"""The types that are reported to clients: their OIDs, and one row for each in TYPES.

What is announced must have an encoding in `types`, in text and in binary; the numbers, names,
sizes and categories are PostgreSQL's own, where clients have them built in.
"""

from dataclasses import dataclass

from redask.core.sql.types import SqlType
from redask.core.sql.written import written_types

BOOL, BYTEA, CHAR, NAME, INT8, INT2, INT2VECTOR, INT4 = 16, 17, 18, 19, 20, 21, 22, 23
REGPROC, TEXT, OID, TID, XID, CID, OIDVECTOR, JSON = 24, 25, 26, 27, 28, 29, 30, 114
FLOAT4, FLOAT8, UNKNOWN, BPCHAR, VARCHAR = 700, 701, 705, 1042, 1043
DATE, TIME, TIMESTAMP, TIMESTAMPTZ, NUMERIC = 1082, 1083, 1114, 1184, 1700
REGCLASS, REGTYPE, UUID_OID, JSONB, VOID, REGNAMESPACE = 2205, 2206, 2950, 3802, 2278, 4089
TEXT_ARRAY, INT2_ARRAY, INT4_ARRAY, INT8_ARRAY, OID_ARRAY = 1009, 1005, 1007, 1016, 1028
NAME_ARRAY, CHAR_ARRAY, BOOL_ARRAY, FLOAT8_ARRAY, VARCHAR_ARRAY = 1003, 1002, 1000, 1022, 1015
INTERVAL = 1186
POINT, CIDR, MACADDR, INET, TIMETZ = 600, 650, 829, 869, 1266
# ranges and multiranges: their OIDs by name
RANGE_OIDS = {
    name: SqlType(name).oid for name in (*written_types.RANGES, *written_types.MULTIRANGES)
}


@dataclass(frozen=True, slots=True)
class WireType:
    """A row of the table of types: `size` is -1 when it varies, `items` the OID of an array's."""

    oid: int
    name: str
    size: int
    category: str
    array: int = 0
    items: int = 0


TYPES = {
    row.oid: row
    for row in (
        WireType(BOOL, "bool", 1, "B", BOOL_ARRAY),
        WireType(BYTEA, "bytea", -1, "U", 1001),
        WireType(CHAR, "char", 1, "Z", CHAR_ARRAY),
        WireType(NAME, "name", 64, "S", NAME_ARRAY),
        WireType(INT8, "int8", 8, "N", INT8_ARRAY),
        WireType(INT2, "int2", 2, "N", INT2_ARRAY),
        WireType(INT2VECTOR, "int2vector", -1, "A", 1006, INT2),
        WireType(INT4, "int4", 4, "N", INT4_ARRAY),
        WireType(REGPROC, "regproc", 4, "N", 1008),
        WireType(TEXT, "text", -1, "S", TEXT_ARRAY),
        WireType(OID, "oid", 4, "N", OID_ARRAY),
        WireType(XID, "xid", 4, "U", 1011),
        WireType(CID, "cid", 4, "U", 1012),
        WireType(OIDVECTOR, "oidvector", -1, "A", 1013, OID),
        WireType(JSON, "json", -1, "U", 199),
        WireType(FLOAT4, "float4", 4, "N", 1021),
        WireType(FLOAT8, "float8", 8, "N", FLOAT8_ARRAY),
        WireType(UNKNOWN, "unknown", -2, "X"),
        WireType(BPCHAR, "bpchar", -1, "S", 1014),
        WireType(VARCHAR, "varchar", -1, "S", VARCHAR_ARRAY),
        WireType(DATE, "date", 4, "D", 1182),
        WireType(TIME, "time", 8, "D", 1183),
        WireType(TIMESTAMP, "timestamp", 8, "D", 1115),
        WireType(TIMESTAMPTZ, "timestamptz", 8, "D", 1185),
        WireType(INTERVAL, "interval", 16, "T", 1187),
        WireType(NUMERIC, "numeric", -1, "N", 1231),
        WireType(REGCLASS, "regclass", 4, "N", 2210),
        WireType(REGTYPE, "regtype", 4, "N", 2211),
        WireType(UUID_OID, "uuid", 16, "U", 2951),
        WireType(VOID, "void", 4, "P"),
        WireType(JSONB, "jsonb", -1, "U", 3807),
        WireType(REGNAMESPACE, "regnamespace", 4, "N", 4090),
        WireType(BOOL_ARRAY, "_bool", -1, "A", items=BOOL),
        WireType(CHAR_ARRAY, "_char", -1, "A", items=CHAR),
        WireType(NAME_ARRAY, "_name", -1, "A", items=NAME),
        WireType(INT2_ARRAY, "_int2", -1, "A", items=INT2),
        WireType(INT4_ARRAY, "_int4", -1, "A", items=INT4),
        WireType(TEXT_ARRAY, "_text", -1, "A", items=TEXT),
        WireType(VARCHAR_ARRAY, "_varchar", -1, "A", items=VARCHAR),
        WireType(INT8_ARRAY, "_int8", -1, "A", items=INT8),
        WireType(FLOAT8_ARRAY, "_float8", -1, "A", items=FLOAT8),
        WireType(OID_ARRAY, "_oid", -1, "A", items=OID),
        WireType(199, "_json", -1, "A", items=JSON),
        WireType(1014, "_bpchar", -1, "A", items=BPCHAR),
        WireType(1021, "_float4", -1, "A", items=FLOAT4),
        WireType(1115, "_timestamp", -1, "A", items=TIMESTAMP),
        WireType(1182, "_date", -1, "A", items=DATE),
        WireType(1183, "_time", -1, "A", items=TIME),
        WireType(1185, "_timestamptz", -1, "A", items=TIMESTAMPTZ),
        WireType(1187, "_interval", -1, "A", items=INTERVAL),
        WireType(1231, "_numeric", -1, "A", items=NUMERIC),
        WireType(2951, "_uuid", -1, "A", items=UUID_OID),
        WireType(3807, "_jsonb", -1, "A", items=JSONB),
        WireType(POINT, "point", 16, "G", 1017),
        WireType(CIDR, "cidr", -1, "I", 651),
        WireType(MACADDR, "macaddr", 6, "U", 1040),
        WireType(INET, "inet", -1, "I", 1041),
        WireType(TIMETZ, "timetz", 12, "D", 1270),
        *(
            WireType(oid, name, -1, "R", SqlType(name).array.oid)
            for name, oid in RANGE_OIDS.items()
        ),
        *(
            WireType(SqlType(name).array.oid, f"_{name}", -1, "A", items=SqlType(name).oid)
            for name in sorted(written_types.WRITTEN)
        ),
        WireType(1011, "_xid", -1, "A", items=XID),
    )
}


_NAMED = (REGPROC, REGCLASS, REGTYPE, REGNAMESPACE)


def type_oid(kind: str) -> int:
    """The OID of a column's type as a selector names it; text for one that is not encoded here.

    A column of regclass or its like is text: a selector gives names, and in binary they are OIDs.
    """
    oid = parameter_oid(kind)
    return TEXT if oid in _NAMED else oid


def parameter_oid(kind: str) -> int:
    """The OID of a parameter's type."""
    oid = SqlType.parse(kind).oid
    return oid if oid in TYPES else TEXT


def size(oid: int) -> int:
    """How many bytes a value of the type has, as RowDescription says it; -1 when that varies."""
    known = TYPES.get(oid)
    return -1 if known is None else known.size
