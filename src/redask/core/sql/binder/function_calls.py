"""Calls of functions: scalar ones, aggregates, window functions and set-returning ones.

A function is looked up by name in `function_rows` and `aggregate_rows` and chosen by the types of
its arguments. What is not there is 42883, with the signature, as in PostgreSQL.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from redask.core.sql.binder.bound import (
    FLOAT8,
    INT4,
    TEXT,
    Bound,
    TreeNode,
    fail,
    made,
    numeric_text,
    once,
    unsupported,
)
from redask.core.sql.binder.type_names import REFUSED_TYPES
from redask.core.sql.binder.windows import check_orderable, over, sorted_by
from redask.core.sql.casting import written_rules
from redask.core.sql.casting.void_parameters import passed
from redask.core.sql.casting.zoned_calls import zoned_call
from redask.core.sql.catalogue.catalogue_sets import RECORD
from redask.core.sql.catalogue.vectors import PLACES, as_array, is_vector, one_less
from redask.core.sql.functions import (
    aggregate_rows,
    array_functions,
    function_rows,
    json_functions,
    set_functions,
)
from redask.core.sql.functions.aggregate_rows import AggregateCall
from redask.core.sql.functions.overloads import AMBIGUOUS, choose

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

_OF_BYTES = frozenset(
    """convert convert_from convert_to decode encode get_bit get_byte set_bit set_byte sha224 sha256
    sha384 sha512""".split()
)
_HINT = (
    "No function matches the given name and argument types. "
    "You might need to add explicit type casts."
)


def bind_call(self: "Expressions", node: TreeNode) -> Bound:
    """A FuncCall."""
    location = node.get("location", 0)
    names = [each["String"]["sval"] for each in node["funcname"]]
    name = names[-1]
    if len(names) > 1 and names[0] not in ("pg_catalog", "information_schema"):
        fail("3F000", f'schema "{names[0]}" does not exist', location)
    if node.get("func_variadic"):
        unsupported("VARIADIC", location)
    own = {"make_interval": _make_interval, **dict.fromkeys(_WHOLE_ROWS, _of_attribute)}.get(name)
    if own is not None:
        return own(self, node, location)
    if any("NamedArgExpr" in each for each in node.get("args", [])):
        unsupported("an argument by name", location)
    is_aggregate = name in aggregate_rows.ALL_NAMES
    if name in aggregate_rows.WINDOW_FUNCTIONS or name in aggregate_rows.VALUE_WINDOWS or (
        name == "ntile"
    ):  # fmt: skip
        return _window_function(self, node, name)
    if is_aggregate:
        return _aggregate(self, node, name)
    for key, word in (("over", "OVER"), ("agg_distinct", "DISTINCT"), ("agg_filter", "FILTER"),
                      ("agg_order", "ORDER BY")):  # fmt: skip
        if node.get(key):
            fail("42809", f"{word} specified, but {name} is not an aggregate function", location)
    if node.get("agg_star"):
        fail("42809", f"{name}(*) specified, but {name} is not an aggregate function", location)
    if set_functions.is_set(name):
        if not self.clause.sets:
            fail(
                "0A000", f"set-returning functions are not allowed in {self.clause.name}", location
            )
        values = [self.bind(each) for each in node.get("args", [])]
        found = set_functions.as_list(self, name, values, location)
        if not found.sql:
            unsupported(f"{name} in a select list", location)
        kind = found.columns[0].type if len(found.columns) == 1 else RECORD
        whole = made(f"unnest({found.sql})", kind, *values, location=location)
        return replace(whole, has_set=True)
    values = [self.bind(each) for each in passed(self, node.get("args", []))]
    return scalar(self, name, values, location)


_WHOLE_ROWS = {"_pg_truetypid": "atttypid", "_pg_truetypmod": "atttypmod"}


def _of_attribute(self: "Expressions", node: TreeNode, location: int) -> Bound:
    """_pg_truetypid(a.*, t.*): the type of a column; there are no domains behind which it hides."""
    name = node["funcname"][-1]["String"]["sval"]
    fields = node.get("args", [{}])[0].get("ColumnRef", {}).get("fields", [])
    row = [each["String"]["sval"] for each in fields if "String" in each]
    if len(node.get("args", [])) != 2 or len(row) != 1:
        unsupported(f"{name} of anything but the rows of two tables", location)
    return self.scope.column([*row, _WHOLE_ROWS[name]], location)


_INTERVAL_PARTS = ("years", "months", "weeks", "days", "hours", "mins", "secs")


def _make_interval(self: "Expressions", node: TreeNode, location: int) -> Bound:
    """make_interval(…): the only function whose arguments may be named."""
    parts = [Bound("CAST(0 AS INTEGER)", INT4, integer=0)] * len(_INTERVAL_PARTS)
    given: set[int] = set()
    for place, each in enumerate(node.get("args", [])):
        named = each.get("NamedArgExpr")
        own = place
        if named is not None:
            if named["name"] not in _INTERVAL_PARTS:
                fail("42883", f"function make_interval({named['name']} => …) does not exist",
                     location, _HINT)  # fmt: skip
            own = _INTERVAL_PARTS.index(named["name"])
        if own in given or own >= len(parts):
            fail("42883", "function make_interval does not exist for these arguments", location,
                 _HINT)  # fmt: skip
        given.add(own)
        parts[own] = self.bind(each if named is None else named["arg"])
    return scalar(self, "make_interval", parts, location)


def scalar(self: "Expressions", name: str, values: list[Bound], location: int) -> Bound:
    """A scalar function of bound arguments."""
    if name in array_functions.SPECIAL and any(is_vector(each.type) for each in values):
        whole = scalar(self, name, [as_array(each) for each in values], location)
        return one_less(whole) if name in PLACES else whole
    if self.coercion.zone != "UTC":
        values, zoned = zoned_call(self, name, values, location)
        if zoned is not None:
            return replace(zoned, location=location)
    special = function_rows.SPECIAL.get(name)
    if name in array_functions.SPECIAL:
        for each in values:
            written_rules.refuse_as_key(each, f"{name} of")
    if special is not None:
        found = special(self, values, location)
        if found is not None:
            return replace(found, location=location)
    rows = function_rows.FUNCTIONS.get(name, [])
    chosen = choose(rows, [each.type for each in values])
    if chosen is None:
        _missing(name, values, location)
    if chosen == AMBIGUOUS:
        fail("42725", f"function {_signature(name, values)} is not unique", location, _HINT)
    return self.emit(*chosen, values, location)


def _signature(name: str, values: list[Bound]) -> str:
    return f"{name}({', '.join(each.type.bare.sql_name for each in values)})"


def _missing(name: str, values: list[Bound], location: int) -> NoReturn:
    if name in REFUSED_TYPES:  # a constructor
        unsupported(f"the type {name}", location)
    if name in _OF_BYTES:
        unsupported(f"the function {name}", location)
    written_rules.refuse_missing(f"the function {_signature(name, values)}", values, location)
    fail("42883", f"function {_signature(name, values)} does not exist", location, _HINT)


# --- aggregates --------------------------------------------------------------------------------


def _aggregate(self: "Expressions", node: TreeNode, name: str) -> Bound:
    location = node.get("location", 0)
    is_window = "over" in node
    if not is_window:
        if self.clause.in_aggregate:
            fail("42803", "aggregate function calls cannot be nested", location)
        if not self.clause.aggregates:
            fail("42803", f"aggregate functions are not allowed in {self.clause.name}", location)
    elif not self.clause.windows:
        fail("42P20", f"window functions are not allowed in {self.clause.name}", location)
    inner = self.inside(windows=False, sets=False, in_aggregate=not is_window)
    if name in aggregate_rows.ORDERED_SET:
        return _ordered_set(self, inner, node, name)
    if node.get("agg_within_group"):
        fail("42809", f"{name} is not an ordered-set aggregate", location)
    values = [inner.bind(each) for each in node.get("args", [])]
    if not values and not node.get("agg_star"):
        fail(
            "42809", f"{name}(*) must be used to call a parameterless aggregate function", location
        )
    call, parts = _call(self, inner, node)
    if is_window and (call.distinct or node.get("agg_order")):
        unsupported("DISTINCT and ORDER BY in an aggregate that is a window function", location)
    if call.distinct and node.get("agg_order"):
        _check_distinct_order(values, call, location)
    found = _chosen(inner, name, values, call, location)
    return _finished(self, found, (*values, *parts), is_window, location)


def _check_distinct_order(values: list[Bound], call: AggregateCall, location: int) -> None:
    sorts = [each.sql for each in call.parts[: call.sorts]]
    if set(sorts) - {each.sql for each in values}:
        fail(
            "42P10",
            "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list",
            location,
        )


def _chosen(
    inner: "Expressions", name: str, values: list[Bound], call: AggregateCall, location: int
) -> Bound:
    if name in aggregate_rows.POLYMORPHIC:
        values = [inner.coercion.coerce(each, TEXT) if each.is_untyped else each for each in values]
        if len(values) > 1 or (not values and name != "count"):
            _missing(name, values, location)
        return aggregate_rows.POLYMORPHIC[name](call, values)
    if name in aggregate_rows.JSON:
        found = json_functions.aggregate(inner, name, call, values, location)
        if found is None:
            _missing(name, values, location)
        return found
    rows = aggregate_rows.AGGREGATES[name]
    chosen = choose([each.overload for each in rows], [each.type for each in values])
    if chosen is None or chosen == AMBIGUOUS:
        _missing(name, values, location)
    row = next(each for each in rows if each.overload == chosen[0])
    cast = [
        inner.coercion.coerce(value, want) for value, want in zip(values, row.takes, strict=True)
    ]
    return row.emit(call, cast)


def _call(
    self: "Expressions", inner: "Expressions", node: TreeNode
) -> tuple[AggregateCall, tuple[Bound, ...]]:
    parts: tuple[Bound, ...] = ()
    order, sorts = sorted_by(inner, node.get("agg_order", []))
    parts += sorts
    tail = ""
    if "agg_filter" in node:
        condition = inner.condition(node["agg_filter"], "FILTER")
        tail += f" FILTER (WHERE {condition.sql})"
        parts += (condition,)
    if "over" in node:
        text, values = over(self, node["over"])
        tail += text
        parts += values
    is_window = "over" in node
    is_distinct = bool(node.get("agg_distinct"))
    return AggregateCall(is_distinct, order, tail, parts, is_window, len(sorts)), parts


def _finished(
    self: "Expressions", found: Bound, parts: tuple[Bound, ...], is_window: bool, location: int
) -> Bound:
    """The result: an aggregate has read its columns, a window function has not."""
    if is_window:
        whole = made(found.sql, found.type, found, *parts, digits=found.digits)
        return replace(whole, has_window=True, location=location)
    depth = self.scope.depth
    reads = made("", found.type, found, *parts).columns
    if reads and all(each.depth < depth for each in reads):
        unsupported("an aggregate of an outer query's columns", location)
    kept = tuple(each for each in reads if each.depth != depth)
    return replace(found, columns=kept, has_aggregate=True, location=location)


def _ordered_set(self: "Expressions", inner: "Expressions", node: TreeNode, name: str) -> Bound:
    """percentile_cont(0.5) WITHIN GROUP (ORDER BY x)."""
    location = node.get("location", 0)
    if not node.get("agg_within_group") or "over" in node:
        fail("42809", f"WITHIN GROUP is required for ordered-set aggregate {name}", location)
    sorts = node.get("agg_order", [])
    if len(sorts) != 1:
        unsupported(f"{name} with several columns", location)
    value = inner.bind(sorts[0]["SortBy"]["node"])
    if value.is_untyped:
        value = inner.coercion.coerce(value, TEXT)
    if name == "percentile_cont":
        value = inner.coercion.coerce(value, FLOAT8)
    check_orderable(value)
    _, parts = _call(self, inner, {**node, "agg_order": []})
    tail = f" FILTER (WHERE {parts[0].sql})" if "agg_filter" in node else ""
    order, _ = sorted_by(inner, sorts, lambda _: value)
    item = numeric_text(value) if value.type.name == "numeric" else value.sql
    listed = f"list_filter(list({item} {order}){tail}, lambda x: x IS NOT NULL)"
    fractions = node.get("args", [{}])[0].get("A_ArrayExpr", {}).get("elements", [])
    if name != "mode" and len(node.get("args", [])) == 1 and fractions:
        each = [inner.coercion.coerce(inner.bind(one), FLOAT8) for one in fractions]
        several = _of_fractions(name, listed, value, each)
        return _finished(self, several, (value, *parts, *each), False, location)
    arguments = [inner.bind(each) for each in node.get("args", [])]
    if name == "mode":
        if value.type.name in ("numeric", "float4", "float8", "interval") or arguments:
            unsupported(f"mode of {value.type.sql_name}", location)
        place = "pg_mode_place(CAST({0} AS VARCHAR[]))"
        text = once(f"list_extract({{0}}, {place})".format, listed)
    else:
        if len(arguments) != 1 or arguments[0].type.is_array:
            unsupported(f"{name} of several fractions", location)
        fraction = inner.coercion.coerce(arguments[0], FLOAT8)
        if name == "percentile_cont":
            text = f"pg_percentile_cont({listed}, {fraction.sql})"
        else:
            place = "pg_percentile_place(len({0}), {1})"
            text = once(f"list_extract({{0}}, {place})".format, listed, fraction.sql)
    found = made(text, value.type.bare if name != "percentile_cont" else FLOAT8, value)
    return _finished(self, found, (value, *parts, *arguments), False, location)


def _of_fractions(name: str, listed: str, value: Bound, fractions: list[Bound]) -> Bound:
    """percentile_cont(ARRAY[0.25, 0.75]): an array of results."""
    if value.type.name == "numeric":
        unsupported(f"{name} of several fractions of numerics", value.location)

    def text(values: str, *places: str) -> str:
        if name == "percentile_cont":
            found = [f"pg_percentile_cont({values}, {place})" for place in places]
        else:
            found = [
                f"list_extract({values}, pg_percentile_place(len({values}), {place}))"
                for place in places
            ]
        return f"(CASE WHEN len({values}) > 0 THEN [{', '.join(found)}] END)"

    written = once(text, listed, *(each.sql for each in fractions))
    return made(written, value.type.bare.array, value)


# --- window functions --------------------------------------------------------------------------


def _window_function(self: "Expressions", node: TreeNode, name: str) -> Bound:
    location = node.get("location", 0)
    if "over" not in node:
        fail("42809", f"window function {name} requires an OVER clause", location)
    if not self.clause.windows:
        fail("42P20", f"window functions are not allowed in {self.clause.name}", location)
    if node.get("agg_filter"):
        fail("0A000", "FILTER is not implemented for non-aggregate window functions", location)
    inner = self.inside(windows=False, sets=False)
    values = [inner.bind(each) for each in node.get("args", [])]
    tail, parts = over(self, node["over"])
    if name in aggregate_rows.WINDOW_FUNCTIONS:
        if values:
            _missing(name, values, location)
        type, _ = aggregate_rows.WINDOW_FUNCTIONS[name]
        found = made(f"{name}(){tail}", type)
    elif name == "ntile":
        if len(values) != 1:
            _missing(name, values, location)
        count = self.coercion.coerce(values[0], INT4)
        if count.integer is not None and count.integer < 1:
            fail("22014", "argument of ntile must be greater than zero", location)
        if count.integer is None:
            unsupported("ntile of anything but a positive constant", location)
        found = made(f"CAST(ntile({count.sql}){tail} AS INTEGER)", INT4)
    else:
        found = _value_window(self, name, values, tail, location)
    return _finished(self, found, (*values, *parts), True, location)


def _value_window(
    self: "Expressions", name: str, values: list[Bound], tail: str, location: int
) -> Bound:
    most = {"lag": 3, "lead": 3, "nth_value": 2}.get(name, 1)
    least = 2 if name == "nth_value" else 1
    if not least <= len(values) <= most:
        _missing(name, values, location)
    value = values[0]
    if value.is_untyped:
        fail("42804", "could not determine polymorphic type because input has type unknown",
             location)  # fmt: skip
    value = replace(value, type=value.type.bare)
    arguments = [value.sql]
    if len(values) > 1:
        arguments.append(self.coercion.coerce(values[1], INT4).sql)
    if len(values) > 2:
        type = self.coercion.common_type([value, values[2]], name)
        value, default = self.coercion.unify([value, values[2]], type)
        arguments[0] = value.sql
        arguments.append(default.sql)
    text = f"{name}({', '.join(arguments)}){tail}"
    return made(text, value.type, value, digits=value.digits)
