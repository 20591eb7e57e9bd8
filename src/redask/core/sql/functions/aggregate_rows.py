"""The aggregate functions: `AGGREGATES`, rows by name, and the window functions.

A row's `emit` is given an `AggregateCall`, which writes DISTINCT, ORDER BY, FILTER and OVER, and
the arguments. Sums of integers and numerics are exact; sums and averages of doubles add in the
order of the rows, as PostgreSQL does.
"""

from collections.abc import Callable
from dataclasses import dataclass

from redask.core.sql.binder.bound import (
    BOOL,
    FLOAT8,
    INT4,
    INT8,
    MAX_DIGITS,
    NUMERIC,
    TEXT,
    Bound,
    made,
    numeric_text,
    once,
    unsupported,
)
from redask.core.sql.functions import numeric_rules
from redask.core.sql.functions.overloads import Overload
from redask.core.sql.runtime.runtime_table import call_text
from redask.core.sql.types import SqlType

_SPAN = SqlType("interval")


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """How an aggregate is called, beside its arguments."""

    distinct: bool
    order: str  # ORDER BY … or nothing
    tail: str  # FILTER (…) OVER (…)
    parts: tuple[Bound, ...]  # what these read
    is_window: bool
    sorts: int = 0  # how many of the parts are ORDER BY's

    def text(self, name: str, *arguments: str, ordered: bool = False) -> str:
        """The call of a DuckDB aggregate."""
        inner = ", ".join(arguments)
        if self.distinct:
            inner = f"DISTINCT {inner}"
        if ordered and self.order:
            inner = f"{inner} {self.order}"
        return f"{name}({inner}){self.tail}"


EmitAggregate = Callable[[AggregateCall, list[Bound]], Bound]


@dataclass(frozen=True, slots=True)
class AggregateRow:
    """An aggregate for arguments of these types."""

    takes: tuple[SqlType, ...]
    gives: SqlType
    emit: EmitAggregate

    @property
    def overload(self) -> Overload:
        """For the choice among rows."""
        return Overload(self.takes, self.gives, "")


def _simple(name: str, gives: SqlType, cast: str = "") -> EmitAggregate:
    def emit(call: AggregateCall, values: list[Bound]) -> Bound:
        text = call.text(name, *(each.sql for each in values))
        return made(f"CAST({text} AS {cast})" if cast else text, gives, *values)

    return emit


def _in_order(name: str) -> EmitAggregate:
    """A sum or average of doubles, added one by one, as PostgreSQL does.

    DuckDB would multiply equal values by their number, and add partial sums of a tree for a
    window: both round otherwise. A window without order has one sum for a whole partition.
    """

    def emit(call: AggregateCall, values: list[Bound]) -> Bound:
        is_framed = "ORDER BY" in call.tail or "BETWEEN" in call.tail
        if call.is_window and not is_framed:
            return made(call.text(name, values[0].sql), FLOAT8, *values)
        return made(f"list_{name}({call.text('list', values[0].sql)})", FLOAT8, *values)

    return emit


def _some(call: AggregateCall, value: Bound) -> str:
    """The list of the values that are not NULL; NULL without any."""
    listed = f"list_filter({call.text('list', value.sql)}, lambda x: x IS NOT NULL)"
    return once("(CASE WHEN len({0}) > 0 THEN {0} END)".format, listed)


def _sum_of_numerics(call: AggregateCall, values: list[Bound]) -> Bound:
    value = values[0]
    if value.digits is None:
        return made(f"pg_numeric_sum({_some(call, value)})", NUMERIC, value, scale=value.scale)
    digits = (MAX_DIGITS, value.digits[1])
    text = f"CAST({call.text('sum', value.sql)} AS DECIMAL({digits[0]},{digits[1]}))"
    return made(text, NUMERIC, value, digits=digits)


def _sum_of_bigints(call: AggregateCall, values: list[Bound]) -> Bound:
    text = f"CAST({call.text('sum', values[0].sql)} AS DECIMAL(38,0))"
    return made(text, NUMERIC, values[0], digits=(MAX_DIGITS, 0))


