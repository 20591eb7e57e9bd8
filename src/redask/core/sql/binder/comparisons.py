"""Operators with a syntax of their own: IN, BETWEEN, LIKE, ANY, subqueries, AND, IS NULL …"""

from dataclasses import replace
from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import (
    BOOL,
    TEXT,
    UNKNOWN,
    Bound,
    TreeNode,
    fail,
    made,
    once,
    shared,
    unsupported,
)
from redask.core.sql.casting import written_rules
from redask.core.sql.catalogue.vectors import as_array
from redask.core.sql.functions import (
    numeric_rules,
    pattern_operators,
    row_operators,
)
from redask.core.sql.functions.operator_rows import INVERSE

if TYPE_CHECKING:
    from redask.core.sql.binder.context import BoundQuery
    from redask.core.sql.binder.expressions import Expressions

_ORDERED = ("=", "<>", "<", ">", "<=", ">=")


def bind_operator(self: "Expressions", node: TreeNode) -> Bound:
    """An A_Expr."""
    kind, location = node["kind"], node.get("location", 0)
    name = node["name"][-1]["String"]["sval"]
    if len(node["name"]) > 1 and node["name"][0]["String"]["sval"] != "pg_catalog":
        fail("42883", f"operator does not exist: {name}", location)
    if kind in ("AEXPR_OP_ANY", "AEXPR_OP_ALL"):
        return _with_array(self, node, name, "ANY" if kind.endswith("ANY") else "ALL")
    if kind == "AEXPR_IN":
        return _in_list(self, node, name)
    if kind in ("AEXPR_BETWEEN", "AEXPR_NOT_BETWEEN", "AEXPR_BETWEEN_SYM",
                "AEXPR_NOT_BETWEEN_SYM"):  # fmt: skip
        return _between(self, node, kind)
    if kind in ("AEXPR_LIKE", "AEXPR_ILIKE", "AEXPR_SIMILAR"):
        return pattern_operators.bind_like(self, node, name, kind)
    if "lexpr" not in node:
        return self.prefix(name, self.bind(node["rexpr"]), location)
    if "RowExpr" in node["lexpr"] or "RowExpr" in node["rexpr"]:
        return row_operators.compared(self, node, name, location)
    left, right = self.bind(node["lexpr"]), self.bind(node["rexpr"])
    if kind == "AEXPR_NULLIF":
        (left, right), finished = shared(left, right)
        equal = self.operator("=", left, right, location)
        if left.is_untyped:
            left = self.coercion.coerce(left, TEXT)
        text = f"(CASE WHEN {equal.sql} THEN NULL ELSE {left.sql} END)"
        return finished(left.like(text, equal, digits=left.digits))
    if kind in ("AEXPR_DISTINCT", "AEXPR_NOT_DISTINCT"):
        return _distinct(self, left, right, kind, location)
    if kind != "AEXPR_OP":
        unsupported(kind, location)
    return self.operator(name, left, right, location)


def special_operator(
    self: "Expressions", name: str, left: Bound, right: Bound, location: int
) -> Bound | None:
    """Operators whose operands may be of any type: arrays, `||`, patterns."""
    if name in ("~", "~*", "!~", "!~*"):
        return pattern_operators.bind_match(self, name, left, right, location)
    if left.type.is_array or right.type.is_array:
        return _with_arrays(self, name, left, right)
    if name == "||" and "bytea" not in (left.type.name, right.type.name):
        strings = ("S", "X", "Z")
        json = ("json", "jsonb")
        if left.type.name in json or right.type.name in json:
            if left.type.category in ("S",) or right.type.category in ("S",):
                return _concatenated(self, left, right)
            return None
        if left.type.category in strings or right.type.category in strings:
            return _concatenated(self, left, right)
    return None


def _concatenated(self: "Expressions", left: Bound, right: Bound) -> Bound:
    one, other = (
        self.coercion.coerce(each, TEXT, "implicit" if each.is_untyped else "explicit")
        for each in (left, right)
    )
    return one.like(f"({one.sql} || {other.sql})", other, type=TEXT)


