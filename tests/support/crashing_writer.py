"""A process that writes and searches until it is killed: `crashing_writer.py DIRECTORY SEED`.

Before each operation it prints `try` with the operation, after it `done`. What is done was
acknowledged; what was only tried may be there or not, but never in part.
"""

import json
import random
import sys
from typing import Any

import redask
from redask.index import generation
from redask.index.vector import nearest

WORDS = "ferry harbour lighthouse tide island Amrum Föhr nine ten late storm ticket".split()
IDS = 60


def main(directory: str, seed: int) -> None:
    generation.MAX_TAIL = 8  # fold words and vectors all the time, not once in 20,000 rows
    nearest.FOLD_AT = 8
    rng = random.Random(seed)
    with redask.open(directory, embedder="hashed") as db:
        while True:
            operation = choose(rng)
            print("try", json.dumps(operation), flush=True)
            perform(db, operation)
            print("done", flush=True)


def choose(rng: random.Random) -> dict[str, Any]:
    kind = rng.choices(("put", "delete", "search"), (5, 2, 3))[0]
    if kind == "search":
        return {"do": "search", "question": " ".join(rng.sample(WORDS, 3))}
    ids = sorted(rng.sample(range(IDS), rng.randint(1, 12)))
    if kind == "delete":
        return {"do": "delete", "ids": ids}
    rows = [
        {"id": each, "text": " ".join(rng.choices(WORDS, k=rng.randint(1, 30)))} for each in ids
    ]
    return {"do": "put", "rows": rows}


def perform(db: redask.OpenDatabase, operation: dict[str, Any]) -> None:
    match operation["do"]:
        case "put":
            db.put("notes", operation["rows"])
        case "delete":
            db.delete(*(f"urn:reddb:row:notes/{each}" for each in operation["ids"]))
        case "search":
            db.search(operation["question"])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
