"""The second check of a statement: DuckDB reads the text that we generated, and we read its tree.

The binder writes the text from an allow-list, so this must never refuse anything: if it does, the
statement is not run. Checked are the kinds of nodes, the names of functions, and the tables: those
of the caller, the queries of WITH, nothing else. One statement, no table by a file's name.
"""

import json
import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from redask.core.errors import SqlError
from redask.core.sql.runtime.runtime_table import RUNTIME

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_FUNCTIONS = frozenset(
    """% & * + - / // abs acos and arg_max arg_min array_agg ascii asin atan atan2 avg bit_and
    bit_length bit_or bit_xor bool_and bool_or cbrt ceil concat_ws cos cot count count_star
    cume_dist date_part date_trunc degrees dense_rank epoch_us error exp first_value floor gcd
    generate_series greatest isfinite isinf isnan lag last_value lcm lead least left len length
    like_escape list list_append list_avg list_concat list_contains list_extract list_filter
    list_has_all list_has_any list_position list_prepend list_reduce list_sum list_transform
    list_value ln log10 lower lpad ltrim make_timestamp max md5 min not_like_escape now
    nth_value ntile nullif percent_rank pi pow radians rank regexp_extract regexp_extract_all
    regexp_matches regexp_replace replace right round round_even row row_number rpad rtrim sign
    sin sqrt starts_with string_agg string_split_regex strlen strpos struct_extract struct_pack
    substring sum tan to_days to_microseconds to_months translate trim trunc unnest upper xor |
    || ~""".split()
)
_TABLE_FUNCTIONS = frozenset(("generate_series", "unnest"))
_NODES = frozenset(
    """SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE CTE_NODE EMPTY BASE_TABLE SUBQUERY JOIN
    TABLE_FUNCTION EXPRESSION_LIST COLUMN_REF VALUE_CONSTANT VALUE_PARAMETER FUNCTION CASE_EXPR
    OPERATOR_CAST OPERATOR_IS_NULL OPERATOR_IS_NOT_NULL OPERATOR_NOT OPERATOR_COALESCE
    OPERATOR_NULLIF COMPARE_IN COMPARE_NOT_IN COMPARE_EQUAL COMPARE_NOTEQUAL COMPARE_LESSTHAN
    COMPARE_GREATERTHAN COMPARE_LESSTHANOREQUALTO COMPARE_GREATERTHANOREQUALTO
    COMPARE_DISTINCT_FROM COMPARE_NOT_DISTINCT_FROM COMPARE_BETWEEN CONJUNCTION_AND CONJUNCTION_OR
    GROUPING_FUNCTION LAMBDA STAR TYPE POSITIONAL_REFERENCE ARRAY_EXTRACT ARRAY_CONSTRUCTOR
    ORDER_MODIFIER LIMIT_MODIFIER DISTINCT_MODIFIER ASCENDING DESCENDING ORDER_DEFAULT
    WINDOW_AGGREGATE WINDOW_RANK WINDOW_RANK_DENSE WINDOW_NTILE WINDOW_PERCENT_RANK
    WINDOW_CUME_DIST WINDOW_ROW_NUMBER WINDOW_FIRST_VALUE WINDOW_LAST_VALUE WINDOW_LEAD WINDOW_LAG
    WINDOW_NTH_VALUE""".split()
)
_OURS = re.compile("w[0-9]+")  # how the binder names a query of WITH
_REFUSED = "the statement is not supported"


def check_generated(cursor: "DuckDBPyConnection", text: str, tables: Collection[str]) -> None:
    """Refuse a text that is anything but what the binder writes."""
    found = cursor.execute("SELECT json_serialize_sql($1)", [text]).fetchone()
    tree: dict[str, Any] = _read(found[0]) if found else {"error": True}
    if tree.get("error") or len(tree.get("statements", [])) != 1:
        raise SqlError("0A000", _REFUSED)
    fault = tree_fault(tree, frozenset(tables))
    if fault is not None:
        raise SqlError("0A000", f"{_REFUSED} ({fault})")


def _read(text: str) -> Any:
    """The JSON of a tree; a deep one is read without recursion, which is slower."""
    try:
        return json.loads(text)
    except RecursionError:
        return read_deep(text)


def read_deep(text: str) -> Any:
    """JSON as DuckDB writes it, however deep."""
    decode = json.JSONDecoder().raw_decode
    root: list[Any] = []
    stack: list[tuple[Any, str | None]] = [(root, None)]
    place = 0
    while place < len(text):
        sign = text[place]
        holder, key = stack[-1]
        if sign in "]}":
            stack.pop()
            place += 1
            continue
        if sign in ",: \n":
            place += 1
            continue
        if sign in "[{":
            value: Any = [] if sign == "[" else {}
            place += 1
        else:
            value, place = decode(text, place)
        if isinstance(holder, list):
            holder.append(value)
        elif key is None:
            stack[-1] = (holder, value)
            continue
        else:
            holder[key] = value
            stack[-1] = (holder, None)
        if sign in "[{":
            stack.append((value, None))
    return root[0]


def tree_fault(tree: object, tables: frozenset[str]) -> str | None:
    """What in the tree may not be there; None when nothing is."""
    names = {_path(table) for table in tables}
    with_names: set[str] = set()
    found: list[dict[str, Any]] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            for entry in node.get("cte_map", {}).get("map", []) if "cte_map" in node else []:
                if not _OURS.fullmatch(entry["key"]):  # inside itself it could be a table's name
                    return "with"
                with_names.add(entry["key"])
            found.append(node)
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
    for node in found:
        fault = _node_fault(node, names, with_names)
        if fault is not None:
            return fault
    return None


def _node_fault(
    node: dict[str, Any], names: set[tuple[str, ...]], with_names: set[str]
) -> str | None:
    kind = node.get("type")
    if isinstance(kind, str) and kind not in _NODES:  # SHOW TABLES is a table without a class
        return kind.lower()
    if node.get("sample") or node.get("at_clause") or node.get("qualify"):
        return "sample"
    if kind == "BASE_TABLE":
        path = tuple(node["qualified_name"]["path"])
        if path not in names and not (len(path) == 1 and path[0] in with_names):
            return "table"
    if kind == "TABLE_FUNCTION" and node["function"]["function_name"] not in _TABLE_FUNCTIONS:
        return "table function"
    if "function_name" in node:
        name = node["function_name"]
        if node.get("schema") or node.get("catalog") or len(node["qualified_name"]["path"]) != 1:
            return "function"
        if name not in _FUNCTIONS and name not in RUNTIME:
            return f"function {name}"
    return None


def _path(name: str) -> tuple[str, ...]:
    return tuple(part.strip('"') for part in name.split("."))
