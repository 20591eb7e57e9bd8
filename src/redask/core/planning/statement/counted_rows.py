"""The rows behind a count: `counted_rows(statement)` is a SELECT of their URNs, the first of them.

Only where the statement counts the rows of its one table; behind other results stand no single
rows, or the result shows them itself.
"""

from dataclasses import replace

from redask.core.planning.statement import sql_text
from redask.core.planning.statement.trees import ColumnOf, MeasuredColumn, Statement

_SHOWN = 2


def counted_rows(statement: Statement) -> str | None:
    """The SELECT, or None if rows are not what was counted."""
    if statement.outputs != (MeasuredColumn("count"),) or statement.groups or statement.steps:
        return None
    urn = MeasuredColumn(column=ColumnOf(statement.table, "urn"))
    return sql_text.write(replace(statement, outputs=(urn,), order=((urn, "asc"),), limit=_SHOWN))
