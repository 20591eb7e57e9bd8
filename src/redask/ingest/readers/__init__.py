"""Readers: one row for each file type. `pipeline.run` calls them.

    files                                        reader            gives
    .md .markdown, .txt .text .log               prose             chunks, links
    .rst .adoc, .xml, .srt .vtt                  markup, messages  chunks, links; rows
    PDF, Office, OpenDocument, EPUB, RTF, HTML   documents         chunks, links
    source code, .yaml .toml .ini, .ipynb        coded             chunks
    .eml .mbox                                   messages          chunks, edges
    .xlsx .ods                                   sheets            rows, chunks
    .csv .tsv .tab                               delimited         rows
    .jsonl .ndjson, .json                        json_files        rows
    .parquet .pq                                 parquet           rows
    .sqlite .sqlite3 .db .db3                    sqlite_files      rows, edges
    .zip                                         archives          what is in it

A new file type is one function and one row here: it gets an `OpenedFile` and yields
`ReadRecord`s, and refuses a file by a `BadAsk` whose message follows the file's name. Nothing is
written before all of a file is read.
"""

import os

from redask.core.text import lower
from redask.ingest.readers import (
    archives,
    delimited,
    documents,
    json_files,
    parquet,
    prose,
    sqlite_files,
)
from redask.ingest.readers.coded import notebooks, settings_files, source_code
from redask.ingest.readers.markup import xml_files
from redask.ingest.readers.messages import mail, subtitles
from redask.ingest.readers.sheets import workbooks
from redask.ingest.records import ReaderRow


def reader_for(path: str) -> ReaderRow | None:
    """The reader for a file, by its suffix."""
    return _BY_SUFFIX.get(lower(os.path.splitext(path)[1]))


_MB = 1024 * 1024
READERS = (
    ReaderRow("markdown", (".md", ".markdown"), prose.read_markdown, version=4, plain=True),
    ReaderRow("text", (".txt", ".text", ".log"), prose.read_text, version=3, plain=True),
    ReaderRow(
        "restructuredtext", (".rst", ".rest"), prose.read_restructured, version=4, plain=True
    ),
    ReaderRow(
        "asciidoc", (".adoc", ".asciidoc", ".asc"), prose.read_asciidoc, version=2, plain=True
    ),
    ReaderRow("document", tuple(documents.MIME), documents.read, version=3, max_bytes=128 * _MB),
    ReaderRow("spreadsheet", (".xlsx", ".xlsm", ".ods"), workbooks.read, version=3),
    ReaderRow("code", tuple(source_code.LANGUAGES), source_code.read, max_bytes=8 * _MB),
    ReaderRow("settings", tuple(settings_files.LANGUAGES), settings_files.read, max_bytes=8 * _MB),
    ReaderRow("notebook", (".ipynb",), notebooks.read, version=2),
    ReaderRow("mail", (".eml",), mail.read_message, max_bytes=mail.MAX_MESSAGE),
    ReaderRow("mailbox", (".mbox",), mail.read_mailbox, in_memory=False),
    ReaderRow("subtitles", (".srt", ".vtt"), subtitles.read, plain=True),
    ReaderRow("xml", (".xml",), xml_files.read),
    ReaderRow("csv", (".csv", ".tsv", ".tab"), delimited.read, in_memory=False, plain=True),
    ReaderRow("jsonl", (".jsonl", ".ndjson"), json_files.read_lines, in_memory=False, plain=True),
    ReaderRow("json", (".json",), json_files.read_whole, version=2, in_memory=False),
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
    ReaderRow(archives.NAME, (".zip",), archives.reader(reader_for), max_bytes=256 * _MB),
)
_BY_SUFFIX = {suffix: row for row in READERS for suffix in row.suffixes}
