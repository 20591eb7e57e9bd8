"""PDF, Office and HTML as chunks; Markdown and text without help."""

from pathlib import Path

import pytest
from filing import OLD_OFFICE, contents, docx, edges, pdf, write

import redask
from redask.ingest.readers import documents


def only_reason(db: redask.OpenDatabase, path: Path) -> str:
    (problem,) = db.ingest(path).problems
    assert problem.path == str(path)
    assert contents(db, "") == {}
    return problem.reason


def test_a_chunk_has_title_path_heading_and_text(db: redask.OpenDatabase, tmp_path: Path) -> None:
    write(tmp_path / "docs" / "sea" / "ferry.md", "# Ferries\n\nAll.\n\n## On Sunday\n\nNone.\n")
    assert db.ingest(tmp_path / "docs").ok
    path = "sea/ferry.md"
    assert contents(db, "document:docs/") == {
        "sea%2Fferry.md#top": {"title": "Ferries", "path": path, "text": "All.", "line": 3},
        "sea%2Fferry.md#on-sunday": {
            "title": "Ferries",
            "path": path,
            "heading": "On Sunday",
            "text": "None.",
            "line": 7,
        },
    }


def test_plain_text_has_no_headings(db: redask.OpenDatabase, tmp_path: Path) -> None:
    db.ingest(write(tmp_path / "to-do_list.txt", "# one\r\n\r\ntwo\r\n"))
    assert contents(db, "document:documents/") == {
        "to-do_list.txt#top": {
            "title": "to do list",
            "path": "to-do_list.txt",
            "text": "# one\n\ntwo",
            "line": 1,
        }
    }


def test_a_page_of_headings_alone_is_a_chunk(db: redask.OpenDatabase, tmp_path: Path) -> None:
    db.ingest(write(tmp_path / "a.md", "# Contents\n\n## One\n\n## Two\n"))
    (chunk,) = contents(db, "document:").values()
    assert chunk["text"] == "Contents\nOne\nTwo"
    assert db.ingest(write(tmp_path / "empty.md", " \n")).ok