def _with_arrays(self: "Expressions", name: str, left: Bound, right: Bound) -> Bound | None:
    if left.is_untyped:
        left = self.coercion.coerce(left, right.type)
    if right.is_untyped:
        right = self.coercion.coerce(right, left.type)
    if left.type.is_array and right.type.is_array:
        if left.type.bare != right.type.bare:
            type = self.coercion.common_type([left, right], "ARRAY")
            left, right = self.coercion.unify([left, right], type)
        written_rules.refuse_unless_equal(left.type, name, left.location)
        if name in _ORDERED:
            one, other = written_rules.key(left), written_rules.key(right)
            return left.like(f"({one} {name} {other})", right, type=BOOL)
        templates = {
            "||": (_joined(left.sql, right.sql), left.type),
            "@>": (_contains(left.sql, right.sql), BOOL),
            "<@": (_contains(right.sql, left.sql), BOOL),
            "&&": (f"list_has_any({left.sql}, {_known(right.sql)})", BOOL),
        }
        if name in templates:
            text, type = templates[name]
            return left.like(text, right, type=type)
    elif name == "||":
        if left.type.is_array:
            right = self.coercion.coerce(right, left.type.element)
            return left.like(_joined(left.sql, f"[{right.sql}]"), right)
        left = self.coercion.coerce(left, right.type.element)
        return right.like(_joined(f"[{left.sql}]", right.sql), left)
    return None


def _joined(one: str, other: str) -> str:
    """Arrays one after the other; NULL is no array at all."""
    return once(
        (
            "(CASE WHEN {0} IS NULL THEN {1} WHEN {1} IS NULL THEN {0}"
            " ELSE list_concat({0}, {1}) END)"
        ).format,
        one,
        other,
    )


def _known(array: str) -> str:
    """Without its NULLs, which equal nothing."""
    return f"list_filter({array}, lambda x: x IS NOT NULL)"


def _contains(whole: str, part: str) -> str:
    """Whether every element is there; NULL never is."""
    return once(
        (
            "(CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN list_has_all({0}, {1})"
            f" AND len({_known('{1}')}) = len({{1}}) END)"
        ).format,
        whole,
        part,
    )


def _with_array(self: "Expressions", node: TreeNode, name: str, word: str) -> Bound:
    """x = ANY (array)."""
    location = node.get("location", 0)
    left, array = self.bind(node["lexpr"]), as_array(self.bind(node["rexpr"]))
    if array.is_untyped:
        element = TEXT if left.is_untyped else left.type
        array = self.coercion.coerce(array, element.bare.array)
    if left.type.name == "char" and array.type.element.category == "S":
        left = self.coercion.coerce(left, TEXT)
    if not array.type.is_array:
        fail("42809", "op ANY/ALL (array) requires array on right side", location)
    element_type = array.type.element
    probe = made("pg_probe", element_type, array)
    checked = self.operator(name, left, probe, location)
    if left.is_untyped:
        left = self.coercion.coerce(left, element_type)
    if checked.type != BOOL:
        fail("42809", "op ANY/ALL (array) requires operator to yield boolean", location)
    is_found = (name, word) in (("=", "ANY"), ("<>", "ALL"), ("!=", "ALL"))
    if is_found and left.type.bare == element_type.bare and left.type.name in _FINDABLE:
        text = once(_FOUND.format, left.sql, array.sql)
        text = text if word == "ANY" else f"(NOT {text})"
    else:
        test = self.operator(
            name,
            replace(left, sql="struct_extract(pg_w, 'l')"),
            Bound("pg_x", element_type),
            location,
        )
        text = _each_tested(test.sql, word, left, array)
    return made(text, BOOL, left, array, location=location)


_FINDABLE = frozenset(
    ("int2", "int4", "int8", "text", "varchar", "date", "timestamp", "timestamptz", "bool", "uuid")
)
# an empty array has nothing even for NULL; a NULL in it may be what is looked for
_FOUND = (
    "(CASE WHEN {1} IS NULL THEN NULL WHEN len({1}) = 0 THEN false WHEN {0} IS NULL THEN NULL"
    " WHEN list_contains({1}, {0}) THEN true"
    " WHEN len(list_filter({1}, lambda x: x IS NULL)) > 0 THEN NULL ELSE false END)"
)


