"""One expression: `Expressions(context, scope, clause).bind(node)` → `Bound`.

Each kind of node of PostgreSQL's tree has a method here, in `comparisons` or in `calls`; any other
kind is refused by name. `clause` says where the expression stands and what may be in it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from redask.core.sql.binder import comparisons
from redask.core.sql.binder.bound import (
    BOOL,
    INT4,
    INT8,
    NUMERIC,
    TEXT,
    UNKNOWN,
    Bound,
    TreeNode,
    fail,
    is_literal,
    made,
    once,
    only,
    quoted,
    unsupported,
)
from redask.core.sql.binder.coercion import constant
from redask.core.sql.binder.context import BindingContext
from redask.core.sql.binder.function_calls import bind_call
from redask.core.sql.binder.namespace import Scope
from redask.core.sql.binder.output_names import VALUE_FUNCTIONS
from redask.core.sql.binder.type_names import read_type
from redask.core.sql.casting import shown_constants, written_rules
from redask.core.sql.casting.zoned_calls import zoned_operator
from redask.core.sql.catalogue.vectors import as_array
from redask.core.sql.functions import array_functions, operator_rows
from redask.core.sql.functions.overloads import AMBIGUOUS, Overload, choose
from redask.core.sql.runtime.dates.time_zones import to_local
from redask.core.sql.types import SqlType

_C_COLLATIONS = frozenset(("C", "POSIX", "default", "ucs_basic", "C.UTF-8", "C.utf8"))
_NEW_NUMBER = re.compile(rb"-?\s*(0[xXoObB][0-9a-zA-Z_]*|[0-9.]+_[0-9_a-zA-Z]*)")
HINT = (
    "No operator matches the given name and argument types. "
    "You might need to add explicit type casts."
)


@dataclass(frozen=True, slots=True)
class ExpressionClause:
    """Where an expression stands."""

    name: str
    aggregates: bool = False
    windows: bool = False
    sets: bool = False
    in_aggregate: bool = False


class Expressions:
    """The expressions of one clause of a query."""

    def __init__(self, context: BindingContext, scope: Scope, clause: ExpressionClause) -> None:
        self.context = context
        self.scope = scope
        self.clause = clause
        self.coercion = context.coercion

    def inside(self, **changes: Any) -> "Expressions":
        """The same, with other things allowed."""
        return Expressions(self.context, self.scope, replace(self.clause, **changes))

    def bind(self, node: TreeNode) -> Bound:
        """One node."""
        kind, content = only(node)
        method = _KINDS.get(kind)
        if method is None:
            unsupported(kind, content.get("location", 0) if isinstance(content, dict) else -1)
        found = method(self, content)
        groups = self.scope.groups
        if groups is not None and found.columns and found.sql in groups:
            depth = self.scope.depth
            kept = tuple(each for each in found.columns if each.depth != depth)
            found = replace(found, columns=kept)
        return found

    def condition(self, node: TreeNode, what: str) -> Bound:
        """A node that must be boolean."""
        return self.boolean(self.bind(node), what)

    def boolean(self, value: Bound, what: str) -> Bound:
        if not value.is_untyped and value.type != BOOL:
            fail(
                "42804",
                f"argument of {what} must be type boolean, not type {value.type.sql_name}",
                value.location,
            )
        return self.coercion.coerce(value, BOOL)

    # --- operators -------------------------------------------------------------------------

    def operator(self, name: str, left: Bound, right: Bound, location: int) -> Bound:
        """A binary operator."""
        name = operator_rows.SYNONYMS.get(name, name)
        left, right = as_array(left), as_array(right)
        if left.is_shown != right.is_shown and (left.is_untyped or right.is_untyped):
            left, right = self._both_typed(left, right)
        told = shown_constants.compared(name, left, right)
        if told is not None:
            return told
        special = comparisons.special_operator(self, name, left, right, location)
        if special is not None:
            return special
        found = operator_rows.binary(name, left.type.bare, right.type.bare)
        if found is None:
            signature = f"{left.type.bare.sql_name} {name} {right.type.bare.sql_name}"
            written_rules.refuse_missing(f"the operator {signature}", [left, right], location)
            fail("42883", f"operator does not exist: {signature}", location, HINT)
        if found == AMBIGUOUS:
            signature = f"{left.type.bare.sql_name} {name} {right.type.bare.sql_name}"
            fail("42725", f"operator is not unique: {signature}", location)
        if self.coercion.zone != "UTC":
            zoned = zoned_operator(self, name, found, [left, right], location)
            if zoned is not None:
                return zoned
        return self.emit(*found, [left, right], location)

    def _both_typed(self, left: Bound, right: Bound) -> tuple[Bound, Bound]:
        """An untyped operand beside one that is shown, as one of its type."""
        if left.is_untyped:
            return self.coercion.coerce(left, right.type), right
        return left, self.coercion.coerce(right, left.type)

    def prefix(self, name: str, value: Bound, location: int) -> Bound:
        """A prefix operator."""
        found = choose(operator_rows.PREFIX.get(name, []), (value.type,), is_operator=True)
        if found is None or found == AMBIGUOUS:
            signature = f"{name} {value.type.bare.sql_name}"
            written_rules.refuse_missing(f"the operator {signature}", [value], location)
            fail("42883", f"operator does not exist: {signature}", location, HINT)
        result = self.emit(*found, [value], location)
        if name == "-" and value.integer is not None:
            result = replace(result, integer=-value.integer)
        return result

    def emit(
        self, row: Overload, takes: tuple[SqlType, ...], values: list[Bound], location: int
    ) -> Bound:
        """The call of a row with the values cast to what it takes."""
        cast = [
            self.coercion.coerce(value, want) for value, want in zip(values, takes, strict=True)
        ]
        if callable(row.emit):
            return replace(row.emit(*cast), location=location)
        again = any(row.emit.count(f"{{{place}}}") > 1 for place in range(len(cast)))
        texts = [each.sql for each in cast]
        text = once(row.emit.format, *texts) if again else row.emit.format(*texts)
        return made(text, row.gives, *cast, location=location)

    # --- single kinds of nodes -------------------------------------------------------------

    def _constant(self, node: TreeNode) -> Bound:
        location = node.get("location", 0)
        if node.get("isnull"):
            return Bound("NULL", UNKNOWN, is_null=True, location=location)
        if "sval" in node:
            text = node["sval"].get("sval", "")
            return Bound(quoted(text), UNKNOWN, literal=text, location=location)
        if "boolval" in node:
            return Bound(
                "true" if node["boolval"].get("boolval") else "false", BOOL, location=location
            )
        if "ival" in node or "fval" in node:
            self._check_number(location)
        if "ival" in node:
            value = int(node["ival"].get("ival", 0))
            return Bound(f"CAST({value} AS INTEGER)", INT4, integer=value, location=location)
        if "fval" in node:
            return _number(node["fval"]["fval"], location)
        return unsupported("a bit string", location)

    def _check_number(self, location: int) -> None:
        """Refuse the notations of numbers that PostgreSQL 15 does not have."""
        found = _NEW_NUMBER.match(self.context.source, location)
        if found is not None:
            text = found[0].decode(errors="replace")
            fail("42601", f'trailing junk after numeric literal at or near "{text}"', location)

    def _column(self, node: TreeNode) -> Bound:
        location = node.get("location", 0)
        if any("A_Star" in each for each in node["fields"]):
            unsupported("a whole row as a value", location)
        names = [each["String"].get("sval", "") for each in node["fields"]]
        if len(names) == 1 and not any(
            relation.is_open and any(column.name == names[0] for column in relation.columns)
            for relation in self.scope.relations
        ):
            whole = self.scope.relation(names, location)
            if whole is not None and not whole.is_scalar:
                unsupported("a whole row as a value", location)
            names += [] if whole is None else [whole.columns[0].name]
        return self.scope.column(names, location)

    def _parameter(self, node: TreeNode) -> Bound:
        number = node.get("number", 0)
        location = node.get("location", 0)
        if not 1 <= number <= 65535:
            fail("42P02", f"there is no parameter ${number}", location)
        return self.coercion.parameters.typed(number, location)

    def _cast(self, node: TreeNode) -> Bound:
        length = _plain_character(node)
        if length is not None:
            plain = self.coercion.coerce(self.bind(node["arg"]), SqlType("bpchar"), "explicit")
            return replace(plain, type=SqlType("bpchar", (length,)))
        wanted, field = read_type(node["typeName"])
        location = node.get("location", 0)
        if wanted.is_array and not node["arg"].get("A_ArrayExpr", {"elements": 1}).get("elements"):
            return constant([], wanted.bare, location)
        value = self.bind(node["arg"])
        if field is not None and value.literal is not None:
            text = value.literal.strip()
            if not text.lstrip("+-").replace(".", "", 1).isdigit():
                unsupported(f"an interval of {field} with this text", location)
            value = replace(value, literal=f"{text} {field}")
        elif field is not None:
            unsupported("a cast to an interval of one field", location)
        found = self.coercion.coerce(value, wanted, "explicit")
        return replace(found, location=location, integer=None)

    def _case(self, node: TreeNode) -> Bound:
        location = node.get("location", 0)
        subject = self.bind(node["arg"]) if "arg" in node else None
        conditions, results = [], []
        for each in node["args"]:
            when = each["CaseWhen"]
            if subject is None:
                conditions.append(self.condition(when["expr"], "CASE/WHEN"))
            else:
                conditions.append(self.operator("=", subject, self.bind(when["expr"]), location))
            results.append(self.bind(when["result"]))
        last = (
            self.bind(node["defresult"])
            if "defresult" in node
            else Bound("NULL", UNKNOWN, is_null=True)
        )
        type = self.coercion.common_type([last, *results], "CASE")
        *values, default = self.coercion.unify([*results, last], type)
        pairs = zip(conditions, values, strict=True)
        whens = " ".join(f"WHEN {condition.sql} THEN {value.sql}" for condition, value in pairs)
        return made(
            f"(CASE {whens} ELSE {default.sql} END)",
            type,
            *conditions,
            *values,
            default,
            digits=default.digits,
            scale=default.scale,
            location=location,
        )

    def _coalesce(self, node: TreeNode) -> Bound:
        return self._of_one_type(node, "COALESCE", "coalesce")

    def _min_max(self, node: TreeNode) -> Bound:
        name = "least" if node.get("op") == "IS_LEAST" else "greatest"
        return self._of_one_type(node, name.upper(), name)

    def _of_one_type(self, node: TreeNode, what: str, name: str) -> Bound:
        values = [self.bind(each) for each in node["args"]]
        type = self.coercion.common_type(values, what)
        if name == "coalesce" and values[0].type.bare == type.bare and is_literal(node["args"][0]):
            return values[0]  # as PostgreSQL plans it, with the modifier of its type
        cast = self.coercion.unify(values, type)
        if name != "coalesce":
            written_rules.refuse_order(cast[0])
        text = f"{name}({', '.join(each.sql for each in cast)})"
        if type == NUMERIC and cast[0].digits is None and name != "coalesce":
            text = f"pg_numeric_{name}([{', '.join(each.sql for each in cast)}])"
        return made(
            text,
            type,
            *cast,
            digits=cast[0].digits,
            scale=cast[0].scale,
            location=node.get("location", 0),
        )

    def _array(self, node: TreeNode) -> Bound:
        location = node.get("location", 0)
        values = [self.bind(each) for each in node.get("elements", [])]
        if not values:
            hint = "Explicitly cast to the desired type, for example ARRAY[]::integer[]."
            fail("42P18", "cannot determine type of empty array", location, hint)
        type = self.coercion.common_type(values, "ARRAY")
        if type.is_array or type.name == "numeric":
            unsupported(f"ARRAY of {type.sql_name}", location)
        cast = self.coercion.unify(values, type)
        text = f"CAST([{', '.join(each.sql for each in cast)}] AS {type.array.duckdb_type})"
        return made(text, type.bare.array, *cast, location=location)

    def _value_function(self, node: TreeNode) -> Bound:
        location = node.get("location", 0)
        facts = self.context.facts
        now = facts.now.replace(tzinfo=None)
        local = to_local(now, facts.zone)
        values: dict[str, tuple[object, str]] = {
            "current_date": (local.date(), "date"),
            "current_timestamp": (now, "timestamptz"),
            "localtimestamp": (local, "timestamp"),
            "localtime": (local.time(), "time"),
            "current_catalog": (facts.database, "name"),
            "current_schema": ("public", "name"),
            **dict.fromkeys(
                ("current_user", "user", "session_user", "current_role"), (facts.user, "name")
            ),
        }
        known = values.get(VALUE_FUNCTIONS.get(node["op"], ""))
        if known is None:
            unsupported(VALUE_FUNCTIONS.get(node["op"], str(node["op"])), location)
        return constant(known[0], SqlType(known[1]), location)

    def _collate(self, node: TreeNode) -> Bound:
        name = node["collname"][-1]["String"]["sval"]
        if name not in _C_COLLATIONS:
            unsupported(f'the collation "{name}"', node.get("location", 0))
        value = self.bind(node["arg"])
        if not value.is_untyped:
            return value
        return replace(self.coercion.coerce(value, TEXT), literal=value.literal)

    def _grouping(self, node: TreeNode) -> Bound:
        location = node.get("location", 0)
        values = [self.bind(each) for each in node["args"]]
        groups = self.scope.groups
        if groups is None or any(each.sql not in groups for each in values):
            fail(
                "42803",
                "arguments to GROUPING must be grouping expressions of the associated query level",
                location,
            )
        text = f"CAST(GROUPING({', '.join(each.sql for each in values)}) AS INTEGER)"
        return replace(made(text, INT4, *values, location=location), has_aggregate=True)


def _plain_character(node: TreeNode) -> int | None:
    """The n of a literal's cast to character(n) that is as long as that: its text is the value."""
    kind = node["typeName"]
    if [each["String"]["sval"] for each in kind["names"]] != ["pg_catalog", "bpchar"]:
        return None
    text = node["arg"].get("A_Const", {}).get("sval", {}).get("sval", "")
    lengths = [
        each.get("A_Const", {}).get("ival", {}).get("ival") for each in kind.get("typmods", [])
    ]
    if lengths != [len(text)] or text.endswith(" ") or kind.get("arrayBounds"):
        return None
    return len(text)


