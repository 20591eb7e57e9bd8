"""Embedding as a user gets it beside the bare model: `python benchmarks/embedding.py [COUNT]`.

2,000 real passages (`../shared/data`), chunk by chunk and in turns, so that a busy machine harms
all alike; as many threads as there are cores for each:

    ours      rows are in the store without vectors; `db.embed()` reads, embeds, writes, commits
    bare      the same session over the same texts: tokens, one run each, mean; nothing stored
    shipped   the model file as it comes, in padded batches of 32 sorted by length

Target: ours ≥ 0.9 × bare.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import redask
from redask.embedding.models import minilm

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("REDASK_DATA", ROOT.parent / "shared" / "data"))
CHUNK = 100
CORES = os.cpu_count() or 1


def passages(count: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for file in ("qa/squad2_dev_half/passages.jsonl", "retrieval/2wiki_101/corpus.jsonl"):
        for line in (DATA / file).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found.append({"id": len(found), "title": row["title"], "text": row["text"]})
    return found[:count]


def bare() -> Callable[[list[str]], object]:
    session, tokenizer = minilm._session(), minilm._tokenizer()
    pool = ThreadPoolExecutor(CORES)
    return lambda texts: list(
        pool.map(lambda text: minilm._vector(session, tokenizer, text), texts)
    )


def shipped() -> Callable[[list[str]], object]:
    import onnxruntime  # type: ignore[import-untyped]  # it brings no types

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = CORES
    session = onnxruntime.InferenceSession(minilm._verified_file(*minilm._WEIGHTS), options)
    tokenizer = minilm._tokenizer()
    tokenizer.enable_padding()

    def embed(texts: list[str]) -> None:
        ordered = sorted(texts, key=len)
        for start in range(0, len(ordered), 32):
            encoded = tokenizer.encode_batch(ordered[start : start + 32])
            ids = np.array([each.ids for each in encoded], np.int64)
            mask = np.array([each.attention_mask for each in encoded], np.int64)
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            (states,) = session.run(["last_hidden_state"], given)
            (states * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]

    return embed


def main(count: int) -> None:
    rows = passages(count)
    seconds = {"ours": 0.0, "bare": 0.0, "shipped": 0.0}
    others = {"bare": bare(), "shipped": shipped()}
    with (
        tempfile.TemporaryDirectory() as directory,
        redask.open(directory, embedder="minilm") as db,
    ):
        db.put("warm", [{"id": 0, "text": "a first text loads the model"}])
        for start in range(0, len(rows), CHUNK):
            chunk = rows[start : start + CHUNK]
            db.put("passages", chunk, wait=False)
            started = time.perf_counter()
            assert db.embed() == len(chunk)
            seconds["ours"] += time.perf_counter() - started
            texts = [f"{row['title']}\n{row['text']}" for row in chunk]
            for name, embed in others.items():
                started = time.perf_counter()
                embed(texts)
                seconds[name] += time.perf_counter() - started
        app = db._async._app
        started = time.perf_counter()
        for row in rows[:50]:
            app.retriever._embed(str(row["title"]), app.backend.store.view(redask.Caller()))
        query = (time.perf_counter() - started) / 50
    print(f"{len(rows):,} passages, {CORES} cores; a question takes {query * 1000:.1f} ms")
    for name, spent in seconds.items():
        ratio = seconds["bare"] / spent
        print(f"  {name:8} {len(rows) / spent:6.1f}/s   {ratio:.2f} × bare")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
