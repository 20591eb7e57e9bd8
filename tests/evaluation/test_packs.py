"""evaluation.packs: both layouts are read, and a broken pack is refused with file and line."""

import json
from pathlib import Path

import pytest

from redask.core.errors import BadAsk
from redask.evaluation import packs


def write(folder: Path, **files: list[object] | str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else "\n".join(map(json.dumps, content))
        suffix = "tsv" if name == "qrels" else "jsonl"
        (folder / f"{name}.{suffix}").write_text(text, encoding="utf-8")
    return folder


HEAD = "query-id\tcorpus-id\tscore\n"
PASSAGE = {"_id": "p", "title": "T", "text": "x"}


def test_a_retrieval_pack_has_the_questions_that_have_evidence(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "pack",
        corpus=[PASSAGE],
        queries=[{"_id": "1", "text": "a?"}, {"_id": "2", "text": "b?"}],
        qrels=f"{HEAD}1\tp\t2\n2\tp\t0\n",
    )
    pack = packs.read(folder)
    assert (pack.name, pack.has_answers) == ("pack", False)
    assert pack.passages == ({"id": "p", "text": "x", "title": "T"},)
    assert pack.questions == (packs.Question("1", "a?", {"p": 2}),)


def test_a_pack_of_answers_keeps_unanswerable_questions(tmp_path: Path) -> None:
    asked = {"_id": "1", "question": "a?", "answers": ["x"], "evidence_sentences": [["s"], ["t"]]}
    folder = write(
        tmp_path / "pack",
        passages=[PASSAGE],
        questions=[asked, {"_id": "2", "question": "b?", "answerable": False}],
        qrels=f"{HEAD}1\tp\t1\n",
    )
    first, second = packs.read(folder).questions
    assert first == packs.Question("1", "a?", {"p": 1}, ("x",), ("s", "t"))
    assert (second.answerable, second.evidence) == (False, {})
    assert len(packs.read(folder).first(1).questions) == 1
    assert packs.read(folder).first(None) == packs.read(folder)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "is no pack"),
        ({"queries": "{}"}, "cannot be read"),
        ({"queries": "", "corpus": "", "qrels": f"{HEAD}1\tp\n"}, "qrels.tsv, line 2"),
        ({"queries": "", "corpus": "{\n", "qrels": HEAD}, "corpus.jsonl, line 1: not JSON"),
    ],
)
def test_a_broken_pack_is_refused(tmp_path: Path, files: dict[str, str], reason: str) -> None:
    with pytest.raises(BadAsk, match=reason):
        packs.read(write(tmp_path / "pack", **files))
