"""OIDs and the names they stand for: tables, schemas, types.

A table's OID is made of its name alone: the same on every connection, whatever else there is.
Types and PostgreSQL's own tables have PostgreSQL's numbers.
"""

import hashlib
import re
from collections.abc import Sequence

from redask.core.errors import SqlError
from redask.core.sql.catalogue.system_ids import FUNCTIONS, OTHER_TYPES, SYSTEM_TABLES
from redask.core.sql.types import BY_OID, TYPE_ROWS, SqlType

OWNER, PUBLIC, SYSTEM, INFORMATION = 10, 2200, 11, 13_000
SCHEMAS = {"pg_catalog": SYSTEM, "public": PUBLIC, "information_schema": INFORMATION}
FIRST, FIRST_INDEX = 16_384, 16_384 + (1 << 30)
_OTHER_NAMES = {
    "int": "int4", "integer": "int4", "bigint": "int8", "smallint": "int2", "decimal": "numeric",
    "real": "float4", "float": "float8", "character": "bpchar",
}  # fmt: skip
_BY_SQL_NAME = {row.sql_name: name for name, row in TYPE_ROWS.items()}
_OTHER_NUMBERS = {name: oid for oid, name in OTHER_TYPES.items()}
_MODIFIED = re.compile(r"(.+?)\s*\((\s*\d+\s*(?:,\s*\d+\s*)*)\)(.*)", re.S)
_PART = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^\W\d][\w$]*))\s*(?:\.|\Z)')


def numbered(names: Sequence[str], first: int = FIRST) -> dict[str, int]:
    """The OID of each table, or of each of what is numbered from another `first` on."""
    taken: dict[int, str] = {}
    for name in sorted(names):
        digest = hashlib.sha256(name.encode()).digest()
        oid = first + int.from_bytes(digest[:4], "big") % (1 << 30)
        while oid in taken:
            oid += 1
        taken[oid] = name
    return {name: oid for oid, name in taken.items()}


def name_parts(text: str) -> list[str]:
    """The parts of a name as it stands in SQL, folded where it has no quotes."""
    parts, at = [], 0
    while at < len(text):
        found = _PART.match(text, at)
        if found is None or found.end() == at:
            raise SqlError("42602", "invalid name syntax")
        parts.append(found[1].replace('""', '"') if found[1] is not None else found[2].lower())
        at = found.end()
    if not parts or text.rstrip().endswith("."):
        raise SqlError("42602", "invalid name syntax")
    return parts


def identifier_parts(text: str) -> list[str]:
    """parse_ident(): the parts of a name; 22023 where it is none."""
    try:
        return name_parts(text)
    except SqlError:
        raise SqlError("22023", f'string is not a valid identifier: "{text}"') from None


def relation_name(text: str) -> str:
    """The last part of a table's name, without the schemas that the catalogue has."""
    parts = name_parts(text)
    if len(parts) > 1 and parts[-2] not in SCHEMAS:
        raise SqlError("42P01", f'relation "{text}" does not exist')
    return parts[-1]


def system_relation(oid: int) -> str:
    """The name of a table of PostgreSQL's own; the number when there is none."""
    known = next((name for name, own in SYSTEM_TABLES.items() if own == oid), None)
    return known or ("-" if oid == 0 else str(oid))


def system_number(text: str) -> int | None:
    """The OID of a table of PostgreSQL's own by its name, or None."""
    parts = name_parts(text)
    is_system = len(parts) == 1 or parts[-2] == "pg_catalog"
    return SYSTEM_TABLES.get(parts[-1]) if is_system else None


def modifier_number(kind: SqlType) -> int:
    """PostgreSQL's atttypmod; -1 without a modifier."""
    if not kind.modifier:
        return -1
    if kind.name == "numeric":
        return (kind.modifier[0] << 16 | kind.modifier[1]) + 4
    return kind.modifier[0] + 4 if kind.name in ("varchar", "bpchar") else kind.modifier[0]


