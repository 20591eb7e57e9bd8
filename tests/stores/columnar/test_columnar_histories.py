"""Whatever the history: the tables are those of a projection that is made now, and of the store."""

import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from columnar_reading import expected, read_all, read_table
from memory_backend.database import MemoryBackend

from redask.core.errors import StoreFailed
from redask.core.model import Caller
from redask.core.ports import AuditRow, StoreView
from redask.core.rules.audit import KEYS
from redask.stores.backend import EntityStore
from redask.stores.columnar import table_cache, table_patches, tenant_projection
from redask.stores.columnar.generations import generation_builder
from redask.stores.columnar.projection import ColumnarProjection
from redask.stores.entity_rows import entities, link
from redask.stores.sqlite.store import SqliteStore

ME = Caller()
READER = Caller("local", "ada", "reader")
STAFF = Caller("local", "bob", "staff")
POLICIES: list[dict[str, object] | None] = [
    None,
    {"read": []},
    {"read": [{"roles": ["*"], "rows": "grade = 1"}]},
    {"read": [{"roles": ["reader"], "rows": "grade <> 1", "hide": ["x"]}, {"roles": ["staff"]}]},
    {"read": [{"roles": ["*"], "mask": ["x", "y"]}, {"roles": ["staff"], "rows": "grade = 2"}]},
]
VALUES: list[object] = [1, 2**40, 0.5, "a", "2021-01-01", None, [1], {"k": 1}, True, "7", 1e300]


