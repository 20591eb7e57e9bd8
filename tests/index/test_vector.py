"""The vector index without faults; `test_vector_damage` has those."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redask.core.errors import BadAsk
from redask.index.vector import nearest, snapshot
from redask.index.vector.cosine import Floats, exact_cosines, unit_vectors
from redask.index.vector.nearest import Vector, VectorIndex

D = 16
Content = dict[int, tuple[int, Floats]]
Found = list[tuple[int, float]]


def random_rows(count: int, seed: int, dimensions: int = D) -> Floats:
    numbers = np.random.default_rng(seed).standard_normal((count, dimensions))
    return numbers.astype(np.float32)


def filled(directory: Path, rows: Floats, filter_keys: int = 1, **options: int) -> VectorIndex:
    index = VectorIndex(directory, rows.shape[1], **options)
    index.apply([(key, key % filter_keys, row) for key, row in enumerate(rows)], [], 1)
    return index


def by_hand(content: Content, query: Floats, k: int, allowed: set[int] | None = None) -> Found:
    """The same result, from the definition."""
    seen = {key: row for key, (own, row) in content.items() if allowed is None or own in allowed}
    if not seen:
        return []
    rows = unit_vectors(np.stack(list(seen.values())))
    scores = dict(
        zip(seen, exact_cosines(rows, unit_vectors(query[None, :])[0]).tolist(), strict=True)
    )
    kth = sorted(scores.values(), reverse=True)[: max(k, 0)]
    found = [(key, score) for key, score in scores.items() if kth and score >= kth[-1]]
    return sorted(found, key=lambda item: (-item[1], item[0]))


@pytest.fixture
def few_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates are chosen by their codes even among few rows."""
    monkeypatch.setattr(snapshot, "CANDIDATES", 60)


def test_a_new_index_is_empty_and_writes_nothing(tmp_path: Path) -> None:
    index = VectorIndex(tmp_path / "vectors", 3)
    assert (index.seq, index.count, index.pending) == (0, 0, 0)
    assert index.search([1, 0, 0], 5) == []
    assert not (tmp_path / "vectors").exists()


def test_the_nearest_come_first_with_their_cosines(tmp_path: Path) -> None:
    index = VectorIndex(tmp_path, 2)
    index.apply([(1, 0, [0, 5]), (2, 0, [3, 3]), (3, 0, (-1, 0)), (4, 0, [2, 0])], [], 7)
    found = index.search([10, 0], 3)
    assert [key for key, _ in found] == [4, 2, 1]
    assert [score for _, score in found] == pytest.approx([1, 0.5**0.5, 0])
    assert (index.seq, index.count) == (7, 4)


def test_all_ties_with_the_kth_are_returned(tmp_path: Path) -> None:
    index = VectorIndex(tmp_path, 2)
    index.apply([(key, 0, [1, 1]) for key in range(10)] + [(99, 0, [1, 0])], [], 1)
    assert [key for key, _ in index.search([1, 0], 2)] == [99, *range(10)]
    assert [key for key, _ in index.search([1, 0], 1)] == [99]


@pytest.mark.parametrize("k", [0, -1])
def test_a_search_for_no_vectors_finds_none(tmp_path: Path, k: int) -> None:
    assert filled(tmp_path, random_rows(5, 1)).search(random_rows(1, 2)[0], k) == []


def test_only_vectors_with_allowed_filter_keys_are_found(tmp_path: Path) -> None:
    index = filled(tmp_path, random_rows(100, 1), filter_keys=10)
    query = random_rows(1, 2)[0]
    assert {key % 10 for key, _ in index.search(query, 100, {3, 4, 77})} == {3, 4}
    assert len(index.search(query, 100, {3, 4})) == 20
    assert index.search(query, 5, set()) == []
    assert index.search(query, 5, {55}) == []
    assert len(index.search(query, 100)) == 100


