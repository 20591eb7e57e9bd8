"""Small documents that are large inside: `BOMBS`, a name and the bytes of each."""

import io
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from filing import docx, pdf_of, text_cell, xlsx

_BIG = 400_000_000


def _zipped(files: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return held.getvalue()


def _far_cell() -> bytes:
    """A sheet with two cells, one of them at its end."""
    far = '<c r="XFD1048576" t="inlineStr"><is><t>x</t></is></c>'
    return xlsx({"a": [[text_cell("a")], [far]]})


def _twice_packed_pdf() -> bytes:
    """A page whose content is packed twice: 300 MB out of some kilobytes."""
    packed = zlib.compress(zlib.compress(b"BT (a) Tj ET " * 25_000_000, 9), 9)
    return pdf_of(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[4 0 R]/Count 1>>",
            b"<</Length %d/Filter[/FlateDecode/FlateDecode]>>stream\n%b\nendstream"
            % (len(packed), packed),
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 3 0 R/Resources<<>>>>",
        ]
    )


def _generated(column: str, rows: int) -> bytes:
    """A database with columns that are computed when they are read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bomb.sqlite"
        with closing(sqlite3.connect(path)) as made:
            made.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
            made.executemany("INSERT INTO t (id) VALUES (?)", [(each,) for each in range(rows)])
            for number in range(4):  # afterwards, or each would be computed now
                made.execute(f"ALTER TABLE t ADD COLUMN c{number} TEXT AS ({column}) VIRTUAL")
            made.commit()
        return path.read_bytes()


def _nested_zip() -> bytes:
    """A zip of zips of zips."""
    inner = _zipped({"a.txt": b"x" * 100_000_000})
    for depth in range(3):
        inner = _zipped({f"{depth}_{each}.zip": inner for each in range(10)})
    return inner


_ENTITIES = "".join(
    f'<!ENTITY e{each} "{f"&e{each - 1};" * 10 if each else "lol"}">' for each in range(10)
)
_YAML = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{each}: &a{each} [{', '.join([f'*a{each - 1}'] * 9)}]\n" for each in range(1, 12)
)
_SLOW = "length(replace(hex(zeroblob(400000000)), '0', 'ab'))"
BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "xlsx with one far cell": ("far.xlsx", _far_cell),
    "xlsx of a large sheet": (
        "large.xlsx",
        lambda: xlsx({"a": [[text_cell("a" * 100)] * 100] * 20_000}),
    ),
    "twice packed pdf": ("twice.pdf", _twice_packed_pdf),
    "docx": ("bomb.docx", lambda: docx(["x"], extra=bytes(_BIG))),
    "docx of one paragraph": ("long.docx", lambda: docx(["x " * 20_000_000])),
    "sqlite with generated columns": (
        "generated.sqlite",
        lambda: _generated("printf('%.900000000c', 'x')", 50),
    ),
    "sqlite that computes": ("slow.sqlite", lambda: _generated(_SLOW, 500)),
    "zip": ("bomb.zip", lambda: _zipped({"a.txt": bytes(_BIG)})),
    "zip of zips": ("nested.zip", _nested_zip),
    "deep json": ("deep.json", lambda: b"[" * 20_000_000),
    "deep json lines": ("deep.jsonl", lambda: b'{"a":' * 5_000_000),
    "wide json": ("wide.json", lambda: b"[" + b"{}," * 20_000_000 + b"{}]"),
    "yaml": ("bomb.yaml", _YAML.encode),
    "deep yaml": ("deep.yaml", lambda: b"[" * 2_000_000),
    "xml entities": ("bomb.xml", f"<!DOCTYPE a [{_ENTITIES}]><a>&e9;</a>".encode),
    "deep xml": ("deep.xml", lambda: b"<a>" * 5_000_000),
    "one line of csv": ("wide.csv", lambda: b"a," * 30_000_000),
    "deep html": ("deep.html", lambda: b"<div>" * 2_000_000),
    "notebook": ("deep.ipynb", lambda: b'{"cells":[' + b"[" * 5_000_000),
    "deep markdown": ("deep.md", lambda: b"> " * 5_000_000 + b"\n" + b"[" * 5_000_000),
}
