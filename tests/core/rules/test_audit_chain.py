"""rules.audit_chain: a chain that was written verifies; the first record that was not is named."""

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.rules import audit_chain
from redask.core.rules.audit_chain import (
    ERASED,
    PRUNED,
    ROW,
    Broken,
    Chain,
    ChainAnchor,
    ChainRecord,
    ChainReport,
    Head,
    Remembered,
)

START = audit_chain.genesis("file", "ask", "local")


def records(leaves: list[str]) -> list[ChainRecord]:
    made: list[ChainRecord] = []
    last = START
    for seq, leaf in enumerate(leaves, start=1):
        last = audit_chain.link(last, audit_chain.entry(seq, 10 * seq, ROW, leaf))
        made.append(ChainRecord(seq, ROW, 10 * seq, leaf, last))
    return made


def chain_of(made: list[ChainRecord], pruned: int = 0) -> Chain:
    end = made[-1] if made else ChainRecord(0, ROW, 0, "", START)
    gone = made[pruned - 1].hash if pruned else START
    return Chain("ask", "local", 0, START, Head(end.seq, end.hash, pruned, gone))


def anchor(made: list[ChainRecord], first: int, last: int) -> ChainAnchor:
    entries = [audit_chain.entry(each.seq, each.at, each.kind, each.leaf) for each in made]
    marks = "".join(each[: audit_chain.MARK] for each in entries[first - 1 : last])
    return ChainAnchor(first, last, made[last - 1].hash, marks)


def pruning(
    made: list[ChainRecord], to: int, changed: dict[str, object] | None = None
) -> ChainRecord:
    """The record that says that the records up to this one were taken."""
    facts = {"from": 1, "to": to, "last": made[to - 1].hash, "head": made[-1].hash, "rule": "r"}
    seq = made[-1].seq + 1
    digest = audit_chain.link(made[-1].hash, audit_chain.entry(seq, 99, PRUNED, "p"))
    return ChainRecord(seq, PRUNED, 99, "p", digest, {**facts, **(changed or {})})


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_the_hashes_are_those_of_the_format() -> None:
    assert sha256("redask audit 2 file ask 0 local") == START
    assert audit_chain.genesis("f", "access", "a b", 7) == sha256("redask audit 2 f access 7 a b")
    entry = sha256("1 10 row leaf")
    assert audit_chain.entry(1, 10, "row", "leaf") == entry
    assert audit_chain.link(START, entry) == sha256(f"{START} {entry}")


@given(st.lists(st.text(alphabet="ab", min_size=1), max_size=6))
def test_what_was_written_verifies(leaves: list[str]) -> None:
    made = records(leaves)
    chain = chain_of(made)
    report = audit_chain.verify(chain, made, Remembered())
    assert report == ChainReport("ask", "local", len(leaves), chain.head)


@pytest.mark.parametrize("place", range(4))
def test_a_changed_dropped_or_moved_record_is_named(place: int) -> None:
    made = records(["a", "b", "c", "d"])
    chain = chain_of(made)
    changed = [replace(each, leaf="x") if each.seq == place + 1 else each for each in made]
    later = [replace(each, at=each.at + 1) if each.seq == place + 1 else each for each in made]
    named = Broken(place + 1, f"row {place + 1} is not what was written", "local")
    assert audit_chain.verify(chain, changed, Remembered()) == named
    assert audit_chain.verify(chain, later, Remembered()) == named
    dropped = made[:place] + made[place + 1 :]
    missing = Broken(place + 1, f"row {place + 1} is missing", "local")
    assert audit_chain.verify(chain, dropped, Remembered()) == missing


def test_a_record_that_cannot_be_read_is_named_whatever_its_hash_is() -> None:
    made = records(["a", audit_chain.UNREADABLE, "c"])
    verdict = audit_chain.verify(chain_of(made), made, Remembered())
    assert verdict == Broken(2, "row 2 cannot be read: it is not what was written", "local")


def test_a_record_behind_the_head_and_an_end_of_another_hash_are_named() -> None:
    made = records(["a", "b", "c"])
    verdict = audit_chain.verify(chain_of(made[:2]), made, Remembered())
    assert verdict == Broken(3, "row 3 was added behind the end of the log", "local")
    chain = chain_of(made)
    forged = replace(chain, head=replace(chain.head, hash="f" * 64))
    verdict = audit_chain.verify(forged, made, Remembered())
    assert verdict == Broken(3, "row 3 is not what was written", "local")


@pytest.mark.parametrize("place", range(1, 5))
@pytest.mark.parametrize("at", [[1, 4], [2, 4], [1, 2, 3, 4]])
def test_a_chain_that_was_made_anew_is_found_at_the_row_that_differs(
    place: int, at: list[int]
) -> None:
    made = records(["a", "b", "c", "d"])
    firsts = [1, *(each + 1 for each in at[:-1])]
    anchors = [anchor(made, first, last) for first, last in zip(firsts, at, strict=True)]
    forged = records([("x" if seq == place else "abcd"[seq - 1]) for seq in range(1, 5)])
    verdict = audit_chain.verify(chain_of(forged), forged, Remembered(anchors[::-1], 0))
    why = f"row {place} is not what was written: the store remembers another"
    assert verdict == Broken(place, why, "local")


def test_a_forged_row_with_the_same_mark_is_found_at_the_anchor() -> None:
    made = records(["a", "b"])
    forged = records(["x", "b"])
    lying = replace(anchor(forged, 1, 2), hash=made[1].hash)
    verdict = audit_chain.verify(chain_of(forged), forged, Remembered([lying], 0))
    assert isinstance(verdict, Broken)
    assert verdict.seq == 2