def _average(call: AggregateCall, values: list[Bound]) -> Bound:
    value = values[0]
    if value.type.name == "numeric" and value.digits is None:
        return made(f"pg_numeric_avg({_some(call, value)})", NUMERIC, value)
    total = f"CAST({call.text('sum', value.sql)} AS VARCHAR)"
    count = f"CAST({call.text('count', value.sql)} AS VARCHAR)"
    return made(f"pg_numeric_div({total}, {count})", NUMERIC, value)


def _count(call: AggregateCall, values: list[Bound]) -> Bound:
    text = call.text("count", *(numeric_rules.order(each) for each in values)) if values else (
        call.text("count", "*")
    )  # fmt: skip
    return made(text, INT8, *values)


def _extreme(name: str) -> EmitAggregate:
    def emit(call: AggregateCall, values: list[Bound]) -> Bound:
        value = values[0]
        if value.type.name == "numeric" and value.digits is None:
            text = call.text(f"arg_{name}", value.sql, numeric_rules.key(value))
            return made(text, value.type.bare, value, scale=value.scale)
        return made(call.text(name, value.sql), value.type.bare, value, digits=value.digits)

    return emit


def _string_agg(call: AggregateCall, values: list[Bound]) -> Bound:
    value, separator = values
    if separator.columns:
        unsupported("string_agg with a separator that is no constant", separator.location)
    text = call.text("string_agg", value.sql, separator.sql, ordered=True)
    return made(text, TEXT, value, separator)


def _array_agg(call: AggregateCall, values: list[Bound]) -> Bound:
    value = values[0]
    if value.type.is_array or value.type.name == "numeric":
        unsupported(f"array_agg of {value.type.sql_name}", value.location)
    return made(call.text("list", value.sql, ordered=True), value.type.bare.array, value)


def _over_list(name: str, gives: SqlType) -> EmitAggregate:
    """An aggregate of ours over the list of the values, as texts where they are exact."""

    def emit(call: AggregateCall, values: list[Bound]) -> Bound:
        value = values[0]
        item = value.sql
        if value.type.name == "numeric":
            item = numeric_text(value)
        elif value.type.name in ("int2", "int4", "int8"):
            item = f"CAST({value.sql} AS VARCHAR)"
        listed = call.text("list", item, ordered=True)
        # NULL is no value; without any value the result is NULL
        return made(f"{name}(list_filter({listed}, lambda x: x IS NOT NULL))", gives, value)

    return emit


def _over_values(name: str) -> EmitAggregate:
    """An aggregate of ours over the values themselves, of the values' type."""

    def emit(call: AggregateCall, values: list[Bound]) -> Bound:
        listed = f"list_filter({call.text('list', values[0].sql)}, lambda x: x IS NOT NULL)"
        some = f"(CASE WHEN len({listed}) > 0 THEN {listed} END)"
        return made(call_text(name, some), values[0].type.bare, values[0])

    return emit


def _pairs(name: str) -> EmitAggregate:
    def emit(call: AggregateCall, values: list[Bound]) -> Bound:
        one, other = values
        both = f"{one.sql} IS NOT NULL AND {other.sql} IS NOT NULL"
        lists = ", ".join(
            f"list_filter({call.text('list', f'CASE WHEN {both} THEN {each.sql} END')},"
            " lambda x: x IS NOT NULL)"
            for each in (one, other)
        )
        return made(f"{name}({lists})", FLOAT8, one, other)

    return emit


def _count_of_pairs(call: AggregateCall, values: list[Bound]) -> Bound:
    both = " AND ".join(f"{each.sql} IS NOT NULL" for each in values)
    return made(call.text("count", f"CASE WHEN {both} THEN 1 END"), INT8, *values)


_INTS = [SqlType(each) for each in ("int2", "int4", "int8")]
_ORDERED = [SqlType(each) for each in (
    "int2", "int4", "int8", "numeric", "float4", "float8", "text", "date", "time", "timestamp",
    "timestamptz", "interval", "oid")]  # fmt: skip


def _spread(name: str) -> list[AggregateRow]:
    """stddev and variance: numeric for integers and numerics, double for doubles."""
    return [
        *(AggregateRow((each,), NUMERIC, _over_list(f"pg_numeric_{name}", NUMERIC))
          for each in (*_INTS, NUMERIC)),
        AggregateRow((FLOAT8,), FLOAT8, _over_list(f"pg_float8_{name}", FLOAT8)),
    ]  # fmt: skip


