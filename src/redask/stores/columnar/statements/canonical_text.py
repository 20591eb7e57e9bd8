"""A statement as PostgreSQL would write it: `canonical_text(sql)`.

Equal trees have equal texts: white space, comments and the case of keywords are gone. A LIMIT of an
ordered statement becomes FETCH FIRST … WITH TIES, so that no tied row is left out by chance. The
statement was parsed and bound before.
"""

from importlib import import_module
from typing import Any

_COUNT, _WITH_TIES = 2, 3  # of LimitOption in PostgreSQL's tree


def plain_text(sql: str) -> str:
    """The statement as PostgreSQL would write it, without comments; its LIMIT is as it was."""
    parser: Any = import_module("postgast")
    return str(parser.deparse(parser.parse(sql)))


def canonical_text(sql: str) -> str:
    """The one spelling of a SELECT."""
    parser: Any = import_module("postgast")  # its stubs are no Python
    tree = parser.parse(sql)
    select = tree.stmts[0].stmt.select_stmt
    is_limited = select.limit_option == _COUNT and not select.limit_count.a_const.isnull
    if select.sort_clause and is_limited:
        select.limit_option = _WITH_TIES
    return str(parser.deparse(tree))