def test_what_came_after_the_last_anchor_is_not_covered_and_the_report_says_so() -> None:
    made = records(["a", "b", "c"])
    report = audit_chain.verify(chain_of(made), made, Remembered([anchor(made, 2, 2)], 0))
    assert isinstance(report, ChainReport)
    assert (report.rows, report.anchored) == (3, 2)


@pytest.mark.parametrize("left", range(4))
def test_a_cut_tail_is_found(left: int) -> None:
    made = records(["a", "b", "c", "d"])
    remembered = Remembered([anchor(made, 1, 4)], 0)
    verdict = audit_chain.verify(chain_of(made[:left]), made[:left], remembered)
    assert verdict == Broken(left + 1, f"row {left + 1} is missing", "local")


def test_rows_that_were_pruned_are_reported_with_the_rule() -> None:
    made = records(["a", "b", "c"])
    whole = [*made, pruning(made, 2)]
    for remembered in (Remembered(), Remembered([anchor(made, 1, 2)], 2)):
        report = audit_chain.verify(chain_of(whole, pruned=2), whole[2:], remembered)
        assert isinstance(report, ChainReport)
        assert (report.rows, report.head.pruned_seq, report.rule) == (1, 2, "r")


@pytest.mark.parametrize("lie", [{"to": 1}, {"last": "x"}, {"to": None}])
def test_rows_that_are_missing_without_a_true_record_are_named(lie: dict[str, object]) -> None:
    made = records(["a", "b", "c"])
    whole = [*made, pruning(made, 2, lie)]
    verdict = audit_chain.verify(chain_of(whole, pruned=2), whole[2:], Remembered())
    assert verdict == Broken(2, "row 2 is missing, and no record says it was pruned", "local")


def test_more_was_pruned_than_the_store_allowed() -> None:
    made = records(["a", "b", "c"])
    whole = [*made, pruning(made, 2)]
    remembered = Remembered([anchor(made, 1, 3)], 1)
    verdict = audit_chain.verify(chain_of(whole, pruned=2), whole[2:], remembered)
    assert verdict == Broken(2, "row 2 is missing", "local")


def test_the_last_pruned_row_is_the_one_that_the_store_remembers() -> None:
    made, forged = records(["a", "b", "c"]), records(["x", "b", "c"])
    whole = [*forged, pruning(forged, 2)]
    remembered = Remembered([anchor(made, 1, 2)], 2)
    verdict = audit_chain.verify(chain_of(whole, pruned=2), whole[2:], remembered)
    assert isinstance(verdict, Broken)
    assert verdict.seq == 2


def test_a_chain_that_starts_elsewhere_is_not_this_one() -> None:
    made = records(["a"])
    chain = replace(chain_of(made), genesis=audit_chain.genesis("file", "ask", "other"))
    assert isinstance(audit_chain.verify(chain, made, Remembered()), Broken)


def erasing(made: list[ChainRecord], facts: dict[str, object]) -> list[ChainRecord]:
    """The chain with a record that says what was erased."""
    seq = made[-1].seq + 1
    digest = audit_chain.link(made[-1].hash, audit_chain.entry(seq, 99, ERASED, "e"))
    return [*made, ChainRecord(seq, ERASED, 99, "e", digest, facts)]


def without_values(made: list[ChainRecord], seq: int, *names: str) -> list[ChainRecord]:
    return [replace(each, erased=frozenset(names)) if each.seq == seq else each for each in made]


def test_what_was_erased_is_on_record_and_reported() -> None:
    noted = erasing(records(["a", "b", "c"]), {"seq": 2, "fields": ["question", "user"]})
    made = without_values(noted, 2, "question", "user")
    report = audit_chain.verify(chain_of(made), made, Remembered())
    assert isinstance(report, ChainReport)
    assert (report.rows, report.erased) == (3, 1)


@pytest.mark.parametrize(
    "facts", [{"seq": 1, "fields": ["question"]}, {"seq": "2", "fields": 5}, {}, {"seq": 2}]
)
def test_a_value_that_is_missing_without_a_record_is_named(facts: dict[str, object]) -> None:
    made = without_values(erasing(records(["a", "b", "c"]), facts), 2, "question")
    made = without_values(made, 1, "question") if facts.get("seq") == 1 else made
    verdict = audit_chain.verify(chain_of(made), made, Remembered())
    why = "row 2 lacks question, and no record says it was erased"
    assert verdict == Broken(2, why, "local")


def test_an_erased_value_that_is_there_again_is_named_but_not_in_what_was_pruned() -> None:
    made = erasing(records(["a", "b", "c"]), {"seq": 2, "fields": ["question"]})
    verdict = audit_chain.verify(chain_of(made), made, Remembered())
    assert verdict == Broken(2, "row 2 has question, which was erased", "local")
    pruned = [*made, pruning(made, 2)]
    report = audit_chain.verify(chain_of(pruned, pruned=2), pruned[2:], Remembered())
    assert isinstance(report, ChainReport)


def test_whoever_looks_on_sees_each_entry_that_is_as_written() -> None:
    made, seen = records(["a", "b"]), list[tuple[int, str]]()
    audit_chain.verify(chain_of(made), made, Remembered(), lambda *each: seen.append(each))
    assert seen == [
        (each.seq, audit_chain.entry(each.seq, each.at, ROW, each.leaf)) for each in made
    ]
