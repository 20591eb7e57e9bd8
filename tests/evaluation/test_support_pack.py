"""evaluation.support_pack: claims with a source, thresholds of one half, figures of the other."""

import json
from pathlib import Path

import pytest

from redask.core.errors import BadAsk
from redask.evaluation import support_pack
from redask.evaluation.support_pack import SupportRow

RIGHT = SupportRow("The ferry leaves at 9:15.", "The ferry leaves at 9:15 from pier 4.", True)
WRONG = SupportRow("The ferry leaves at 10:45.", "The ferry leaves at 9:15 from pier 4.", False)
OTHER = SupportRow("Cocoa butter melts slowly.", "The ferry leaves at 9:15 from pier 4.", False)


def quiet(_stage: str, _done: int, _total: int) -> None:
    """No progress."""


def written(folder: Path, *rows: object) -> Path:
    file = folder / "rows.jsonl"
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def as_row(row: SupportRow) -> dict[str, object]:
    return {"claim": row.claim, "source": row.source, "supported": row.supported}


def test_the_rows_of_a_file_are_read(tmp_path: Path) -> None:
    rows = (RIGHT, RIGHT, WRONG, WRONG)
    assert support_pack.read(written(tmp_path, *map(as_row, rows), "")) == rows


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1: not JSON"),
        ("[]", "line 1: expected 'claim', text"),
        ({"claim": 1}, "line 1: expected 'claim', text"),
        ({"claim": "x"}, "line 1: expected 'source', text"),
        ({"claim": "x", "source": "y", "supported": 1}, "line 1: expected 'supported', true or"),
    ],
)
def test_a_broken_line_is_refused_with_its_number(tmp_path: Path, line: object, said: str) -> None:
    with pytest.raises(BadAsk, match=said):
        support_pack.read(written(tmp_path, line))


def test_a_half_with_one_kind_of_claims_only_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, as_row(RIGHT), as_row(RIGHT), as_row(WRONG))
    with pytest.raises(BadAsk, match=r"the second, fourth, … rows need both"):
        support_pack.read(file)


def test_a_file_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b"\xff")
    with pytest.raises(BadAsk, match="is not UTF-8"):
        support_pack.read(tmp_path / "rows.jsonl")


def test_the_check_sees_a_wrong_number_that_word_overlap_does_not() -> None:
    rows = [RIGHT, RIGHT, WRONG, WRONG, OTHER, OTHER]
    figures = support_pack.measure(rows, quiet)
    assert figures["check"] == {
        "balanced_accuracy": 1.0,
        "supported_found": 1.0,
        "unsupported_found": 1.0,
    }


def test_thresholds_are_chosen_on_even_rows_and_measured_on_odd_ones() -> None:
    """On the even rows the words decide, on the odd ones they say the opposite."""
    misleading_right = SupportRow("Cocoa butter melts slowly.", "The ferry leaves.", True)
    misleading_wrong = SupportRow("The ferry leaves daily.", "The ferry leaves daily.", False)
    rows = [RIGHT, misleading_right, OTHER, misleading_wrong]
    figures = support_pack.measure(rows, quiet)
    assert figures["word_overlap"]["balanced_accuracy"] == 0.0
    alike = support_pack.measure([RIGHT, RIGHT, OTHER, OTHER], quiet)
    assert alike["word_overlap"]["balanced_accuracy"] == 1.0


def test_a_claim_without_a_word_is_judged_too() -> None:
    blank = SupportRow("…", "The ferry leaves.", False)
    figures = support_pack.measure([RIGHT, RIGHT, blank, blank], quiet)
    assert figures["check"]["balanced_accuracy"] == 1.0


def test_progress_is_told_row_by_row() -> None:
    told: list[tuple[str, int, int]] = []
    support_pack.measure([RIGHT, RIGHT, WRONG, WRONG], lambda *each: told.append(each))
    assert told == [("judging", number, 4) for number in (1, 2, 3, 4)]
