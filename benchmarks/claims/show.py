"""`python -m claims.show HALF KIND [COUNT]`: changed claims (or `paraphrases`) to read by eye."""

import importlib
import sys

from claims import changes, material, respelling


def main() -> None:
    half, kind, *rest = sys.argv[1:]
    count = int(rest[0]) if rest else 50
    made = importlib.import_module(f"claims.half_{half}")
    sentences = material.read(half)
    if kind == "paraphrases":
        for each in respelling.make(made.PARAPHRASES, sentences, count):
            print(f"[{each.template}] {each.text}")
        return
    for change in changes.make({kind: made.MUTATORS[kind]}, sentences, count):
        start, end = change.edit.start, change.edit.end
        before, after = change.sentence.text[:start], change.sentence.text[end:]
        print(f"[{change.style}] {before}«{change.was}→{change.edit.now}»{after}")


if __name__ == "__main__":
    main()
