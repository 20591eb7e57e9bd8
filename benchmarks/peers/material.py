"""What every contestant gets: `prepare(home, size)` writes passages, vectors and questions.

    up to 5,000   real passages: all 646 of squad2_dev_half, all of clapnq_dev, then 2wiki_101,
                  embedded with redask's own embedder
    beyond        made from real ones: the sentences of two passages that are not squad2's,
                  shuffled, as many as the first has; its vector is 0.7 of the first's and 0.3 of
                  the second's, and noise (0.02 in each dimension), brought to length 1
    questions     answerable ones of squad2_dev_half, spread evenly, each with its gold passage

Embedding is done once, resumed after an interruption, and repeated when texts or model
change. Real embeddings of 100,000 passages would take longer than all the rest together.
"""

import hashlib
import json
import os
import random
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from peers.contest import DIMENSIONS, Matrix, Passage
from redask.embedding.models.minilm import MiniLm
from redask.evaluation import packs

REAL = 5_000
QUESTIONS = 300
_BATCH = 100
_GOLD, *_OTHERS = ("qa/squad2_dev_half", "qa/clapnq_dev", "retrieval/2wiki_101")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SEED = 7
Report = Callable[[str], None]


def prepare(home: Path, size: int, count: int, report: Report) -> Path:
    """The folder with everything for a size, made if it is not there."""
    data = Path(os.environ.get("REDASK_DATA", Path(__file__).parents[3] / "shared" / "data"))
    gold = packs.read(data / _GOLD)
    rows = [row for name in (_GOLD, *_OTHERS) for row in packs.read(data / name).passages]
    real = [
        Passage(f"p{number}", str(row["title"]), str(row["text"]))
        for number, row in enumerate(rows[:REAL])
    ]
    known = {str(row["id"]): each.id for row, each in zip(gold.passages, real, strict=False)}
    answerable = [each for each in gold.questions if each.evidence and each.answerable]
    asked = answerable[:: max(1, len(answerable) // count)][:count]
    folder = home / f"material-{size}-{count}"
    if (folder / "questions.npy").is_file():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    vectors = embedded(home / "passages", [each.body for each in real], report)
    points = embedded(home / f"questions-{count}", [each.text for each in asked], report)
    passages, matrix = enlarged(real, vectors, size, spared=len(gold.passages))
    lines = (
        json.dumps({"id": each.id, "title": each.title, "text": each.text}) for each in passages
    )
    (folder / "passages.jsonl").write_text("\n".join(lines), encoding="utf-8")
    np.save(folder / "vectors.npy", matrix)
    questions = [
        {"text": each.text, "gold": [known[name] for name in each.evidence]} for each in asked
    ]
    (folder / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    np.save(folder / "questions.npy", points)  # last: it marks the folder as complete
    return folder


def embedded(stem: Path, texts: Sequence[str], report: Report) -> Matrix:
    """The vectors of texts, cached in files named after `stem`."""
    model = MiniLm()
    digest = hashlib.sha256("\0".join([model.model, *texts]).encode()).hexdigest()
    store = stem.with_name(f"{stem.name}-{digest[:16]}.f32")
    store.parent.mkdir(parents=True, exist_ok=True)
    done = store.stat().st_size // (4 * DIMENSIONS) if store.is_file() else 0
    with store.open("ab") as file:
        file.truncate(done * 4 * DIMENSIONS)
        for start in range(done, len(texts), _BATCH):
            made = model.embed(texts[start : start + _BATCH])
            file.write(np.array(made, np.float32).tobytes())
            file.flush()
            report(f"embedding {start + len(made):,} of {len(texts):,} texts")
    return np.fromfile(store, np.float32).reshape(len(texts), DIMENSIONS)


def enlarged(
    real: Sequence[Passage], vectors: Matrix, size: int, *, spared: int
) -> tuple[list[Passage], Matrix]:
    """The first `size` passages; beyond the real ones, mixtures of all but the first `spared`."""
    passages = list(real[:size])
    draw = random.Random(_SEED)
    noise = np.random.default_rng(_SEED)
    rows = [vectors[: len(passages)]]
    for number in range(len(passages), size):
        first, second = draw.randrange(spared, len(real)), draw.randrange(spared, len(real))
        sentences = _SENTENCE_END.split(real[first].text)
        most = len(sentences)
        sentences += _SENTENCE_END.split(real[second].text)
        draw.shuffle(sentences)
        text = " ".join(sentences[:most])
        passages.append(Passage(f"p{number}", real[first].title, text))
        mixed = 0.7 * vectors[first] + 0.3 * vectors[second] + noise.normal(0, 0.02, DIMENSIONS)
        rows.append((mixed / np.linalg.norm(mixed)).astype(np.float32)[None])
    return passages, np.concatenate(rows)


if __name__ == "__main__":
    prepare(Path(sys.argv[1]), int(sys.argv[2]), QUESTIONS, print)
