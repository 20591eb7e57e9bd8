"""The scalar functions: `FUNCTIONS`, rows by name, and `SPECIAL`, those of any type.

What is not here does not exist (42883). A template is DuckDB text over the arguments, `ours(…)` a
function of the runtime. `SPECIAL` functions look at the arguments themselves; they give None when
the call is not theirs.
"""

from functools import partial
from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import FLOAT8, INT4, INT8, NUMERIC, Bound, made, numeric_text
from redask.core.sql.casting import written_rules
from redask.core.sql.catalogue import catalogue_functions
from redask.core.sql.functions import (
    array_functions,
    datetime_functions,
    json_functions,
    numeric_rules,
    regexp_functions,
    session_functions,
    text_functions,
)
from redask.core.sql.functions.operator_rows import POWER
from redask.core.sql.functions.overloads import Overload
from redask.core.sql.functions.runtime_calls import ours
from redask.core.sql.functions.special_functions import Special
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    pass

_INTS = [SqlType(each) for each in ("int2", "int4", "int8")]


def _numeric(name: str) -> Overload:
    """A function of one numeric, made by the runtime."""
    return Overload((NUMERIC,), NUMERIC, lambda value: _texts(name, value))


def _texts(name: str, *values: Bound) -> Bound:
    return made(f"{name}({', '.join(map(numeric_text, values))})", NUMERIC, *values)


def _float(template: str, count: int = 1) -> Overload:
    """A function of doubles, which must not overflow."""
    return Overload((FLOAT8,) * count, FLOAT8, template)


def _finite(template: str) -> str:
    return (
        f"(CASE WHEN isinf({template}) AND NOT isinf({{0}}) THEN"
        f" error('pg:22003:value out of range: overflow') ELSE {template} END)"
    )


FUNCTIONS: dict[str, list[Overload]] = {
    "abs": [
        *(Overload((each,), each, "abs({0})") for each in (*_INTS, FLOAT8)),
        Overload((NUMERIC,), NUMERIC, numeric_rules.absolute),
    ],
    **{
        name: [
            _float(f"{real}({{0}})"),
            Overload((NUMERIC,), NUMERIC, partial(numeric_rules.whole, name=real)),
        ]
        for name, real in (("ceil", "ceil"), ("ceiling", "ceil"), ("floor", "floor"))
    },
    "round": [
        _float("round_even({0}, 0)"),
        Overload((NUMERIC,), NUMERIC, lambda value: numeric_rules.rounded(value, None)),
        Overload((NUMERIC, INT4), NUMERIC, numeric_rules.rounded),
    ],
    "trunc": [
        _float("trunc({0})"),
        Overload((NUMERIC,), NUMERIC, lambda value: numeric_rules.rounded(value, None, "trunc")),
        Overload(
            (NUMERIC, INT4),
            NUMERIC,
            lambda value, places: numeric_rules.rounded(value, places, "trunc"),
        ),
    ],
    "sign": [
        _float("CAST(sign({0}) AS DOUBLE)"),
        _numeric("pg_numeric_sign"),
    ],
    "sqrt": [_float("sqrt({0})"), _numeric("pg_numeric_sqrt")],
    "cbrt": [_float("cbrt({0})")],
    "exp": [_float(_finite("exp({0})")), _numeric("pg_numeric_exp")],
    "ln": [_float("ln({0})"), _numeric("pg_numeric_ln")],
    "log": [
        _float("log10({0})"),
        _numeric("pg_numeric_log"),
        Overload((NUMERIC, NUMERIC), NUMERIC, lambda *values: _texts("pg_numeric_log_of", *values)),
    ],
    "log10": [_float("log10({0})"), _numeric("pg_numeric_log")],
    **{
        name: [
            _float(POWER, 2),
            Overload((NUMERIC, NUMERIC), NUMERIC, numeric_rules.power),
        ]
        for name in ("power", "pow")
    },
    "mod": [
        *(Overload((each, each), each, "({0} % {1})") for each in _INTS),
        Overload((NUMERIC, NUMERIC), NUMERIC, numeric_rules.modulo),
    ],
    "div": [
        Overload(
            (NUMERIC, NUMERIC), NUMERIC, lambda *values: _texts("pg_numeric_whole_div", *values)
        )
    ],
    **{
        name: [
            *(Overload((each, each), each, f"{name}({{0}}, {{1}})") for each in _INTS[1:]),
            Overload(
                (NUMERIC, NUMERIC),
                NUMERIC,
                lambda *values, name=name: _texts(f"pg_numeric_{name}", *values),
            ),
        ]
        for name in ("gcd", "lcm")
    },
    "scale": [Overload((NUMERIC,), INT4, lambda value: made(
        f"pg_numeric_scale({numeric_text(value)})", INT4, value))],
    "min_scale": [Overload((NUMERIC,), INT4, lambda value: made(
        f"pg_numeric_min_scale({numeric_text(value)})", INT4, value))],
    "factorial": [Overload((INT8,), NUMERIC, "pg_factorial({0})")],
    "trim_scale": [_numeric("pg_numeric_trim_scale")],
    "pi": [Overload((), FLOAT8, "pi()")],
    "degrees": [_float("degrees({0})")],
    "radians": [_float("radians({0})")],
    **{
        name: [_float(f"{name}({{0}})")]
        for name in ("sin", "cos", "tan", "cot", "atan", "asin", "acos")
    },
    "atan2": [_float("atan2({0}, {1})", 2)],
    "width_bucket": [
        Overload((FLOAT8, FLOAT8, FLOAT8, INT4), INT4, ours("pg_float8_width_bucket", INT4)),
        Overload(
            (NUMERIC, NUMERIC, NUMERIC, INT4),
            INT4,
            lambda *values: made(
                f"pg_width_bucket({', '.join(map(numeric_text, values[:3]))}, {values[3].sql})",
                INT4,
                *values,
            ),
        )
    ],
    **text_functions.FUNCTIONS,
    **datetime_functions.FUNCTIONS,
    **json_functions.FUNCTIONS,
    **session_functions.FUNCTIONS,
    **catalogue_functions.FUNCTIONS,
}  # fmt: skip
for _name, _rows in written_rules.FUNCTIONS.items():
    FUNCTIONS[_name] = [*FUNCTIONS.get(_name, []), *_rows]
SPECIAL: "dict[str, Special]" = {
    **regexp_functions.SPECIAL,
    **text_functions.SPECIAL,
    **datetime_functions.SPECIAL,
    **array_functions.SPECIAL,
    **json_functions.SPECIAL,
    **catalogue_functions.SPECIAL,
    **session_functions.SPECIAL,
}
