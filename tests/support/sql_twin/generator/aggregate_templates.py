"""Aggregates and window functions, each with the type it gives: templates as in `templates`.

Every one gives the same for the same rows in any order.
"""

AGGREGATES: tuple[tuple[str, str], ...] = (
    ("count(*)", "int8"),
    ("count({any})", "int8"),
    ("count(DISTINCT {key})", "int8"),
    ("sum({int4})", "int8"),
    ("sum({int8})", "numeric"),
    ("sum({numeric})", "numeric"),
    ("avg({int4})", "numeric"),
    ("avg({numeric})", "numeric"),
    ("avg({int8})", "numeric"),
    ("min({int4})", "int4"),
    ("max({int4})", "int4"),
    ("min({text})", "text"),
    ("max({text})", "text"),
    ("min({date})", "date"),
    ("max({timestamp})", "timestamp"),
    ("bool_and({bool})", "bool"),
    ("bool_or({bool})", "bool"),
    ("every({bool})", "bool"),
    ("sum(DISTINCT {int4})", "int8"),
    ("max({timestamptz})", "timestamptz"),
    ("min({time})", "time"),
    ("stddev({int4})", "numeric"),
    ("variance({numeric})", "numeric"),
    ("var_pop({int4})", "numeric"),
    ("stddev_pop({int8})", "numeric"),
    ("max({int8})", "int8"),
    ("sum({interval})", "interval"),
    ("bit_or({int4})", "int4"),
    ("sum(CASE WHEN {bool} THEN 1 ELSE 0 END)", "int8"),
    ("round(avg({int4}), 2)", "numeric"),
    ("count(*) FILTER (WHERE {bool})", "int8"),
    ("sum({int4}) FILTER (WHERE {bool})", "int8"),
    ("avg({numeric}) FILTER (WHERE {bool})", "numeric"),
    ("max({date}) - min({date})", "int4"),
)

# {self} is one expression, named twice: what is sorted by is what is shown
ORDERED_AGGREGATES: tuple[tuple[str, str, str], ...] = (
    ("string_agg({self}, ',' ORDER BY {self})", "text", "text"),
    ("array_agg({self} ORDER BY {self})", "int4", "int4[]"),
    ("array_agg(DISTINCT {self} ORDER BY {self} DESC)", "text", "text[]"),
    ("percentile_cont(0.5) WITHIN GROUP (ORDER BY {self})", "int4", "float8"),
    ("percentile_disc(0.25) WITHIN GROUP (ORDER BY {self})", "int4", "int4"),
    ("jsonb_agg({self} ORDER BY {self})", "int4", "jsonb"),
)

WINDOWS: tuple[tuple[str, str], ...] = (
    ("row_number()", "int8"),
    ("rank()", "int8"),
    ("dense_rank()", "int8"),
    ("ntile(3)", "int4"),
    ("percent_rank()", "float8"),
    ("cume_dist()", "float8"),
    ("lag({int4})", "int4"),
    ("lead({text})", "text"),
    ("lag({numeric}, 2)", "numeric"),
    ("lead({int4}, 1, 0)", "int4"),
    ("first_value({text})", "text"),
    ("last_value({int4})", "int4"),
    ("nth_value({date}, 2)", "date"),
    ("sum({int4})", "int8"),
    ("avg({numeric})", "numeric"),
    ("count(*)", "int8"),
    ("count({any})", "int8"),
    ("min({date})", "date"),
    ("max({text})", "text"),
    ("sum({numeric})", "numeric"),
    ("avg({int4})", "numeric"),
    ("bool_or({bool})", "bool"),
    ("sum({int8})", "numeric"),
)

FRAMES = (
    "",
    "",
    "",
    " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    " ROWS UNBOUNDED PRECEDING",
    " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
)
