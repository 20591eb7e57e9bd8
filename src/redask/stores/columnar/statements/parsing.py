"""PostgreSQL's parser: `parse(sql)` → the syntax tree as JSON gives it, or `SqlError` 42601.

The parser is PostgreSQL's own (libpg_query, through `postgast`), linear in the text. It is imported
with the first statement. Texts are checked first (`core.sql.text_limits`), because the parser
recurses: 64 KiB cannot exhaust its stack.
"""

import json
import re
from typing import Any

from redask.core.errors import SqlError

_HINT = "Parameters are written $1, $2 and so on."
_QUESTION_MARK = re.compile(r"(?<![\w'\"?@|&-])\?(?![\w'\"?|&-])")
_DEEPEST = "statement too complex: it is nested too deeply"


def parse(sql: str) -> dict[str, Any]:
    """The tree of a text, which may hold several statements."""
    from postgast.native import lib

    result = lib.pg_query_parse(sql.encode())
    try:
        if result.error:
            error = result.error.contents
            message = error.message.decode(errors="replace")
            if message.startswith("memory exhausted"):
                raise SqlError("54001", _DEEPEST)
            hint = _HINT if _QUESTION_MARK.search(sql) else ""
            raise SqlError("42601", message, position=max(error.cursorpos, 0), hint=hint)
        try:
            tree: dict[str, Any] = json.loads(result.parse_tree)
        except RecursionError:
            raise SqlError("54001", _DEEPEST) from None
        return tree
    finally:
        lib.pg_query_free_parse_result(result)


def in_code_points(sql: str, error: SqlError) -> SqlError:
    """The error with its position in code points, where the binder counted bytes."""
    if error.position > 0:
        head = sql.encode()[: error.position - 1]
        error.position = len(head.decode(errors="replace")) + 1
    return error