def _each_tested(test: str, word: str, left: Bound, array: Bound) -> str:
    """The operator with every element, then OR or AND of the results."""
    tests = (
        f"list_extract(list_transform([struct_pack(l := {left.sql}, a := {array.sql})],"
        f" lambda pg_w: list_transform(struct_extract(pg_w, 'a'), lambda pg_x: {test})), 1)"
    )
    decides, otherwise = ("true", "false") if word == "ANY" else ("false", "true")
    body = (
        f"CASE WHEN pg_t IS NULL THEN NULL WHEN list_contains(pg_t, {decides}) THEN {decides}"
        " WHEN len(list_filter(pg_t, lambda x: x IS NULL)) > 0 THEN NULL"
        f" ELSE {otherwise} END"
    )
    return f"list_extract(list_transform([{tests}], lambda pg_t: {body}), 1)"


def _in_list(self: "Expressions", node: TreeNode, name: str) -> Bound:
    location = node.get("location", 0)
    items = node["rexpr"]["List"]["items"]
    if "RowExpr" in node["lexpr"]:
        tests = [
            row_operators.compared(self, {"lexpr": node["lexpr"], "rexpr": item}, "=", location)
            for item in items
        ]
    else:
        left = self.bind(node["lexpr"])
        values = [self.bind(item) for item in items]
        kinds = {each.type.category for each in (left, *values) if not each.is_untyped}
        if len(kinds) <= 1 and not any(each.type.is_array for each in (left, *values)):
            type = self.coercion.common_type([left, *values], "IN")
            left, *values = self.coercion.unify([left, *values], type)
            self.operator("=", left, values[0], location)  # there must be one
            listed = ", ".join(numeric_rules.order(each) for each in values)
            text = f"({numeric_rules.order(left)} IN ({listed}))"
            found = made(text, BOOL, left, *values, location=location)
            return found.like(f"(NOT {text})") if name == "<>" else found
        tests = [self.operator("=", left, value, location) for value in values]
    text = f"({' OR '.join(each.sql for each in tests)})"
    return made(f"(NOT {text})" if name == "<>" else text, BOOL, *tests, location=location)


def _between(self: "Expressions", node: TreeNode, kind: str) -> Bound:
    location = node.get("location", 0)
    value = self.bind(node["lexpr"])
    low, high = (self.bind(each) for each in node["rexpr"]["List"]["items"])
    (value, low, high), finished = shared(value, low, high)

    def within(one: Bound, other: Bound) -> str:
        above = self.operator(">=", value, one, location)
        below = self.operator("<=", value, other, location)
        parts.extend((above, below))
        return f"({above.sql} AND {below.sql})"

    parts: list[Bound] = []
    text = within(low, high)
    if kind.endswith("SYM"):
        text = f"({text} OR {within(high, low)})"
    if "NOT" in kind:
        text = f"(NOT {text})"
    return finished(made(text, BOOL, *parts, location=location))


def _distinct(self: "Expressions", left: Bound, right: Bound, kind: str, location: int) -> Bound:
    self.operator("=", left, right, location)  # there must be one
    type = self.coercion.common_type([left, right], "IS DISTINCT FROM")
    one, other = self.coercion.unify([left, right], type)
    word = "IS DISTINCT FROM" if kind == "AEXPR_DISTINCT" else "IS NOT DISTINCT FROM"
    text = f"({numeric_rules.order(one)} {word} {numeric_rules.order(other)})"
    return made(text, BOOL, one, other, location=location)


def bind_boolean(self: "Expressions", node: TreeNode) -> Bound:
    """AND, OR, NOT."""
    word = {"AND_EXPR": "AND", "OR_EXPR": "OR", "NOT_EXPR": "NOT"}[node["boolop"]]
    parts = [self.condition(each, word) for each in node["args"]]
    text = f"(NOT {parts[0].sql})" if word == "NOT" else (
        f"({f' {word} '.join(each.sql for each in parts)})"
    )  # fmt: skip
    return made(text, BOOL, *parts, location=node.get("location", 0))