AGGREGATES: dict[str, list[AggregateRow]] = {
    "sum": [
        AggregateRow((SqlType("int2"),), INT8, _simple("sum", INT8, "BIGINT")),
        AggregateRow((INT4,), INT8, _simple("sum", INT8, "BIGINT")),
        AggregateRow((INT8,), NUMERIC, _sum_of_bigints),
        AggregateRow((NUMERIC,), NUMERIC, _sum_of_numerics),
        AggregateRow((FLOAT8,), FLOAT8, _in_order("sum")),
        AggregateRow((SqlType("float4"),), SqlType("float4"), _over_values("pg_float4_sum")),
        AggregateRow((_SPAN,), _SPAN, _over_values("pg_interval_sum")),
    ],
    "avg": [
        *(AggregateRow((each,), NUMERIC, _average) for each in (*_INTS, NUMERIC)),
        AggregateRow((FLOAT8,), FLOAT8, _in_order("avg")),
        AggregateRow((_SPAN,), _SPAN, _over_values("pg_interval_avg")),
    ],
    "min": [AggregateRow((each,), each, _extreme("min")) for each in _ORDERED],
    "max": [AggregateRow((each,), each, _extreme("max")) for each in _ORDERED],
    "bool_and": [AggregateRow((BOOL,), BOOL, _simple("bool_and", BOOL))],
    "every": [AggregateRow((BOOL,), BOOL, _simple("bool_and", BOOL))],
    "bool_or": [AggregateRow((BOOL,), BOOL, _simple("bool_or", BOOL))],
    "string_agg": [AggregateRow((TEXT, TEXT), TEXT, _string_agg)],
    "stddev": _spread("stddev_samp"),
    "stddev_samp": _spread("stddev_samp"),
    "stddev_pop": _spread("stddev_pop"),
    "variance": _spread("var_samp"),
    "var_samp": _spread("var_samp"),
    "var_pop": _spread("var_pop"),
    "corr": [AggregateRow((FLOAT8, FLOAT8), FLOAT8, _pairs("pg_corr"))],
    "covar_pop": [AggregateRow((FLOAT8, FLOAT8), FLOAT8, _pairs("pg_covar_pop"))],
    "covar_samp": [AggregateRow((FLOAT8, FLOAT8), FLOAT8, _pairs("pg_covar_samp"))],
    **{
        name: [AggregateRow((FLOAT8, FLOAT8), FLOAT8, _pairs(f"pg_{name}"))]
        for name in (
            "regr_slope",
            "regr_intercept",
            "regr_r2",
            "regr_avgx",
            "regr_avgy",
            "regr_sxx",
            "regr_sxy",
            "regr_syy",
        )
    },
    "regr_count": [AggregateRow((FLOAT8, FLOAT8), INT8, _count_of_pairs)],
    "bit_xor": [AggregateRow((each,), each, _simple("bit_xor", each)) for each in _INTS],
    "bit_and": [AggregateRow((each,), each, _simple("bit_and", each)) for each in _INTS],
    "bit_or": [AggregateRow((each,), each, _simple("bit_or", each)) for each in _INTS],
}
# of any type: bound by themselves
POLYMORPHIC: dict[str, EmitAggregate] = {
    "count": _count,
    "array_agg": _array_agg,
}
# aggregates that sort their input first: percentile_cont(0.5) WITHIN GROUP (ORDER BY x)
ORDERED_SET = frozenset(("percentile_cont", "percentile_disc", "mode"))
# window functions by name: the types they take (None: any type) and give (None: the same type)
WINDOW_FUNCTIONS: dict[str, tuple[SqlType, str]] = {
    "row_number": (INT8, ""),
    "rank": (INT8, ""),
    "dense_rank": (INT8, ""),
    "percent_rank": (FLOAT8, ""),
    "cume_dist": (FLOAT8, ""),
}
VALUE_WINDOWS = frozenset(("lag", "lead", "first_value", "last_value", "nth_value"))
JSON = frozenset(("json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg"))
ALL_NAMES = frozenset((*AGGREGATES, *POLYMORPHIC, *ORDERED_SET, *JSON))
