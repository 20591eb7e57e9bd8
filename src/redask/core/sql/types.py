"""PostgreSQL's types: `SqlType`, a name with its modifier, and `TYPE_ROWS`, what is known of each.

    SqlType.parse("numeric(18,2)")     name numeric, modifier (18, 2)
    SqlType.parse("int4[]")            an array of int4
    str(type)                          the same text again

Names are PostgreSQL's own short ones (`int4`, `timestamptz`). A type is kept in DuckDB as
`duckdb_type` says:

    numeric(p,s)      DECIMAL(p,s), when the scale of every value is the same
    numeric           VARCHAR in PostgreSQL's spelling: each value has its own scale (a quotient)
    timestamptz       TIMESTAMP in UTC, whatever the session's time zone is
    json, jsonb       VARCHAR in PostgreSQL's spelling
    name, bpchar …    VARCHAR
    bytea, inet, ranges …   VARCHAR in PostgreSQL's spelling (`written`)
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

_TEXT = re.compile(r'"?([a-z_][a-z0-9_]*)"?(?:\((\d+(?:,\d+)*)\))?(\[\])?\Z')


class TypeRow(NamedTuple):
    """What PostgreSQL says of a type, and how it is kept in DuckDB."""

    oid: int
    array_oid: int
    category: str
    preferred: bool
    sql_name: str  # as format_type() writes it
    duckdb: str


TYPE_ROWS: dict[str, TypeRow] = {
    "bool": TypeRow(16, 1000, "B", True, "boolean", "BOOLEAN"),
    "bytea": TypeRow(17, 1001, "U", False, "bytea", "VARCHAR"),
    "char": TypeRow(18, 1002, "Z", False, '"char"', "VARCHAR"),
    "name": TypeRow(19, 1003, "S", False, "name", "VARCHAR"),
    "int8": TypeRow(20, 1016, "N", False, "bigint", "BIGINT"),
    "int2": TypeRow(21, 1005, "N", False, "smallint", "SMALLINT"),
    "int4": TypeRow(23, 1007, "N", False, "integer", "INTEGER"),
    "regproc": TypeRow(24, 1008, "N", False, "regproc", "BIGINT"),
    "text": TypeRow(25, 1009, "S", True, "text", "VARCHAR"),
    "oid": TypeRow(26, 1028, "N", True, "oid", "BIGINT"),
    "xid": TypeRow(28, 1011, "U", False, "xid", "BIGINT"),
    "json": TypeRow(114, 199, "U", False, "json", "VARCHAR"),
    "point": TypeRow(600, 1017, "G", False, "point", "VARCHAR"),
    "cidr": TypeRow(650, 651, "I", False, "cidr", "VARCHAR"),
    "float4": TypeRow(700, 1021, "N", False, "real", "FLOAT"),
    "float8": TypeRow(701, 1022, "N", True, "double precision", "DOUBLE"),
    "unknown": TypeRow(705, 0, "X", False, "unknown", "VARCHAR"),
    "macaddr": TypeRow(829, 1040, "U", False, "macaddr", "VARCHAR"),
    "inet": TypeRow(869, 1041, "I", True, "inet", "VARCHAR"),
    "bpchar": TypeRow(1042, 1014, "S", False, "character", "VARCHAR"),
    "varchar": TypeRow(1043, 1015, "S", False, "character varying", "VARCHAR"),
    "date": TypeRow(1082, 1182, "D", False, "date", "DATE"),
    "time": TypeRow(1083, 1183, "D", False, "time without time zone", "TIME"),
    "timestamp": TypeRow(1114, 1115, "D", False, "timestamp without time zone", "TIMESTAMP"),
    "timestamptz": TypeRow(1184, 1185, "D", True, "timestamp with time zone", "TIMESTAMP"),
    "interval": TypeRow(1186, 1187, "T", True, "interval", "INTERVAL"),
    "timetz": TypeRow(1266, 1270, "D", False, "time with time zone", "VARCHAR"),
    "numeric": TypeRow(1700, 1231, "N", False, "numeric", "VARCHAR"),
    "regprocedure": TypeRow(2202, 2207, "N", False, "regprocedure", "BIGINT"),
    "regoper": TypeRow(2203, 2208, "N", False, "regoper", "BIGINT"),
    "regoperator": TypeRow(2204, 2209, "N", False, "regoperator", "BIGINT"),
    "regconfig": TypeRow(3734, 3735, "N", False, "regconfig", "BIGINT"),
    "regdictionary": TypeRow(3769, 3770, "N", False, "regdictionary", "BIGINT"),
    "regcollation": TypeRow(4191, 4192, "N", False, "regcollation", "BIGINT"),
    "regclass": TypeRow(2205, 2210, "N", False, "regclass", "BIGINT"),
    "regtype": TypeRow(2206, 2211, "N", False, "regtype", "BIGINT"),
    "regnamespace": TypeRow(4089, 4090, "N", False, "regnamespace", "BIGINT"),
    "uuid": TypeRow(2950, 2951, "U", False, "uuid", "UUID"),
    "jsonb": TypeRow(3802, 3807, "U", False, "jsonb", "VARCHAR"),
    "int4range": TypeRow(3904, 3905, "R", False, "int4range", "VARCHAR"),
    "numrange": TypeRow(3906, 3907, "R", False, "numrange", "VARCHAR"),
    "tsrange": TypeRow(3908, 3909, "R", False, "tsrange", "VARCHAR"),
    "tstzrange": TypeRow(3910, 3911, "R", False, "tstzrange", "VARCHAR"),
    "daterange": TypeRow(3912, 3913, "R", False, "daterange", "VARCHAR"),
    "int8range": TypeRow(3926, 3927, "R", False, "int8range", "VARCHAR"),
    "int4multirange": TypeRow(4451, 6150, "R", False, "int4multirange", "VARCHAR"),
    "nummultirange": TypeRow(4532, 6151, "R", False, "nummultirange", "VARCHAR"),
    "tsmultirange": TypeRow(4533, 6152, "R", False, "tsmultirange", "VARCHAR"),
    "tstzmultirange": TypeRow(4534, 6153, "R", False, "tstzmultirange", "VARCHAR"),
    "datemultirange": TypeRow(4535, 6155, "R", False, "datemultirange", "VARCHAR"),
    "int8multirange": TypeRow(4536, 6157, "R", False, "int8multirange", "VARCHAR"),
    "record": TypeRow(2249, 2287, "P", False, "record", "STRUCT"),
    "void": TypeRow(2278, 0, "P", False, "void", "VARCHAR"),
    "int2vector": TypeRow(22, 1006, "A", False, "int2vector", "SMALLINT[]"),
    "oidvector": TypeRow(30, 1013, "A", False, "oidvector", "BIGINT[]"),
}
REGISTERED = tuple(name for name in TYPE_ROWS if name.startswith("reg"))  # OIDs that show names


@dataclass(frozen=True, slots=True)
class SqlType:
    """A type with its modifier: (precision, scale) of numeric, (length,) of varchar and bpchar."""

    name: str
    modifier: tuple[int, ...] = ()
    is_array: bool = False

    @staticmethod
    @cache
    def parse(text: str) -> "SqlType":
        """The type that `str` wrote; ValueError for any other text."""
        found = _TEXT.match(text)
        if found is None or found[1] not in TYPE_ROWS:
            raise ValueError(f"no such type: {text!r}")
        modifier = tuple(int(each) for each in found[2].split(",")) if found[2] else ()
        return SqlType(found[1], modifier, found[3] is not None)

    def __str__(self) -> str:
        modifier = f"({','.join(map(str, self.modifier))})" if self.modifier else ""
        return f"{self.name}{modifier}{'[]' if self.is_array else ''}"

    @property
    def oid(self) -> int:
        row = TYPE_ROWS[self.name]
        return row.array_oid if self.is_array else row.oid

    @property
    def category(self) -> str:
        """PostgreSQL's typcategory."""
        return "A" if self.is_array else TYPE_ROWS[self.name].category

    @property
    def preferred(self) -> bool:
        """PostgreSQL's typispreferred."""
        return not self.is_array and TYPE_ROWS[self.name].preferred

    @property
    def element(self) -> "SqlType":
        """The type of an array's elements."""
        return replace(self, is_array=False)

    @property
    def array(self) -> "SqlType":
        """The array type of these elements."""
        return replace(self, is_array=True)

    @property
    def bare(self) -> "SqlType":
        """The type without its modifier."""
        return replace(self, modifier=()) if self.modifier else self

    @property
    def sql_name(self) -> str:
        """As PostgreSQL's messages and format_type() write it."""
        modifier = f"({','.join(map(str, self.modifier))})" if self.modifier else ""
        return f"{TYPE_ROWS[self.name].sql_name}{modifier}{'[]' if self.is_array else ''}"

    @property
    def duckdb_type(self) -> str:
        """The DuckDB type that holds its values."""
        one = TYPE_ROWS[self.name].duckdb
        if self.name == "numeric" and self.modifier:
            one = f"DECIMAL({self.modifier[0]},{self.modifier[1]})"
        return f"{one}[]" if self.is_array else one


BY_OID: dict[int, SqlType] = {
    **{row.oid: SqlType(name) for name, row in TYPE_ROWS.items()},
    **{row.array_oid: SqlType(name, (), True) for name, row in TYPE_ROWS.items() if row.array_oid},
}
