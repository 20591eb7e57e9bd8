"""Files to ingest, made by hand, and what a database holds after it."""

import io
import json
import sqlite3
import zipfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import redask
from redask.app import App

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
OLD_OFFICE = bytes.fromhex("d0cf11e0a1b11ae1")


def app_of(db: redask.OpenDatabase) -> App:
    return db._async._app


def held(db: redask.OpenDatabase) -> dict[str, str]:
    """Every payload by its URN."""
    changes = app_of(db).backend.store.changes("local", 0, 10_000_000)
    return {change.urn: change.entity.payload for change in changes if change.entity}


def contents(db: redask.OpenDatabase, start: str) -> dict[str, dict[str, Any]]:
    """What is addressed by URNs that start so, by the rest of the URN."""
    found = held(db).items()
    head = f"urn:reddb:{start}"
    return {urn.removeprefix(head): json.loads(p) for urn, p in found if urn.startswith(head)}


def edges(db: redask.OpenDatabase) -> set[tuple[str, str, str]]:
    """Every edge as from, label, to, without the beginnings of the URNs."""
    return {
        (edge["from"][10:], edge["label"], edge["to"][10:])
        for edge in contents(db, "edge:links/").values()
    }


def write(path: Path, text: str) -> Path:
    """A file with this text, and its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def database(path: Path, *statements: str) -> Path:
    """A SQLite file made by these statements."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def docx(paragraphs: Iterable[str], extra: bytes = b"", heading: str = "Harbour rules") -> bytes:
    """A Word file with a heading, some paragraphs and a file that nobody asked for."""
    body = f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>{heading}</w:t></w:r></w:p>'
    body += "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{_TYPES}"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{_MAIN}"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="rId1" '
            f'Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        archive.writestr(
            "word/document.xml",
            f'<?xml version="1.0"?><w:document xmlns:w="{_WORD}"><w:body>{body}</w:body>'
            "</w:document>",
        )
        if extra:
            archive.writestr("word/media/extra.bin", extra)
    return made.getvalue()


def pdf(line: str = "The ferry leaves at nine.", heading: str = "Harbour rules") -> bytes:
    """A PDF of one page."""
    return pdf_pages([(heading, line)])


def pdf_pages(pages: Iterable[tuple[str, str]]) -> bytes:
    """A PDF of pages with a heading and a line each."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    kids = []
    for heading, line in pages:
        drawn = f"BT /F1 24 Tf 72 720 Td ({heading}) Tj 0 -40 Td /F1 12 Tf ({line}) Tj ET".encode()
        objects.append(b"<</Length %d>>stream\n" % len(drawn) + drawn + b"\nendstream")
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R"
            b"/Resources<</Font<</F1 3 0 R>>>>>>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<</Type/Pages/Kids[%b]/Count %d>>" % (b" ".join(kids), len(kids))
    return pdf_of(objects)


def pdf_of(objects: Iterable[bytes]) -> bytes:
    """A PDF of these objects, the first of them its catalogue."""
    out, places = b"%PDF-1.4\n", list[int]()
    for number, each in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj" % number + each + b"endobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(places) + 1
    return (
        out
        + b"xref\n0 %d\n0000000000 65535 f \n%btrailer<</Size %d/Root 1 0 R>>\n"
        % (size, table, size)
        + (b"startxref\n%d\n%%%%EOF" % len(out))
    )


def pptx(slides: list[tuple[str, str]]) -> bytes:
    """A presentation of slides with a title and a line each."""
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/main"
    kind = "application/vnd.openxmlformats-officedocument.presentationml"
    numbers = range(1, len(slides) + 1)
    types = "".join(
        f'<Override PartName="/ppt/slides/slide{n}.xml" ContentType="{kind}.slide+xml"/>'
        for n in numbers
    )
    order = "".join(f'<p:sldId id="{255 + n}" r:id="rId{n}"/>' for n in numbers)
    targets = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/slide" Target="slides/slide{n}.xml"/>'
        for n in numbers
    )
    parts: dict[str, bytes | str] = {
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName='
        f'"/ppt/presentation.xml" ContentType="{kind}.presentation.main+xml"/>{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="rId1" '
        f'Type="{_OFFICE}/officeDocument" Target="ppt/presentation.xml"/></Relationships>',
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{main}" xmlns:r="{_OFFICE}">'
        f"<p:sldIdLst>{order}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": f'<Relationships xmlns="{_RELATIONS}">{targets}'
        "</Relationships>",
    }
    for number, texts in enumerate(slides, start=1):
        shapes = "".join(
            '<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:cNvSpPr/><p:nvPr>'
            f'<p:ph type="{place}"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>'
            f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
            for place, text in zip(("title", "body"), texts, strict=True)
        )
        parts[f"ppt/slides/slide{number}.xml"] = (
            f'<p:sld xmlns:p="{main}" xmlns:a="{drawing}"><p:cSld><p:spTree><p:nvGrpSpPr>'
            '<p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
            f"{shapes}</p:spTree></p:cSld></p:sld>"
        )
    return zipped(parts)


def zipped(files: dict[str, bytes | str]) -> bytes:
    """A zip archive of these files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def xlsx(sheets: dict[str, list[list[str]]], strings: Iterable[str] = ()) -> bytes:
    """A workbook: the cells of each row as XML without references, such as `<c><v>1</v></c>`."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    names = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, name in enumerate(sheets, 1)
    )
    relations = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    shared = "".join(f"<si><t>{text}</t></si>" for text in strings)
    parts: dict[str, bytes | str] = {
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{_OFFICE}"><sheets>{names}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_RELATIONS}">{relations}'
        "</Relationships>",
        "xl/sharedStrings.xml": f'<sst xmlns="{main}">{shared}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{main}"><numFmts><numFmt numFmtId="164" '
        'formatCode="[$-409]d\\ mmm yyyy"/></numFmts><cellXfs><xf numFmtId="0"/>'
        '<xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="22"/><xf numFmtId="2"/>'
        "</cellXfs></styleSheet>",
    }
    for number, rows in enumerate(sheets.values(), 1):
        body = "".join(f"<row>{''.join(cells)}</row>" for cells in rows)
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>'
        )
    return zipped(parts)


def text_cell(text: str) -> str:
    """A cell with a text in it."""
    return f'<c t="inlineStr"><is><t>{text}</t></is></c>'


def ods(content: str) -> bytes:
    """An OpenDocument spreadsheet with this in its tables."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    return zipped(
        {
            "content.xml": f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f"{content}</office:spreadsheet></office:body></office:document-content>"
        }
    )
