"""Files to entities: one row for each kind of file. `pipeline.run` does the work.

    files                                        reader       gives
    .md .markdown                                prose        chunks, links
    .txt .text .log                              prose        chunks
    PDF, Office, OpenDocument, EPUB, RTF, HTML   documents    chunks, links
    .csv .tsv .tab                               delimited    rows
    .jsonl .ndjson, .json                        json_files   rows
    .parquet .pq                                 parquet      rows
    .sqlite .sqlite3 .db .db3                    sqlite_files rows, edges

A new kind of file is one function and one row here: it gets an `OpenedFile` and gives
`ReadRecord`s, and says what is wrong with a file by a `BadAsk` in words that follow its name.
Nothing is written before a file was read to its end.
"""

import os

from redask.core.text import lower
from redask.ingest.readers import delimited, documents, json_files, parquet, prose, sqlite_files
from redask.ingest.records import ReaderRow

READERS = (
    ReaderRow("markdown", (".md", ".markdown"), prose.read_markdown),
    ReaderRow("text", (".txt", ".text", ".log"), prose.read_text),
    ReaderRow("document", tuple(documents.MIME), documents.read, most=128 * 1024 * 1024),
    ReaderRow("csv", (".csv", ".tsv", ".tab"), delimited.read, whole=False),
    ReaderRow("jsonl", (".jsonl", ".ndjson"), json_files.read_lines, whole=False),
    ReaderRow("json", (".json",), json_files.read_whole, whole=False),
    ReaderRow("parquet", (".parquet", ".pq"), parquet.read, whole=False),
    ReaderRow(
        "sqlite",
        (".sqlite", ".sqlite3", ".db", ".db3"),
        sqlite_files.read,
        whole=False,
        steady=True,
        beside=("-wal",),
    ),
)
_BY_SUFFIX = {suffix: row for row in READERS for suffix in row.suffixes}


def reader_for(path: str) -> ReaderRow | None:
    """The reader for a file, by the ending of its name."""
    return _BY_SUFFIX.get(lower(os.path.splitext(path)[1]))
