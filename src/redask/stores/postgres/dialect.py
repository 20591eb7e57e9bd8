"""SQL of `relational` as PostgreSQL and psycopg read it: `translate(statement, parameters)`.

    ?               %s
    ?1              %(p1)s
    :name           %(name)s
    CROSS JOIN      JOIN: to SQLite it says in which order to join, and has its ON, too
    json_each(…)    json_items(…), a function of our own: the items of a list, as text
    INDEXED BY x    nothing

What stands in quotes is left alone; a `%` is written twice, as psycopg wants it.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

_TOKEN = re.compile(
    r"""(?P<quoted>'(?:[^']|'')*'|"[^"]*")|\?(?P<number>[0-9]*)|(?<![:\w]):(?P<name>[a-z_]+)"""
    r"""|(?P<percent>%)|(?P<join>\bCROSS JOIN\b)|(?P<list>\bjson_each\()"""
    r"""|(?P<hint>\bINDEXED BY \w+)"""
)


def translate(statement: str, parameters: Any) -> tuple[str, Sequence[Any] | Mapping[str, Any]]:
    """A statement and its parameters."""
    text, numbered = _translated(statement)
    if numbered:
        return text, {f"p{place}": value for place, value in enumerate(parameters, start=1)}
    return text, parameters if isinstance(parameters, Mapping) else tuple(parameters)


@lru_cache(1000)
def _translated(statement: str) -> tuple[str, bool]:
    numbered = False

    def written(found: re.Match[str]) -> str:
        nonlocal numbered
        if found["quoted"]:
            return found["quoted"].replace("%", "%%")
        if found["name"]:
            return f"%({found['name']})s"
        if found["number"]:
            numbered = True
            return f"%(p{found['number']})s"
        others = {"percent": "%%", "join": "JOIN", "list": "json_items(", "hint": ""}
        return next((text for name, text in others.items() if found[name]), "%s")

    return _TOKEN.sub(written, statement), numbered