def format_type(oid: int | None, modifier: int | None) -> str | None:
    """format_type(): the name of a type in SQL; ??? for one that there is not."""
    if oid is None:
        return None
    if oid == 0:
        return "-"
    known = BY_OID.get(oid)
    if known is None:
        return OTHER_TYPES.get(oid, "???")
    if modifier is None or modifier < 4 or known.name not in ("numeric", "varchar", "bpchar"):
        if known.name == "bpchar" and modifier is not None:
            return f"bpchar{'[]' if known.is_array else ''}"
        return known.sql_name
    own = modifier - 4
    if not own and known.name != "numeric":
        return known.sql_name
    digits = (own >> 16 & 0xFFFF, own & 0x7FF) if known.name == "numeric" else (own,)
    return SqlType(known.name, digits, known.is_array).sql_name


def type_number(text: str) -> int:
    """The OID of a type by its name in SQL; 42704 when there is none."""
    found = find_type(text)
    if found is None:
        raise SqlError("42704", f'type "{text}" does not exist')
    return found


def find_type(text: str) -> int | None:
    """The OID of a type by its name in SQL, or None."""
    plain = text.strip()
    if plain.isdecimal():
        return int(plain)
    if plain == "-":
        return 0
    modified = _MODIFIED.fullmatch(plain)
    if modified is not None:
        plain = f"{modified[1]}{modified[3]}"
    is_array = plain.endswith("[]")
    plain = " ".join(plain.removesuffix("[]").split())
    lower = plain.lower()
    name = _OTHER_NAMES.get(lower) or _BY_SQL_NAME.get(lower)
    if name is None:
        try:
            parts = name_parts(plain)
        except SqlError:
            return None
        if len(parts) > 2 or (len(parts) == 2 and parts[0] != "pg_catalog"):
            return None
        name = parts[-1]
        if name.startswith("_") and name[1:] in TYPE_ROWS:
            name, is_array = name[1:], True
    if name not in TYPE_ROWS:
        return None if is_array else _OTHER_NUMBERS.get(name)
    row = TYPE_ROWS[name]
    return (row.array_oid or None) if is_array else row.oid


def schema_number(text: str) -> int:
    """The OID of a schema by its name; 3F000 when there is none."""
    if text.strip().isdecimal():
        return int(text)
    name = name_parts(text)[-1]
    if name not in SCHEMAS:
        raise SqlError("3F000", f'schema "{name}" does not exist')
    return SCHEMAS[name]


def schema_name(oid: int) -> str:
    """The name of a schema; the number when there is none."""
    known = next((name for name, own in SCHEMAS.items() if own == oid), None)
    return known or ("-" if oid == 0 else str(oid))


# what there is nothing of here, so that no name is one of these
NOTHING_NAMED = {
    "regoper": "operator",
    "regoperator": "operator",
    "regconfig": "text search configuration",
    "regdictionary": "text search dictionary",
    "regcollation": "collation",
}


def no_number(kind: str, text: str) -> int:
    """The OID that a text means where nothing has a name: a number, or none; 42704 else."""
    if text.strip().isdecimal():
        return int(text)
    if text == "-":
        return 0
    raise SqlError("42704", f'{NOTHING_NAMED[kind]} "{text}" does not exist')


def number_text(oid: int) -> str:
    """An OID that nothing is called by."""
    return str(oid) if oid else "-"


def function_number(text: str) -> int:
    """The OID of a function by its name; 42883 when there is none."""
    if text.strip().isdecimal():
        return int(text)
    name = text if text == "-" else name_parts(text)[-1]
    if name != "-" and name not in FUNCTIONS:
        raise SqlError("42883", f'function "{text}" does not exist')
    return FUNCTIONS.get(name, 0)


def procedure_number(text: str) -> int:
    """The OID of a function by its name and the types of its arguments, which tell nothing more."""
    return function_number(text.partition("(")[0].strip())


def function_name(oid: int) -> str:
    """The name of a function; the number when there is none."""
    known = next((name for name, own in FUNCTIONS.items() if own == oid), None)
    return known or ("-" if oid == 0 else str(oid))
