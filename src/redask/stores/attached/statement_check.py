"""Whether a statement may run in a source, and its text there: `fault(sql, …)`, `with_tables`.

It is a SELECT that was bound to the caller's tables already: names, types, functions are known. In
the source there is more: other tables, functions that read files or change the role. So the tree is
looked at once more, as PostgreSQL's own parser gives it:

    one SELECT, that writes and locks nothing, and takes no parameter
    tables without a schema: those that are put before it, and its own WITH
    functions of `FUNCTIONS`, without a schema or of pg_catalog
    no type that looks names up (regclass and its like); no system column, no `urn`
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from redask.stores.attached.attachment import AttachedTable
from redask.stores.attached.source_types import quoted
from redask.stores.columnar.statements.canonical_text import plain_text
from redask.stores.columnar.statements.parsing import parse

FUNCTIONS = frozenset(
    """abs array_agg array_length array_position avg bool_and bool_or btrim cardinality ceil ceiling
    char_length character_length concat concat_ws corr count cume_dist date_part date_trunc
    dense_rank every exp extract first_value floor format initcap lag last_value lead left length
    like_escape ln log lower lpad ltrim make_date max min mod mode nth_value ntile overlay
    percent_rank percentile_cont percentile_disc position power rank regexp_replace repeat replace
    reverse right round row_number rpad rtrim sign split_part sqrt starts_with stddev stddev_pop
    stddev_samp string_agg strpos substr substring sum timezone to_char translate trim trunc unnest
    upper var_pop var_samp variance""".split()
)
_SYSTEM = frozenset("ctid tableoid xmin xmax cmin cmax urn".split())
_NOT_ALLOWED = {
    "lockingClause": "it locks rows",
    "intoClause": "it makes a table",
    "ParamRef": "it has parameters",
    "SQLValueFunction": "it depends on the clock or on the session",
    "RangeFunction": "it reads from a function",
    "RangeTableSample": "it reads a sample, which differs each time",
    "XmlExpr": "it makes XML",
    "InsertStmt": "it writes",
    "UpdateStmt": "it writes",
    "DeleteStmt": "it writes",
    "MergeStmt": "it writes",
}


def fault(sql: str, tables: Mapping[str, AttachedTable]) -> str | None:
    """Why a statement over these tables is not run in the source; None if it is."""
    statements = parse(sql).get("stmts", [])
    if len(statements) != 1 or set(statements[0]["stmt"]) != {"SelectStmt"}:
        return "only one SELECT is run in the attached database"
    nodes = list(_nodes(statements[0]["stmt"]))
    own = {value["ctename"] for key, value in nodes if key == "CommonTableExpr"}
    taken = own & set(tables)
    if taken:
        return f"WITH names {min(taken)!a}, which is a table"
    with_ids = all("id" in {each.name for each in table.columns} for table in tables.values())
    for key, value in nodes:
        wrong = _NOT_ALLOWED.get(key) or _wrong(key, value, {*tables, *own}, with_ids)
        if wrong:
            return wrong
    return None


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table as a query; `is_filtered`: it leaves rows out."""

    query: str
    is_filtered: bool = False


def with_tables(sql: str, tables: Mapping[str, ShownTable]) -> str:
    """The statement with these tables before it.

    One that leaves rows out is materialized: no condition of the statement is looked at for a row
    that the caller may not read, where a division by zero would tell of it.
    """
    shown = ", ".join(
        f"{quoted(name)} AS {'MATERIALIZED ' if each.is_filtered else ''}({each.query})"
        for name, each in sorted(tables.items())
    )
    text = plain_text(sql)
    for opening in ("WITH RECURSIVE ", "WITH "):
        if text.startswith(opening):
            return f"{opening}{shown}, {text[len(opening) :]}"
    return f"WITH {shown} {text}"


def _wrong(key: str, value: Any, known: set[str], with_ids: bool) -> str | None:
    if key == "RangeVar":
        name = value.get("relname", "")
        if value.get("schemaname") or value.get("catalogname"):
            return f"it names the schema of {name!a}: leave it out"
        return None if name in known else f"it reads {name!a}, which is not attached"
    if key == "FuncCall":
        names = [each["String"].get("sval", "") for each in value["funcname"]]
        if names[-1] not in FUNCTIONS or names[:-1] not in ([], ["pg_catalog"]):
            return f"it calls {'.'.join(names)}(), which is not run in an attached database"
    if key in ("TypeName", "typeName"):
        names = [each["String"].get("sval", "") for each in value.get("names", ())]
        if any(each.startswith("reg") for each in names) or names[:-1] not in ([], ["pg_catalog"]):
            return f"it casts to {'.'.join(names)}"
    if key == "A_Expr" and len(value.get("name", ())) > 1:
        return "it names the schema of an operator"
    if key == "ColumnRef":
        last = value["fields"][-1].get("String", {}).get("sval")
        if last in _SYSTEM or (last == "id" and not with_ids):
            return f"it reads {last!a}, which no row has in the attached database"
    return None


def _nodes(tree: Any) -> Iterator[tuple[str, Any]]:
    """Every node of a tree with its name, without recursion: a statement may be deep."""
    rest: list[Any] = [tree]
    while rest:
        here = rest.pop()
        if isinstance(here, dict):
            for key, value in here.items():
                yield key, value
                rest.append(value)
        elif isinstance(here, list):
            rest.extend(here)