@pytest.mark.parametrize(
    ("name", "data"), [("a.pdf", pdf()), ("a.docx", docx(["The ferry leaves at nine."]))]
)
def test_documents_come_with_their_headings(
    db: redask.OpenDatabase, tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    assert db.ingest(tmp_path / name).problems == ()
    assert contents(db, "document:documents/") == {
        f"{name}#top": {
            "title": "Harbour rules",
            "path": name,
            "text": "The ferry leaves at nine.",
            **({"page": 1} if name == "a.pdf" else {}),
        }
    }


def test_html_comes_with_headings_and_links_and_without_its_head(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    head = "<head><title>Ferries</title><meta name='author' content='Me'></head>"
    body = "<h1>Times</h1><p>At nine, see <a href='b.html#rules'>rules</a>.</p>"
    body += "<h2>Sunday</h2><p>None.</p>"
    write(tmp_path / "web" / "a.html", f"<html>{head}<body>{body}</body></html>")
    write(tmp_path / "web" / "b.html", "<h1>All</h1><p>x</p><h2>Rules</h2><p>Be late.</p>")
    assert db.ingest(tmp_path / "web").ok
    found = contents(db, "document:web/")
    assert found["a.html#sunday"]["text"] == "None."
    assert found["a.html#top"]["text"] == "At nine, see [rules](b.html#rules)."
    assert {chunk["title"] for chunk in found.values()} == {"Ferries", "All"}
    assert edges(db) == {("document:web/a.html#top", "links to", "document:web/b.html#rules")}


def test_html_is_read_in_the_encoding_that_it_declares(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    page = "<html><head><meta charset='iso-8859-1'></head><body><p>Café</p></body></html>"
    (tmp_path / "a.html").write_bytes(page.encode("latin-1"))
    assert db.ingest(tmp_path / "a.html").ok
    assert [chunk["text"] for chunk in contents(db, "document:").values()] == ["Café"]
    (tmp_path / "b.html").write_bytes(b"<p>\xff</p>")
    assert "is not UTF-8 text" in db.ingest(tmp_path / "b.html").problems[0].reason
    (tmp_path / "b.html").write_bytes(b"<meta charset='klingon'><p>\xff</p>")
    assert "encoding that it declares" in db.ingest(tmp_path / "b.html").problems[0].reason


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.pdf", pdf()[:150], "cannot be read as a document"),
        ("a.pdf", b"no pdf at all", "is damaged, or no .pdf file"),
        ("a.pdf", b"%PDF-1.4\n" + bytes(range(256)) * 30, "cannot be read as a document"),
        ("a.pdf", pdf().replace(b"Tj", b"xx"), "holds no text"),
        ("a.docx", docx(["x"])[:-300], "is damaged"),
        ("a.docx", b"\0" * 500, "is damaged, or no .docx file"),
        ("a.docx", OLD_OFFICE + b"\0" * 600, "is damaged, or no .docx file"),
        (
            "a.docx",
            OLD_OFFICE + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le") + b"\1" * 600,
            "is protected by a password",
        ),
        ("a.html", b"<p>a\0b</p>", "is not text"),
        ("a.md", b"\x89PNG\r\n\x1a\n\0\0", "is not UTF-8 text: byte 0x89 at position 0"),
        ("a.md", b"text and then \0", "is not text: it holds a NUL character at position 14"),
        ("a.md", b"caf\xe9", "is not UTF-8 text: byte 0xE9 at position 3"),
        ("a.txt", b"\xff\xfea", "is not UTF-8 text"),
    ],
)
def test_a_bad_document_is_left_out_with_its_reason(
    db: redask.OpenDatabase, tmp_path: Path, name: str, data: bytes, expected: str
) -> None:
    (tmp_path / name).write_bytes(data)
    assert only_reason(db, tmp_path / name).startswith(expected)


def test_a_panic_in_a_parser_is_the_problem_of_that_file(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class PanicException(BaseException):
        """As Rust's bindings raise it."""

    def panic(*args: object, **kwargs: object) -> None:
        raise PanicException("index out of bounds")

    monkeypatch.setattr("kreuzberg.extract_bytes_sync", panic)
    (tmp_path / "a.pdf").write_bytes(pdf())
    assert only_reason(db, tmp_path / "a.pdf") == (
        "cannot be read as a document: index out of bounds"
    )


def test_a_zip_bomb_is_not_unpacked(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MAX_UNPACKED", 10_000_000)
    bomb = docx(["x"], extra=bytes(20_000_000))
    assert len(bomb) < 100_000
    (tmp_path / "a.docx").write_bytes(bomb)
    assert only_reason(db, tmp_path / "a.docx") == (
        "unpacks to more than 10,000,000 bytes: a zip bomb?"
    )


def test_a_zip_with_false_sizes_in_its_directory_is_refused(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MAX_UNPACKED", 10_000_000)
    bomb = docx(["x"], extra=bytes(20_000_000))
    bomb = bomb.replace((20_000_000).to_bytes(4, "little"), (500).to_bytes(4, "little"))
    (tmp_path / "a.docx").write_bytes(bomb)
    assert only_reason(db, tmp_path / "a.docx").startswith(("unpacks to more", "is damaged"))


def test_an_encrypted_zip_is_refused(db: redask.OpenDatabase, tmp_path: Path) -> None:
    data = docx(["x"]).replace(b"PK\x01\x02\x14\x03\x14\0\0\0", b"PK\x01\x02\x14\x03\x14\0\1\0")
    (tmp_path / "a.docx").write_bytes(data)
    assert only_reason(db, tmp_path / "a.docx").startswith("is protected by a password")


def test_nothing_is_kept_outside_the_database(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "a.pdf").write_bytes(pdf("Kept once."))
    assert db.ingest(tmp_path / "a.pdf").ok
    assert not (tmp_path / "home").exists()
    assert not (tmp_path / "cache").exists()
