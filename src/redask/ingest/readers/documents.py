"""PDF, Office and HTML through `kreuzberg`, as Markdown, which keeps headings and links.

A chunk of a PDF has its page, one of a presentation its slide.

The file is checked first, because the library guesses the type of a file:

    check                                                      reason given
    no signature of its suffix (%PDF, zip, …)                  damaged, or no … file
    a container with an encrypted package                      protected by a password
    a zip that unpacks to more than MAX_UNPACKED bytes             unpacks to more than …
    HTML that is not UTF-8                                     read as the encoding it declares
    no text in it                                              holds no text: a scan?

The zip is really unpacked, block by block: the sizes in its directory may be false. Kreuzberg's
caches are off: they would keep copies of the content outside the database.
"""

import codecs
import io
import os
import re
import zipfile
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from redask.core.errors import BadAsk
from redask.ingest.readers import content, markdown, page_places, passages
from redask.ingest.readers.outlines import OutlineBuilder
from redask.ingest.records import OpenedFile, ReadRecord

if TYPE_CHECKING:
    import kreuzberg

MAX_UNPACKED = 512 * 1024 * 1024
TIMEOUT_SECONDS = 120
_MAX_ENTRIES = 100_000
_BLOCK = 1024 * 1024
_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
_HTML = "text/html"
_PDF = "application/pdf"
MIME = {
    ".pdf": _PDF,
    ".docx": f"{_OFFICE}wordprocessingml.document",
    ".pptx": f"{_OFFICE}presentationml.presentation",
    ".odt": f"{_OPEN}text",
    ".odp": f"{_OPEN}presentation",
    ".epub": "application/epub+zip",
    ".rtf": "application/rtf",
    ".doc": "application/msword",
    ".ppt": "application/vnd.ms-powerpoint",
    ".xls": "application/vnd.ms-excel",
    ".html": _HTML,
    ".htm": _HTML,
    ".xhtml": _HTML,
}
_SLIDES = (".pptx", ".odp")
_OLD_OFFICE = bytes.fromhex("d0cf11e0a1b11ae1")
_SIGNATURES = {
    ".pdf": b"%PDF-",
    ".rtf": b"{\\rtf",
    **dict.fromkeys((".doc", ".ppt", ".xls"), _OLD_OFFICE),
    **dict.fromkeys(
        (".docx", ".pptx", ".odt", ".odp", ".epub", ".xlsx", ".xlsm", ".ods"), b"PK\x03\x04"
    ),
}
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_CHARSET = re.compile(rb"charset=[\"']?\s{0,4}([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_HEAD = r"(?:title|base|canonical|link-|meta-)[\w:.-]{0,60}: [^\n]*\n"
_METADATA = re.compile(rf"\A---\n(?:{_HEAD})*\n?## {_HEAD}\n*")  # what kreuzberg writes for <head>
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")


def read(file: OpenedFile) -> Iterator[ReadRecord]:
    """The chunks of a document, and its links."""
    suffix = os.path.splitext(file.found.path)[1].lower()
    check_package(suffix, file.data)
    data = _as_utf8(file.data) if MIME[suffix] == _HTML else file.data
    text, title, pages = _extract(data, MIME[suffix])
    builder = OutlineBuilder()
    markdown.add(builder, text)
    outline = builder.outline(title)
    if suffix in _SLIDES:
        page_places.assign(outline, _slides(data, suffix), "slide")
    elif pages:
        page_places.assign(outline, pages, "page")
    return passages.read(file.found, outline)


def html_text(page: str) -> str:
    """The text of an HTML page as Markdown; empty if it has none."""
    try:
        return _extract(page.encode("utf-8", "replace"), _HTML)[0]
    except BadAsk:
        return ""


def _slides(data: bytes, suffix: str) -> list[str]:
    try:
        return page_places.slide_texts(data, suffix)
    except (BadAsk, LookupError, zipfile.BadZipFile):  # the text is there, without its places
        return []


def check_package(suffix: str, data: bytes) -> None:
    """Refuse a file without the signature of its suffix, and a zip bomb."""
    signature = _SIGNATURES.get(suffix)
    if signature == b"PK\x03\x04" and data.startswith(_OLD_OFFICE) and _ENCRYPTED in data:
        raise BadAsk("is protected by a password: save it without one")
    if (
        signature is not None
        and signature not in data[: 1024 if suffix == ".pdf" else len(signature)]
    ):
        raise BadAsk(f"is damaged, or no {suffix} file")
    if signature == b"PK\x03\x04":
        check_zip(data)


def check_zip(data: bytes) -> None:
    """Unpack a zip and discard it, to check that it is complete and not too large."""
    total = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > _MAX_ENTRIES:
                raise BadAsk(f"packs {len(entries):,} files, more than {_MAX_ENTRIES:,}")
            for entry in entries:
                if entry.flag_bits & 1:
                    raise BadAsk("is protected by a password: save it without one")
                with archive.open(entry) as packed:
                    while block := packed.read(_BLOCK):
                        total += len(block)
                        if total > MAX_UNPACKED:
                            raise BadAsk(
                                f"unpacks to more than {MAX_UNPACKED:,} bytes: a zip bomb?"
                            )
    except BadAsk:
        raise
    except Exception as error:  # zipfile, zlib, lzma and bz2 each have errors of their own
        raise BadAsk(f"is damaged: {error}") from None


def _as_utf8(data: bytes) -> bytes:
    """An HTML page in UTF-8, decoded from UTF-8 or the encoding that it declares."""
    declared = _CHARSET.search(data[:2048])
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return content.text(data).encode()
    except BadAsk:
        if declared is None or marked or b"\0" in data:
            raise
    name = declared[1].decode()
    try:
        return data.decode(name).encode()
    except (LookupError, UnicodeError):
        raise BadAsk(f"is not in the encoding that it declares, {name}") from None


def _extract(data: bytes, mime: str) -> tuple[str, str, list[str]]:
    """The text as Markdown, the title in the file's metadata, and the text of each page."""
    import kreuzberg

    try:
        found = kreuzberg.extract_bytes_sync(data, mime, config=_configuration())
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # any parser's; a Rust panic is no Exception
        detail = " ".join(str(error).split())[:200]
        if "password" in detail.lower() or "encrypt" in detail.lower():
            raise BadAsk("is protected by a password: save it without one") from None
        raise BadAsk(f"cannot be read as a document: {detail}") from None
    text = _UNPRINTABLE.sub("", found.content).replace("\r\n", "\n").replace("\r", "\n")
    if mime == _HTML:
        text = _METADATA.sub("", text, 1)
    if not text.strip():
        raise BadAsk("holds no text: a scan? Recognise its text first (OCR)")
    title = (found.metadata or {}).get("title")
    pages = [str(page["content"]) for page in found.pages or ()] if mime == _PDF else []
    return text, " ".join(str(title).split())[:300] if title else "", pages


@cache
def _configuration() -> "kreuzberg.ExtractionConfig":
    import kreuzberg

    return kreuzberg.ExtractionConfig(
        output_format="markdown",
        use_cache=False,
        enable_quality_processing=False,
        extraction_timeout_secs=TIMEOUT_SECONDS,
    )