def test_putting_a_key_again_replaces_its_vector_and_its_filter_key(tmp_path: Path) -> None:
    index = VectorIndex(tmp_path, 2)
    index.apply([(1, 0, [1, 0]), (2, 0, [0, 1])], [], 1)
    index.apply([(1, 5, [0, 1])], [], 2)
    assert index.search([0, 1], 5) == [(1, 1.0), (2, 1.0)]
    assert index.search([0, 1], 5, {0}) == [(2, 1.0)]
    index.apply([(2, 5, [0, 1])], [], 3)
    assert index.search([0, 1], 5, {0}) == []


@pytest.mark.parametrize("folding", [False, True])
def test_a_vector_deleted_before_can_be_put_again_as_it_was(tmp_path: Path, folding: bool) -> None:
    rows = random_rows(20, 1)
    index = filled(tmp_path, rows)
    index.apply([], [3], 2)
    if folding:
        index.fold()
    index = VectorIndex(tmp_path, D)
    index.apply([(3, 0, rows[3])], [], 3)
    assert index.search(rows[3], 1) == [(3, 1.0)]


def test_within_one_batch_the_last_vector_counts_and_adding_wins_over_deleting(
    tmp_path: Path,
) -> None:
    index = VectorIndex(tmp_path, 2)
    index.apply([(1, 0, [1, 0]), (1, 0, [0, 1])], [1, 2], 1)
    index.apply([(1, 0, [1, 1])], [1, 1], 2)
    assert index.search([1, 1], 5) == [(1, 1.0)]


def test_applying_again_changes_nothing_and_takes_no_space(tmp_path: Path) -> None:
    rows = random_rows(50, 1)
    index = filled(tmp_path, rows)
    pending = index.pending
    index.apply([(key, 0, row) for key, row in enumerate(rows)], [1_000], 1)
    assert index.pending == pending + 1
    assert index.count == 50
    index.apply([], [], 9)
    assert index.seq == 9
    index.apply([], [], 4)
    assert index.seq == 9


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([1.0, 2.0], "key 8 has 2 dimensions, not 3"),
        ([[1.0, 2.0, 3.0]], r"key 8 has \(1, 3\) dimensions"),
        ([1.0, float("nan"), 0.0], "key 8 has a number that is infinite"),
        ([1.0, float("-inf"), 0.0], "key 8 has a number that is infinite"),
        ([1e39, 0.0, 0.0], "key 8 has a number that is infinite"),
        ([0.0, -0.0, 0.0], "key 8 is zero"),
        (["a", "b", "c"], "key 8 is not a list of numbers"),
        (None, "key 8 has"),
    ],
)
def test_a_batch_with_an_invalid_vector_is_rejected_as_a_whole(
    tmp_path: Path, bad: Vector, message: str
) -> None:
    index = VectorIndex(tmp_path, 3)
    index.apply([(1, 0, [1, 0, 0])], [], 1)
    with pytest.raises(BadAsk, match=message):
        index.apply([(7, 0, [1, 2, 3]), (8, 0, bad)], [1], 2)
    assert (index.seq, index.count) == (1, 1)
    with pytest.raises(BadAsk, match="the query's vector"):
        index.search(bad, 5)


def test_an_index_needs_a_dimension(tmp_path: Path) -> None:
    with pytest.raises(BadAsk, match="dimension"):
        VectorIndex(tmp_path, 0)


# --- history -------------------------------------------------------------------------------

Step = tuple[str, list[int], int]
steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "delete", "fold", "open"]),
        st.lists(st.integers(0, 120), max_size=60),
        st.integers(0, 5),
    ),
    max_size=25,
)