class History:
    """Random writes to a store, reproducible by a seed."""

    def __init__(self, store: EntityStore, seed: int) -> None:
        self._store = store
        self._rng = random.Random(seed)

    def step(self) -> None:
        rng = self._rng
        what = rng.random()
        collection = rng.choice(["a", "b", "c"])
        if what < 0.6:
            kinds = rng.sample(VALUES, 2)
            rows = [
                {"id": number, "grade": rng.randrange(3), rng.choice("xyz"): rng.choice(kinds)}
                for number in rng.sample(range(12), rng.randrange(1, 5))
            ]
            self._store.put(entities(collection, rows), ME)
        elif what < 0.75:
            gone = [f"urn:reddb:row:{collection}/{rng.randrange(12)}" for _ in range(3)]
            self._store.delete(gone, ME)
        elif what < 0.92:
            shown = [
                each.urn
                for name in ("a", "b", "c", "links")
                for each in self._store.page(name, ME, limit=100)
            ]
            if len(shown) > 2:
                source, target = rng.sample(shown, 2)
                self._store.put([link(source, rng.choice("uv"), target)], ME)
        else:
            self._store.set_policy(rng.choice(["a", "b", "links"]), rng.choice(POLICIES), ME)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything in small portions: folds and evictions are frequent."""
    monkeypatch.setattr(tenant_projection, "MAX_TAIL", 12)
    monkeypatch.setattr(generation_builder, "BATCH", 5)
    monkeypatch.setattr(table_cache, "MAX_TABLES", 4)
    monkeypatch.setattr(table_patches, "SMALL", 4)
    monkeypatch.setattr(table_patches, "MAX_GAPS", 3)
    monkeypatch.setattr(table_patches, "_SAMPLED", 3)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    folder = tmp_path / "store"
    folder.mkdir()
    with SqliteStore(folder) as opened:
        yield opened


def put(store: EntityStore, count: int, **more: object) -> None:
    store.put(entities("t", [{"id": n, "x": n, **more} for n in range(count)]), ME)


@pytest.mark.parametrize("seed", range(6))
def test_any_history_ends_in_the_tables_of_a_new_projection(
    seed: int, tmp_path: Path, small: None
) -> None:
    store = MemoryBackend(f"memory:/{tmp_path}").store
    history = History(store, seed)
    kept = [ColumnarProjection(tmp_path / "shared", store) for _ in range(2)]
    for step in range(60):
        history.step()
        if step % 3:
            continue
        caller = (ME, READER, STAFF)[step % 9 // 3]
        found = read_all(kept[step % 2], caller)
        held = {name: table for name, table in found.items() if table[1]}
        assert held == expected(store, caller), step
        if step % 5 == 0:
            new = ColumnarProjection(tmp_path / f"new{step}", store)
            assert read_all(new, caller) == found, step
            new.close()
    for each in kept:
        each.close()


def test_sums_of_doubles_have_equal_bits_whatever_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_patches, "SMALL", 100)
    store = MemoryBackend(f"memory:/{tmp_path}").store
    rng = random.Random(5)
    rows = [{"id": n, "x": rng.gauss(0, 1) * 10.0 ** rng.randrange(30)} for n in range(9000)]
    store.put(entities("t", rows), ME)
    old = ColumnarProjection(tmp_path / "old", store)
    monkeypatch.setattr(tenant_projection, "MAX_TAIL", 1_000_000)
    unfolded = ColumnarProjection(tmp_path / "unfolded", store)

    def total(projection: ColumnarProjection) -> list[object]:
        with projection.reading(ME) as tables:
            query = f"SELECT sum(c3), avg(c3), stddev(c3) FROM {tables.physical('t')}"
            return list(tables.cursor.execute(query).fetchall())

    total(old)
    for turn in range(6):
        changes = [{"id": rng.randrange(9000), "x": 1.5 * turn + 0.1}, {"id": -turn, "x": 1e9 / 7}]
        store.put(entities("t", changes), ME)
        store.delete([f"urn:reddb:row:t/{rng.randrange(9000)}"], ME)
        new = ColumnarProjection(tmp_path / f"new{turn}", store)
        assert total(old) == total(unfolded) == total(new), turn
        new.close()
    old.close()
    unfolded.close()


def test_a_reader_keeps_its_state_while_rows_change_and_generations_follow(
    store: SqliteStore, tmp_path: Path, small: None
) -> None:
    projection = ColumnarProjection(tmp_path, store)
    put(store, 30)
    with projection.reading(ME) as before:
        early = before.physical("t")
        put(store, 40, y=1)
        store.put(entities("u", [{"id": 1}]), ME)
        for _ in range(20):
            assert len(read_table(projection, "t", ME)[1]) == 40
            store.put(entities("u", [{"id": 1, "n": time.monotonic_ns()}]), ME)
        count = f"SELECT count(*) FROM {early}"
        assert before.cursor.execute(count).fetchall() == [(30,)]
        assert before.columns("u") is None
        assert len(before.columns("t") or ()) == 3
    projection.close()


def test_a_table_that_is_first_named_late_is_of_the_state_of_its_reader(
    store: SqliteStore, tmp_path: Path
) -> None:
    projection = ColumnarProjection(tmp_path, store)
    put(store, 3)
    with projection.reading(ME) as before:
        put(store, 5, y="more")
        store.delete(["urn:reddb:row:t/0"], ME)
        assert len(read_table(projection, "t", ME)[1]) == 4
        rows = before.cursor.execute(f"SELECT c1 FROM {before.physical('t')}").fetchall()
        assert rows == [(0,), (1,), (2,)]
    projection.close()


@pytest.mark.parametrize("late", [1, 2])
def test_policies_that_change_while_rows_are_read_are_seen(
    late: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryBackend(f"memory:/{tmp_path}").store
    projection = ColumnarProjection(tmp_path, store)
    put(store, 3)
    assert len(read_table(projection, "t", READER)[1]) == 3
    view = store.view
    policy = {"read": [{"roles": ["*"], "rows": "id = 1", "hide": ["x"]}]}
    calls = []

    def racing(caller: Caller) -> StoreView:
        calls.append(caller)
        if len(calls) == late:
            store.set_policy("t", policy, ME)
        found = view(caller)
        if len(calls) == 1:
            put(store, 5)  # so the rows will be ahead of this view
        return found

    put(store, 4)
    monkeypatch.setattr(store, "view", racing)
    assert read_table(projection, "t", READER)[1] == [(1, "urn:reddb:row:t/1")]
    projection.close()


def test_a_fold_that_fails_disturbs_no_reader_and_is_not_tried_at_once(
    store: SqliteStore, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    projection = ColumnarProjection(tmp_path / "p", store)
    put(store, 30)
    read_table(projection, "t", ME)
    tried = []

    def fail(*_: object) -> str:
        tried.append(1)
        raise OSError("no space left on device")

    monkeypatch.setattr(tenant_projection, "build", fail)
    put(store, 60)
    for turn in range(5):
        assert len(read_table(projection, "t", ME)[1]) == 60 + turn
        for thread in threading.enumerate():
            if thread.name == "columnar-fold":
                thread.join()
        store.put(entities("t", [{"id": 100 + turn, "x": turn}]), ME)
    assert len(tried) == 1
    projection.close()


def test_a_large_tail_is_folded_and_other_projections_open_the_new_file(
    store: SqliteStore, tmp_path: Path, small: None
) -> None:
    put(store, 30)
    first, second = (ColumnarProjection(tmp_path / "p", store) for _ in range(2))
    assert read_table(first, "t", ME) == read_table(second, "t", ME)
    before = current(tmp_path / "p")
    put(store, 60)
    read_table(first, "t", ME)
    first.close()  # waits for the fold
    assert current(tmp_path / "p") != before
    with second.reading(ME) as tables:
        assert tables.physical("t").startswith("generation.")
    assert len(read_table(second, "t", ME)[1]) == 60
    assert len(list((tmp_path / "p").rglob("*.duckdb"))) == 1
    second.close()


def test_a_generation_is_used_by_the_next_process(
    store: SqliteStore, tmp_path: Path, small: None
) -> None:
    put(store, 30)
    projection = ColumnarProjection(tmp_path / "p", store)
    table = read_table(projection, "t", ME)
    projection.close()
    program = (
        "import sys; from pathlib import Path; from columnar_reading import read_table\n"
        "from redask.core.model import Caller; from redask.stores.sqlite.store import SqliteStore\n"
        "from redask.stores.columnar.projection import ColumnarProjection\n"
        "from redask.stores.entity_rows import entities\n"
        "store = SqliteStore(Path(sys.argv[1]))\n"
        "projection = ColumnarProjection(Path(sys.argv[2]), store)\n"
        "with projection.reading(Caller()) as tables: print(tables.physical('t'))\n"
        "print(read_table(projection, 't', Caller()))\n"
        "store.put(entities('t', [{'id': 0, 'x': 'other'}]), Caller())\n"
        "projection.close(); store.close()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "store"), str(tmp_path / "p")],
        capture_output=True, text=True, check=False, env={"PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert ran.stdout.splitlines() == ["generation.main.t0", str(table)], ran.stderr
    projection = ColumnarProjection(tmp_path / "p", store)
    assert read_table(projection, "t", ME)[1][0][2] == "other"
    projection.close()


def current(folder: Path) -> Path:
    (found,) = folder.rglob("current")
    return found.parent / found.read_text()


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def garbage(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)


def missing(path: Path) -> None:
    path.unlink()


def of_another_store(path: Path) -> None:
    change_meta(path, "identity", "another")


def of_another_layout(path: Path) -> None:
    change_meta(path, "layout", "0")


def ahead(path: Path) -> None:
    change_meta(path, "watermark", "1000000")


def with_a_view(path: Path) -> None:
    """A file that somebody hands over: its rows are whatever can be read on this machine."""
    with duckdb.connect(str(path)) as connection:
        connection.execute("ALTER TABLE entity_rows RENAME TO theirs")
        connection.execute("CREATE VIEW entity_rows AS SELECT * FROM theirs")


def change_meta(path: Path, name: str, value: str) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE name = ?", [value, name])


@pytest.mark.parametrize(
    "harm", [truncated, garbage, missing, of_another_store, of_another_layout, ahead, with_a_view]
)
def test_a_generation_that_is_of_no_use_is_made_again(
    harm: object, store: SqliteStore, tmp_path: Path, small: None
) -> None:
    put(store, 30)
    projection = ColumnarProjection(tmp_path / "p", store)
    table = read_table(projection, "t", ME)
    projection.close()
    before = current(tmp_path / "p")
    harm(before)  # type: ignore[operator]
    projection = ColumnarProjection(tmp_path / "p", store)
    assert read_table(projection, "t", ME) == table
    assert current(tmp_path / "p") != before
    projection.close()


def test_damage_that_shows_only_when_rows_are_read_is_repaired_by_the_next_reader(
    store: SqliteStore, tmp_path: Path, small: None
) -> None:
    put(store, 3000, text="x" * 50)
    projection = ColumnarProjection(tmp_path / "p", store)
    table = read_table(projection, "t", ME)
    projection.close()
    path = current(tmp_path / "p")
    content = bytearray(path.read_bytes())
    half = len(content) // 2
    content[half : half + 4096] = bytes(4096)
    path.write_bytes(content)
    projection = ColumnarProjection(tmp_path / "p", store)
    for _ in range(3):
        try:
            assert read_table(projection, "t", ME) == table
        except (duckdb.Error, StoreFailed):
            continue
        break
    assert read_table(projection, "t", ME) == table
    projection.close()


def test_deleting_the_directory_loses_nothing(store: SqliteStore, tmp_path: Path) -> None:
    put(store, 5)
    projection = ColumnarProjection(tmp_path / "gone" / "deep", store)
    assert len(read_table(projection, "t", ME)[1]) == 5
    assert not list((tmp_path / "gone").rglob("*.duckdb"))
    projection.close()


def test_the_version_changes_with_data_and_policies(store: SqliteStore, tmp_path: Path) -> None:
    projection = ColumnarProjection(tmp_path, store)
    seen = [projection.version(ME)]
    put(store, 1)
    seen.append(projection.version(ME))
    store.set_policy("t", {"read": []}, ME)
    seen.append(projection.version(ME))
    assert len(set(seen)) == 3
    assert projection.version(ME) == seen[-1]


def test_many_threads_read_and_write_at_once(
    store: SqliteStore, tmp_path: Path, small: None
) -> None:
    projection = ColumnarProjection(tmp_path / "p", store)
    put(store, 20)
    faults: list[BaseException] = []

    def work(caller: Caller, number: int) -> None:
        try:
            for turn in range(15):
                if caller is ME:
                    store.put(entities("t", [{"id": turn, "x": number, "n": turn}]), ME)
                _, rows = read_table(projection, "t", caller)
                assert [row[1] for row in rows] == sorted(str(row[1]) for row in rows)
        except BaseException as error:
            faults.append(error)

    threads = [
        threading.Thread(target=work, args=(caller, number))
        for number, caller in enumerate([ME, READER, ME, STAFF])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    projection.close()
    assert faults == []


def test_the_audit_log_is_a_table(tmp_path: Path) -> None:
    backend = MemoryBackend(f"memory:/{tmp_path}")
    rows = [
        {**dict.fromkeys(KEYS), "ts": n, "tenant": "local", "user": user, "cost_usd": 0.5,
         "errors": [{"kind": "x", "detail": "y"}], "cache_hit": True, "seed": 2**60}
        for n, user in enumerate(["ada", "bob", "ada"])
    ]  # fmt: skip
    backend.audit.append([AuditRow(row) for row in rows])
    projection = ColumnarProjection(tmp_path, backend.store, backend.audit)
    columns, found = read_table(projection, "red_ask_audit", READER)
    assert [name for name, _ in columns] == ["seq", "hash", *KEYS, "refused"]
    kinds = dict(columns)
    assert (kinds["ts"], kinds["cost_usd"], kinds["seed"]) == ("int8", "float8", "text")
    cells = [dict(zip(kinds, row, strict=True)) for row in found]
    assert [cell["seq"] for cell in cells] == [1, 2]
    assert cells[0]["errors"] == '[{"kind": "x", "detail": "y"}]'
    assert (cells[0]["cost_usd"], cells[0]["seed"], cells[0]["cache_hit"]) == (
        0.5,
        str(2**60),
        True,
    )
    assert len(read_table(projection, "red_ask_audit", Caller("local", "x", "auditor"))[1]) == 3
    assert read_table(projection, "red_ask_audit", Caller("other", "x", "owner"))[1] == []
    projection.close()
