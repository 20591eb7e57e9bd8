"""The tables of the catalogue with PostgreSQL's own columns: `definition(schema, name)`.

`relations.txt` has one table a line, `schema.table column:type …`. Types that SELECT does not have
(`aclitem`, `pg_node_tree`, `inet`) are text; those columns are empty. `redask_definitions` is ours:
what pg_get_indexdef() and pg_get_constraintdef() look up.
"""

from functools import cache
from importlib import resources

from redask.core.sql.binder.context import TableDefinition
from redask.core.sql.types import SqlType

SYSTEM, INFORMATION = "pg_catalog", "information_schema"


def definition(schema: str, name: str) -> TableDefinition | None:
    """A table of the catalogue, or None."""
    return _definitions().get((schema, name))


@cache
def _definitions() -> dict[tuple[str, str], TableDefinition]:
    text = resources.files("redask.stores.columnar.catalogue").joinpath("relations.txt").read_text()
    found = {}
    for line in text.splitlines():
        table, *columns = line.split(" ")
        schema, _, name = table.partition(".")
        shape = tuple(
            (own, _type(kind), f"c{number}")
            for number, (own, _, kind) in enumerate((each.partition(":") for each in columns), 1)
        )
        found[schema, name] = TableDefinition(schema, name, shape)
    return found


def _type(kind: str) -> SqlType:
    return SqlType(kind.removeprefix("_"), (), kind.startswith("_"))
