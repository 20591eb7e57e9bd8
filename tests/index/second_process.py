"""Another process on the same database: searches on commands from its standard input.

    python second_process.py DIRECTORY

A line is the number of a question to search, answered by an empty line, or `answers`, answered
by all answers as one line of JSON.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from redask.core.model import Caller
from redask.index import SearchIndex
from redask.stores.sqlite.store import SqliteStore
from tests.index.texts import questions


def main() -> None:
    directory = Path(sys.argv[1])
    asked = questions(200)
    with SqliteStore(directory) as store:
        index = SearchIndex(directory / "index", store)
        for line in sys.stdin:
            answer = ""
            if line.strip() == "answers":
                found = [index.search(question, Caller()) for question in asked]
                answer = json.dumps([[asdict(bucket) for bucket in some] for some in found])
            else:
                index.search(asked[int(line)], Caller())
            sys.stdout.write(f"{answer}\n")
            sys.stdout.flush()
        index.close()


if __name__ == "__main__":
    main()
