"""The next generation: `build` a DuckDB file from the last one and the changes since.

    main.meta          name, value: layout, identity of the store, watermark, history, counts
    main.entity_rows   all rows, by key
    main.typed         collection, table: those typed tables that need no policy
    main.t1 …          these tables, rows in the order of URNs

Changes are read in batches into a file of their own, so memory is bounded. The file is complete
when its name is: it is written under another one.
"""

import os
import secrets
import shutil
from dataclasses import replace
from pathlib import Path

from redask.core.access.policy import OPEN
from redask.core.errors import CorruptIndex
from redask.core.ports import Store
from redask.index import private_files
from redask.stores.columnar.duckdb_connections import literal, open_builder
from redask.stores.columnar.generations.generation_files import ENDING, name_for
from redask.stores.columnar.row_counts import ProjectionState
from redask.stores.columnar.row_log import RowLog
from redask.stores.columnar.typed_tables import table_columns, table_query

LAYOUT = 2
BATCH = 10_000
_BUILDING = "building-"


def build(
    folder: Path, last: tuple[Path, ProjectionState] | None, store: Store, tenant: str
) -> str:
    """Write a generation that has everything up to now. → the name of the file"""
    work = folder / f"{_BUILDING}{secrets.token_hex(8)}"
    private_files.make_directory(work)
    try:
        connection = open_builder(work)
        try:
            connection.execute(f"ATTACH {literal(str(work / 'tail.duckdb'))} AS tail")
            connection.execute(f"ATTACH {literal(str(work / 'new.duckdb'))} AS new")
            if last is not None:
                connection.execute(f"ATTACH {literal(str(last[0]))} AS last (READ_ONLY)")
            log = RowLog(connection, "tail.main", None if last is None else "last.main")
            state = ProjectionState() if last is None else last[1]
            state = read_changes(log, state, store, tenant)
            connection.execute(
                f"CREATE TABLE new.main.entity_rows AS {log.all_rows()} ORDER BY key, grp"
            )
            connection.execute("CREATE TABLE new.main.meta (name VARCHAR, value VARCHAR)")
            facts = {
                "layout": str(LAYOUT),
                "identity": store.identity,
                "watermark": str(state.watermark),
                "history": state.history,
                "counts": state.dump(),
            }
            for fact in facts.items():
                connection.execute("INSERT INTO new.main.meta VALUES (?, ?)", fact)
            connection.execute("SET threads = 1")  # tables like those that a reader makes
            connection.execute("CREATE TABLE new.main.typed (collection VARCHAR, name VARCHAR)")
            for number, (collection, groups) in enumerate(sorted(state.collections.items())):
                if set(groups) != {OPEN}:
                    continue
                columns = table_columns(groups.values())
                rows = (
                    "SELECT urn, own_id, payload FROM new.main.entity_rows"
                    f" WHERE collection = {literal(collection)}"
                )
                connection.execute(
                    f"CREATE TABLE new.main.t{number} AS {table_query(columns, rows)}"
                )
                connection.execute(
                    "INSERT INTO new.main.typed VALUES (?, ?)", [collection, f"t{number}"]
                )
            connection.execute("CHECKPOINT new")
            connection.execute("DETACH new")
        finally:
            connection.close()
        private_files.narrow(work / "new.duckdb")
        _sync(work / "new.duckdb")
        name = name_for(work / "new.duckdb")
        os.replace(work / "new.duckdb", folder / name)
        return name
    finally:
        shutil.rmtree(work, ignore_errors=True)


def read_changes(log: RowLog, state: ProjectionState, store: Store, tenant: str) -> ProjectionState:
    """The state after all changes that the store has; `CorruptIndex` if it is not its state."""
    target = store.watermark(tenant)
    if state.watermark > target:
        raise unusable_generation("it is ahead of its store")
    if not store.follows(tenant, state.history):
        raise unusable_generation("it is of another history of its store")
    while True:
        changes = store.changes(tenant, state.watermark, BATCH)
        if changes:
            state = log.apply(changes, state)
        if len(changes) < BATCH:  # a sequence may be given to what is no change of an entity
            # after the changes: this write holds all that they came from
            history = store.history(tenant)
            return replace(state, watermark=max(state.watermark, target), history=history)


def unusable_generation(problem: str) -> CorruptIndex:
    """The error of a generation that is of no use; whoever catches it makes another."""
    return CorruptIndex(f"the columnar projection is of no use: {problem}; it is made again")


def remove_others(folder: Path, name: str) -> None:
    """Delete what is left of other generations; what is still in use elsewhere may stay."""
    for path in folder.iterdir():
        if path.name.startswith(_BUILDING):
            shutil.rmtree(path, ignore_errors=True)
        elif path.name.endswith((ENDING, f"{ENDING}.wal")) and path.name != name:
            try:
                path.unlink()
            except OSError:
                continue  # Windows: a reader has it open; the next fold tries again


def _sync(path: Path) -> None:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
