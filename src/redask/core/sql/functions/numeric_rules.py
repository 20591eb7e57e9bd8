"""Arithmetic and comparison of numerics: DECIMAL where its scale is PostgreSQL's, else ours.

PostgreSQL's numeric has a scale with each value. A sum has the larger scale, a product both
together: DuckDB's DECIMAL gives the same while 38 digits are enough. A quotient's scale depends on
the values: it is kept as text (`digits` None) and made by `pg_numeric_div`, and so is what comes
of it. Text is compared by `pg_numeric_sort_key`, whose order is that of the numbers.
"""

from dataclasses import replace

from redask.core.sql.binder.bound import (
    BOOL,
    MAX_DIGITS,
    NUMERIC,
    Bound,
    fail,
    made,
    numeric_text,
)
from redask.core.sql.casting import written_rules


def _both(left: Bound, right: Bound) -> tuple[int, int, int, int] | None:
    if left.digits is None or right.digits is None:
        return None
    return (*left.digits, *right.digits)


def scale_of(value: Bound) -> int | None:
    """The scale that all values have; None when they differ."""
    return value.digits[1] if value.digits is not None else value.scale


def _by_function(name: str, *values: Bound, scale: int | None = None) -> Bound:
    parts = ", ".join(numeric_text(each) for each in values)
    return replace(made(f"pg_numeric_{name}({parts})", NUMERIC, *values), scale=scale)


def _larger_scale(left: Bound, right: Bound) -> int | None:
    one, other = scale_of(left), scale_of(right)
    return None if one is None or other is None else max(one, other)


def add(left: Bound, right: Bound) -> Bound:
    """The sum."""
    return _sum(left, right, "+", "add")


def subtract(left: Bound, right: Bound) -> Bound:
    """The difference."""
    return _sum(left, right, "-", "sub")


def _sum(left: Bound, right: Bound, sign: str, name: str) -> Bound:
    both = _both(left, right)
    if both is not None:
        p1, s1, p2, s2 = both
        scale = max(s1, s2)
        places = max(p1 - s1, p2 - s2) + scale + 1
        if places <= MAX_DIGITS:
            kind = f"DECIMAL({places},{scale})"
            text = f"CAST(CAST({left.sql} AS {kind}) {sign} CAST({right.sql} AS {kind}) AS {kind})"
            return made(text, NUMERIC, left, right, digits=(places, scale))
    return _by_function(name, left, right, scale=_larger_scale(left, right))


def multiply(left: Bound, right: Bound) -> Bound:
    """The product."""
    both = _both(left, right)
    if both is not None and both[0] + both[2] <= MAX_DIGITS:
        digits = (both[0] + both[2], both[1] + both[3])
        return made(f"({left.sql} * {right.sql})", NUMERIC, left, right, digits=digits)
    one, other = scale_of(left), scale_of(right)
    scale = None if one is None or other is None else one + other
    return _by_function("mul", left, right, scale=scale)


def divide(left: Bound, right: Bound) -> Bound:
    """The quotient, whose scale depends on the values."""
    return _by_function("div", left, right)


def modulo(left: Bound, right: Bound) -> Bound:
    """The remainder, with the sign of the dividend."""
    return _by_function("mod", left, right, scale=_larger_scale(left, right))


def power(left: Bound, right: Bound) -> Bound:
    """A power."""
    return _by_function("power", left, right)


def negate(value: Bound) -> Bound:
    """The opposite."""
    if value.digits is None:
        return _by_function("neg", value, scale=value.scale)
    return made(f"(- {value.sql})", NUMERIC, value, digits=value.digits)


def absolute(value: Bound) -> Bound:
    """Without its sign."""
    if value.digits is None:
        return _by_function("abs", value, scale=value.scale)
    return made(f"abs({value.sql})", NUMERIC, value, digits=value.digits)


def rounded(value: Bound, places: Bound | None, name: str = "round") -> Bound:
    """round(x, n) and trunc(x, n); a constant n is the scale of the result."""
    count = 0 if places is None else places.integer
    if count is None:
        assert places is not None
        return made(
            f"pg_numeric_{name}({numeric_text(value)}, {places.sql})", NUMERIC, value, places
        )
    count = min(count, 16383)  # PostgreSQL's NUMERIC_DSCALE_MAX
    parts = (value,) if places is None else (value, places)
    text = f"pg_numeric_{name}({numeric_text(value)}, {count})"
    if value.digits is not None and 0 <= count <= value.digits[1]:
        text = f"{name}({value.sql}, {count})" if name == "round" or count == 0 else text
        text = f"trunc({value.sql})" if name == "trunc" and count == 0 else text
    scale = max(count, 0)
    if value.digits is None or scale > 20:
        # the number of digits before the point is not known: it stays text
        return replace(made(text, NUMERIC, *parts), scale=scale)
    whole = min(value.digits[0] - value.digits[1] + 1 + scale, MAX_DIGITS)
    return made(f"CAST({text} AS DECIMAL({whole},{scale}))", NUMERIC, *parts, digits=(whole, scale))


def whole(value: Bound, name: str) -> Bound:
    """ceil and floor."""
    if value.digits is None:
        return _by_function(name, value, scale=0)
    places = min(value.digits[0] - value.digits[1] + 1, MAX_DIGITS)
    kind = f"DECIMAL({places},0)"
    return made(f"CAST({name}({value.sql}) AS {kind})", NUMERIC, value, digits=(places, 0))


def compare(left: Bound, right: Bound, sign: str) -> Bound:
    """A comparison."""
    both = _both(left, right)
    if both is not None:
        p1, s1, p2, s2 = both
        if max(p1 - s1, p2 - s2) + max(s1, s2) <= MAX_DIGITS:
            return made(f"({left.sql} {sign} {right.sql})", BOOL, left, right)
    return made(f"({key(left)} {sign} {key(right)})", BOOL, left, right)


def key(value: Bound) -> str:
    """What orders and compares like the number."""
    return f"pg_numeric_sort_key({numeric_text(value)})"


def order(value: Bound) -> str:
    """What to sort, group and compare by: the value itself unless it is a numeric as text."""
    if value.type.name == "numeric" and value.digits is None and not value.type.is_array:
        return key(value)
    return written_rules.key(value)


def refuse_as_key(value: Bound, what: str) -> None:
    """Refuse numerics of different scales where equal ones would have to be one."""
    written_rules.refuse_as_key(value, what)
    is_text = value.type.name == "numeric" and value.digits is None and not value.is_null
    if is_text and value.scale is None:
        fail("0A000", f"{what} a quotient of numerics is not supported: round() or cast it first",
             value.location)  # fmt: skip
