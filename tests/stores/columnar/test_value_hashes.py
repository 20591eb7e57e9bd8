"""Values found by the hashes of their normalised texts, in tables of any size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.planning.value_text import normalised
from redask.stores.columnar.plan_facts import value_hashes
from redask.stores.columnar.plan_facts.value_hashes import CombinedHashes, ValueHashes, WantedTexts

TEXTS = st.lists(
    st.sampled_from(["a", "A", "a-b", "a b", "é", "É", "", "x" * 101, "no"]), max_size=9
)


@given(TEXTS, TEXTS, TEXTS)
def test_what_is_found_is_what_comparing_all_finds(
    one: list[str], two: list[str], wanted: list[str]
) -> None:
    columns = {0: sorted(set(one)), 3: sorted(set(two))}
    expected = {
        (normalised(text), column, value)
        for text in wanted
        for column, values in columns.items()
        for value in values
        if normalised(text) and normalised(text) == normalised(value)
    }
    table = ValueHashes.of(columns)
    assert set(table.find(WantedTexts(wanted))) == expected
    both = CombinedHashes({"t": table, "u": table})
    found = list(both.find(WantedTexts(wanted)))
    assert {(text, column, value) for name, text, column, value in found if name == "u"} == expected
    assert len(found) == 2 * len(expected)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["a", "b", "B", "c"])), max_size=12))
def test_values_come_and_go(changes: list[tuple[bool, str]]) -> None:
    present = {"a", "b"}
    table = ValueHashes.of({1: sorted(present)})
    for comes, value in changes:
        if comes and value not in present:
            present.add(value)
            table = table.after([(1, value)], []) or table
        elif not comes and value in present:
            present.remove(value)
            table = table.after([], [(1, value)]) or table
    for name in ({"t": table}, {"s": ValueHashes.of({}), "t": table}):
        found = CombinedHashes(name).find(WantedTexts(["a", "b", "c"]))
        assert {value for _, _, _, value in found} == present


def test_a_hash_alone_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_hashes, "hash", lambda _: 7, raising=False)
    table = ValueHashes.of({0: ["a", "b", "c"]})
    assert list(table.find(WantedTexts(["b"]))) == [("b", 0, "b")]
    assert list(CombinedHashes({"t": table}).find(WantedTexts(["c"]))) == [("t", "c", 0, "c")]


def test_a_large_table_is_looked_through_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_hashes, "SMALL_TABLE", 1)
    tables = {"large": ValueHashes.of({0: ["a", "b"]}), "small": ValueHashes.of({2: ["b"]})}
    found = CombinedHashes(tables).find(WantedTexts(["B"]))
    assert sorted(found) == [("large", "b", 0, "b"), ("small", "b", 2, "b")]


def test_no_values_and_no_texts_find_nothing() -> None:
    assert list(CombinedHashes({}).find(WantedTexts(["a"]))) == []
    assert list(CombinedHashes({"t": ValueHashes.of({0: ["a"]})}).find(WantedTexts([]))) == []