def _number(text: str, location: int) -> Bound:
    """A constant with a point, an exponent or too many digits for an integer."""
    plain = text.replace("_", "")
    if len(plain) < 21 and plain.removeprefix("-").isdigit() and -(1 << 63) <= int(plain) < 1 << 63:
        return Bound(f"CAST({plain} AS BIGINT)", INT8, integer=int(plain), location=location)
    value = Decimal(plain)
    if abs(value.adjusted()) > 400:
        unsupported("a number of more than 400 digits", location)
    return constant(Decimal(format(value, "f")), NUMERIC, location)


_KINDS: dict[str, Callable[[Expressions, TreeNode], Bound]] = {
    "A_Const": Expressions._constant,
    "ColumnRef": Expressions._column,
    "ParamRef": Expressions._parameter,
    "TypeCast": Expressions._cast,
    "CaseExpr": Expressions._case,
    "CoalesceExpr": Expressions._coalesce,
    "MinMaxExpr": Expressions._min_max,
    "A_ArrayExpr": Expressions._array,
    "A_Indirection": array_functions.indirection,
    "SQLValueFunction": Expressions._value_function,
    "CollateClause": Expressions._collate,
    "GroupingFunc": Expressions._grouping,
    "A_Expr": comparisons.bind_operator,
    "BoolExpr": comparisons.bind_boolean,
    "NullTest": comparisons.bind_null_test,
    "BooleanTest": comparisons.bind_boolean_test,
    "SubLink": comparisons.bind_subquery,
    "FuncCall": bind_call,
}
