"""Readers: one row for each file type. `pipeline.run` calls them.

    files                                        reader       gives
    .md .markdown                                prose        chunks, links
    .txt .text .log                              prose        chunks
    PDF, Office, OpenDocument, EPUB, RTF, HTML   documents    chunks, links
    .csv .tsv .tab                               delimited    rows
    .jsonl .ndjson, .json                        json_files   rows
    .parquet .pq                                 parquet      rows
    .sqlite .sqlite3 .db .db3                    sqlite_files rows, edges

A new file type is one function and one row here: it gets an `OpenedFile` and yields
`ReadRecord`s, and refuses a file by a `BadAsk` whose message follows the file's name. Nothing is
written before all of a file is read.
"""

import os

from redask.core.text import lower
from redask.ingest.readers import delimited, documents, json_files, parquet, prose, sqlite_files
from redask.ingest.records import ReaderRow

READERS = (
    ReaderRow("markdown", (".md", ".markdown"), prose.read_markdown),
    ReaderRow("text", (".txt", ".text", ".log"), prose.read_text),
    ReaderRow("document", tuple(documents.MIME), documents.read, max_bytes=128 * 1024 * 1024),
    ReaderRow("csv", (".csv", ".tsv", ".tab"), delimited.read, in_memory=False),
    ReaderRow("jsonl", (".jsonl", ".ndjson"), json_files.read_lines, in_memory=False),
    ReaderRow("json", (".json",), json_files.read_whole, in_memory=False),
    ReaderRow("parquet", (".parquet", ".pq"), parquet.read, in_memory=False),
    ReaderRow(
        "sqlite",
        (".sqlite", ".sqlite3", ".db", ".db3"),
        sqlite_files.read,
        version=2,
        in_memory=False,
        takes_snapshot=True,
        companions=("-wal",),
    ),
)
_BY_SUFFIX = {suffix: row for row in READERS for suffix in row.suffixes}


def reader_for(path: str) -> ReaderRow | None:
    """The reader for a file, by its suffix."""
    return _BY_SUFFIX.get(lower(os.path.splitext(path)[1]))
