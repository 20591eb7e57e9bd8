"""Results that are kept: in memory, on disk, within bounds, let go of."""

import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from redask.core.errors import LimitExceeded, SqlError, StoreFailed
from redask.core.model import Caller
from redask.core.ports.selecting import SelectPage
from redask.engine.processes import result_spool
from redask.engine.processes.result_spool import ResultSpool

COLUMNS = (("n", "int8"), ("t", "text"))


def pages(count: int, size: int, text: str = "x") -> Iterator[SelectPage]:
    for start in range(0, count, size):
        rows = [(n, text) for n in range(start, min(start + size, count))]
        yield SelectPage(COLUMNS, len(rows), pickle.dumps(rows))
    if not count:
        yield SelectPage(COLUMNS, 0, pickle.dumps([]))


@pytest.fixture
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ResultSpool:
    monkeypatch.setattr(result_spool, "MEMORY_BYTES", 2000)
    return ResultSpool(tmp_path, 100_000)


@pytest.mark.parametrize(("count", "in_memory"), [(0, True), (1, True), (50, True), (3000, False)])
def test_rows_are_read_from_anywhere(spool: ResultSpool, count: int, in_memory: bool) -> None:
    kept = spool.keep(pages(count, 70))
    assert kept.columns == COLUMNS
    assert len(kept.rows) == count
    assert kept.rows.in_memory is in_memory
    assert (spool.on_disk > 0) is not in_memory
    whole: list[object] = []
    place = 0
    while found := kept.rows.read(place, count):
        whole += found
        place += len(found)
    assert whole == [(n, "x") for n in range(count)]
    for start in (count - 1, count // 2, 0):
        assert list(kept.rows.read(start, start + 1)) == whole[start : start + 1]
    assert list(kept.rows.read(count, count + 5)) == []
    assert list(kept.rows.read(-1, 5)) == []
    kept.rows.close()
    kept.rows.close()
    assert spool.on_disk == 0
    assert list(kept.rows.read(0, 5)) == []


def test_all_results_share_a_bound(spool: ResultSpool, tmp_path: Path) -> None:
    kept = [spool.keep(pages(10, 1, "y" * 4000)) for _ in range(2)]
    with pytest.raises(LimitExceeded) as caught:
        spool.keep(pages(10, 1, "y" * 4000))
    assert caught.value.limit == "select.spool_bytes"
    before = spool.on_disk
    assert 70_000 < before < 100_000
    assert os.listdir(tmp_path) == []  # files without names
    kept.pop().rows.close()
    spool.keep(pages(10, 1, "y" * 4000)).rows.close()
    del kept
    assert spool.on_disk == 0  # who forgets a result lets go of it


@pytest.mark.parametrize(
    ("second", "whose"), [("eve", "of this user"), ("mallory", "of this tenant")]
)
def test_no_user_and_no_tenant_has_all_of_the_disk(
    spool: ResultSpool, second: str, whose: str
) -> None:
    def kept(user: str, tenant: str, rows: int) -> object:
        return spool.keep(pages(rows, 1, "y" * 4000), Caller(tenant, user)).rows

    held = [kept("eve", "south", 12)]
    with pytest.raises(LimitExceeded, match=f"results {whose} that are not read yet"):
        kept(second, "south", 8)
    held.append(kept("mallory", "south", 5))
    held.append(kept("ada", "north", 6))  # another tenant has its part
    assert spool.on_disk > 90_000
    held.clear()
    assert (spool.on_disk, spool._shares) == (0, {})


def test_short_results_go_to_disk_when_many_are_held(
    spool: ResultSpool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_spool, "ALL_MEMORY_BYTES", 4_000)
    short = [spool.keep(pages(2, 1, "y" * 800)) for _ in range(4)]
    assert [each.rows.in_memory for each in short] == [True, True, False, False]
    assert [list(each.rows.read(1, 2)) for each in short] == [[(1, "y" * 800)]] * 4
    short.clear()
    assert (spool._in_memory, spool.on_disk) == (0, 0)
    assert spool.keep(pages(2, 1, "y" * 800)).rows.in_memory


def test_a_result_that_fails_in_the_middle_leaves_nothing(spool: ResultSpool) -> None:
    def failing() -> Iterator[SelectPage]:
        yield from pages(100, 10, "z" * 300)
        raise SqlError("22012", "division by zero")

    with pytest.raises(SqlError):
        spool.keep(failing())
    assert spool.on_disk == 0


def test_a_disk_that_fails_is_said(spool: ResultSpool, tmp_path: Path) -> None:
    missing = ResultSpool(tmp_path / "nowhere", 100_000)
    with pytest.raises(StoreFailed):
        missing.keep(pages(3000, 100))
    kept = spool.keep(pages(3000, 100))
    os.truncate(kept.rows._file.fileno(), 10)  # type: ignore[attr-defined]
    with pytest.raises(StoreFailed):
        kept.rows.read(0, 1)
    kept.rows._file.close()  # type: ignore[attr-defined]
    with pytest.raises(StoreFailed):
        kept.rows.read(500, 501)