@settings(max_examples=40, deadline=None)
@given(history=steps, exact_rows=st.sampled_from([0, 20, 10_000]), k=st.integers(1, 30))
def test_any_history_answers_like_its_content(
    tmp_path_factory: pytest.TempPathFactory, history: list[Step], exact_rows: int, k: int
) -> None:
    pool = random_rows(6, 3)  # few vectors, and so many ties
    directory = tmp_path_factory.mktemp("history")
    index, content = VectorIndex(directory, D, exact_limit=exact_rows), Content()
    for seq, (verb, keys, choice) in enumerate(history, 1):
        if verb == "put":
            new = {key: ((key + choice) % 3, pool[(key * choice) % 6]) for key in keys}
            index.apply([(key, *value) for key, value in new.items()], [], seq)
            content |= new
        elif verb == "delete":
            index.apply([], keys, seq)
            content = {key: value for key, value in content.items() if key not in keys}
        elif verb == "fold":
            index.fold()
            assert index.pending == 0
        else:
            index = VectorIndex(directory, D, exact_limit=exact_rows)
    assert index.count == len(content)
    index.verify()
    query = random_rows(1, 4)[0]
    for allowed in (None, {0, 2}):
        assert index.search(query, k, allowed) == by_hand(content, query, k, allowed)


def histories(root: Path, rows: Floats) -> Iterator[VectorIndex]:
    """The same content, five times: in order, shuffled and folded here and there, half of it
    deleted and put again, all of it changed once, and grown around what was there before."""
    put = [(key, key % 4, row) for key, row in enumerate(rows)]
    random = np.random.default_rng(8)
    names = ("plain", "shuffled", "again", "changed", "grown")
    plain, shuffled, again, changed, grown = (
        VectorIndex(root / name, rows.shape[1], exact_limit=1_000) for name in names
    )
    plain.apply(put, [], 1)
    plain.fold()
    order = [put[i] for i in random.permutation(len(put))]
    for start in range(0, len(order), 700):
        shuffled.apply(order[start : start + 700], [], start + 1)
        if start % 1_400:
            shuffled.fold()
    again.apply(put, [], 1)
    again.fold()
    again.apply([], range(0, len(put), 2), 2)
    again.apply(put[::2][::-1], [], 3)
    changed.apply([(key, own, -row) for key, own, row in put], [], 1)
    changed.fold()
    changed.apply(put, [], 2)
    changed.fold()
    grown.apply([(10_000 + key, 0, row) for key, row in enumerate(rows[:1_500])], [], 1)
    grown.fold()
    grown.apply(put, [], 2)
    grown.apply([], range(10_000, 11_500), 3)
    yield from (plain, shuffled, again, changed, grown)


@pytest.mark.usefixtures("few_candidates")
def test_equal_content_answers_equally_when_codes_choose_the_candidates(tmp_path: Path) -> None:
    rows = random_rows(3_000, 1, 64)
    rows[500:700] = rows[500]  # ties, more than there are candidates
    queries = [*random_rows(198, 2, 64), rows[500], rows[7]]
    first, *others = histories(tmp_path, rows)
    for allowed in (None, {0, 1, 3}):
        expected = [first.search(query, 20, allowed) for query in queries]
        assert len(expected[198]) >= 150  # all of the ties
        for index in others:
            assert [index.search(query, 20, allowed) for query in queries] == expected


@pytest.mark.usefixtures("few_candidates")
def test_hidden_vectors_change_no_byte(tmp_path: Path) -> None:
    mine = [(key, 7, row) for key, row in enumerate(random_rows(900, 1))]
    queries = random_rows(30, 2)
    for limit in (800, 1_000):  # more, or fewer, than an exhaustive search covers
        index = VectorIndex(tmp_path / str(limit), D, exact_limit=limit)
        index.apply(mine, [], 1)
        before = [index.search(query, 20, {7}) for query in queries]
        index.apply([(1_000 + k, 8, row) for k, row in enumerate(random_rows(3_000, 3))], [], 2)
        assert [index.search(query, 20, {7}) for query in queries] == before
        index.fold()
        assert [index.search(query, 20, {7}) for query in queries] == before
        index.apply([], range(1_000, 3_500), 3)
        index.fold()
        assert [index.search(query, 20, {7}) for query in queries] == before


@pytest.mark.usefixtures("few_candidates")
def test_thousands_of_equal_vectors_are_all_found(tmp_path: Path) -> None:
    """They all have the same estimate: which are candidates must not depend on their order."""
    rows = np.repeat(random_rows(1, 1), 1_500, axis=0)
    near = random_rows(1, 1) + np.float32(0.05) * random_rows(5, 2)
    index = filled(tmp_path, np.concatenate((rows, near)), exact_limit=100)
    found = index.search(random_rows(1, 1)[0], 3)
    assert {key for key, _ in found} == set(range(1_500))
    found = index.search(near[2], 3)
    assert found[0][0] == 1_502