def bind_null_test(self: "Expressions", node: TreeNode) -> Bound:
    """IS NULL."""
    if "RowExpr" in node["arg"]:
        return row_operators.null_test(self, node)
    value = self.bind(node["arg"])
    if value.is_untyped:
        value = self.coercion.coerce(value, TEXT)
    word = "IS NULL" if node["nulltesttype"] == "IS_NULL" else "IS NOT NULL"
    return made(f"({value.sql} {word})", BOOL, value, location=node.get("location", 0))


def bind_boolean_test(self: "Expressions", node: TreeNode) -> Bound:
    """IS TRUE and the like."""
    word = node["booltesttype"].replace("_", " ")
    value = self.condition(node["arg"], word)
    text = f"({value.sql} {word.replace('UNKNOWN', 'NULL')})"
    return made(text, BOOL, value, location=node.get("location", 0))


def bind_subquery(self: "Expressions", node: TreeNode) -> Bound:
    """EXISTS, a scalar subquery, IN, ANY, ALL, ARRAY."""
    kind, location = node["subLinkType"], node.get("location", 0)
    query = self.context.query(node["subselect"], self.scope)
    reads = made("", UNKNOWN, replace(Bound("", UNKNOWN), columns=query.outer))
    if kind == "EXISTS_SUBLINK":
        return made(f"EXISTS ({query.sql})", BOOL, reads, location=location)
    if len(query.columns) != 1 and kind != "ANY_SUBLINK":
        fail("42601", "subquery must return only one column", location)
    if not query.columns:
        fail("42601", "subquery has too few columns", location)
    column = query.columns[0]
    if kind == "EXPR_SUBLINK":
        return made(
            f"({query.sql})",
            column.type,
            reads,
            digits=column.digits,
            scale=column.scale,
            location=location,
        )
    if kind == "ARRAY_SUBLINK":
        if column.type.is_array or column.type.name == "numeric":
            unsupported(f"ARRAY of {column.type.sql_name}", location)
        return made(f"ARRAY({query.sql})", column.type.bare.array, reads, location=location)
    if kind not in ("ANY_SUBLINK", "ALL_SUBLINK"):
        unsupported(kind, location)
    names = node.get("operName")
    name = names[-1]["String"]["sval"] if names else "="
    count = len(node["testexpr"].get("RowExpr", {}).get("args", [0]))
    if count != len(query.columns):
        few = "few" if len(query.columns) < count else "many"
        fail("42601", f"subquery has too {few} columns", location)
    if "RowExpr" in node["testexpr"]:
        return row_operators.in_subquery(self, node, name, query, reads)
    return _with_subquery(self, node, name, query, reads)


def _with_subquery(
    self: "Expressions",
    node: TreeNode,
    name: str,
    query: "BoundQuery",
    reads: Bound,
) -> Bound:
    location = node.get("location", 0)
    left = self.bind(node["testexpr"])
    alias = self.context.alias("q")
    column = query.columns[0]
    right = Bound(f"{alias}.o1", column.type, column.digits, column.scale)
    self.operator(name, left, right, location)  # there must be one
    if name not in INVERSE and name != "!=":
        unsupported(f"{name} ANY (subquery)", location)
    if not left.is_untyped and left.type.category != column.type.category:
        unsupported("a subquery of another kind of type", location)
    common = self.coercion.common_type([left, right], "ANY")
    one, other = self.coercion.unify([left, right], common)
    word = "ANY" if node["subLinkType"] == "ANY_SUBLINK" else "ALL"
    sign = "<>" if name == "!=" else name
    text = (
        f"({numeric_rules.order(one)} {sign} {word}"
        f" (SELECT {numeric_rules.order(other)} FROM ({query.sql}) AS {alias}))"
    )
    return made(text, BOOL, one, reads, location=location)