# --- folding, and other readers --------------------------------------------------------------


def test_folding_moves_what_is_pending_and_keeps_the_answers(tmp_path: Path) -> None:
    index = filled(tmp_path, random_rows(300, 1), exact_limit=50)
    query = random_rows(1, 2)[0]
    before = index.search(query, 10)
    assert index.pending == 300
    assert index.needs_fold  # no codes yet, and too many for an exhaustive search
    index.fold()
    assert (index.pending, index.needs_fold, index.seq) == (0, False, 1)
    assert index.search(query, 10) == before
    names = sorted(path.name for path in tmp_path.iterdir())
    index.fold()  # nothing to do
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_many_changes_need_a_fold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "FOLD_AT", 30)
    index = filled(tmp_path, random_rows(29, 1))
    assert not index.needs_fold
    index.apply([], [], 2)  # a batch counts, even an empty one: the journal grows
    assert index.needs_fold


def test_folding_frees_the_space_of_many_deleted_vectors(tmp_path: Path) -> None:
    index = filled(tmp_path, random_rows(4_000, 1), exact_limit=100)
    index.fold()
    (before,) = tmp_path.glob("floats-*")
    size = before.stat().st_size
    index.apply([], range(500, 4_000), 2)
    expected = index.search(random_rows(1, 2)[0], 20)
    index.fold()
    (after,) = tmp_path.glob("floats-*")
    assert after.stat().st_size == 500 * D * 4 < size
    assert index.search(random_rows(1, 2)[0], 20) == expected
    index.apply([], range(500), 3)
    index.fold()
    assert index.search(random_rows(1, 2)[0], 20) == []
    index.apply([(1, 1, random_rows(1, 2)[0])], [], 4)
    assert index.search(random_rows(1, 2)[0], 20) == [(1, 1.0)]


def test_another_reader_sees_every_change(tmp_path: Path) -> None:
    writer, reader = (VectorIndex(tmp_path, D, exact_limit=100) for _ in range(2))
    query = random_rows(1, 99)[0]
    assert reader.search(query, 5) == []
    for seq in range(1, 30):
        added = [(seq * 20 + i, i, row) for i, row in enumerate(random_rows(20, seq))]
        writer.apply(added, [seq * 10], seq)
        if seq % 7 == 0:
            writer.fold()
        if seq % 5 == 0:
            writer, reader = reader, writer  # whichever process has the lock may write
        assert (reader.seq, reader.count) == (writer.seq, writer.count)
        assert reader.search(query, 5) == writer.search(query, 5)


def test_a_directory_that_was_deleted_and_filled_again_is_reloaded(tmp_path: Path) -> None:
    reader = filled(tmp_path, random_rows(10, 1))
    for path in tmp_path.iterdir():
        os.unlink(path)
    assert (reader.seq, reader.count) == (0, 0)
    filled(tmp_path, random_rows(3, 2))
    assert reader.count == 3


def test_searching_goes_on_while_others_write_and_fold(tmp_path: Path) -> None:
    rows = random_rows(400, 1)
    index = filled(tmp_path, rows, exact_limit=100)
    other = VectorIndex(tmp_path, D, exact_limit=100)

    def search(i: int) -> bool:
        found = (index if i % 2 else other).search(rows[i % 100], 1)
        return (i % 100) in {key for key, _ in found}

    def write(i: int) -> bool:
        (index if i % 3 else other).apply([(1_000 + i, 0, rows[i])], [900 + i], 2 + i)
        if i % 10 == 0:
            index.fold()
        return True

    with ThreadPoolExecutor(4) as pool:
        searches = [pool.submit(search, i) for i in range(600)]
        assert all(write(i) for i in range(100, 160))
        assert all(future.result() for future in searches)
