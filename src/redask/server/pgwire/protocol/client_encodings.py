"""The text of a session is in its client's encoding (`client_encoding`); here it is UTF-8.

    canonical("latin-1")         "LATIN1", as SHOW gives it; None: there is none of that name
    codec("LATIN1")              Python's name of it; SQL_ASCII is not converted, as in PostgreSQL
    use("LATIN1")                of the session that this task serves, for its messages

Values of results are encoded by `types`, which is told the codec: a page may be made in a thread.
"""

import re
from contextvars import ContextVar

UTF8 = "utf-8"
_CODECS = {
    "UTF8": UTF8,
    "SQL_ASCII": UTF8,
    **{
        f"LATIN{number}": f"iso8859-{part}"
        for number, part in zip(range(1, 11), (1, 2, 3, 4, 9, 10, 13, 14, 15, 16), strict=True)
    },
    **{f"ISO_8859_{part}": f"iso8859-{part}" for part in (5, 6, 7, 8)},
    **{f"WIN{page}": f"cp{page}" for page in (866, 874, *range(1250, 1259))},
    "KOI8R": "koi8-r",
    "KOI8U": "koi8-u",
    "EUC_JP": "euc_jp",
    "EUC_KR": "euc_kr",
    "EUC_CN": "gb2312",
    "EUC_JIS_2004": "euc_jis_2004",
    "SJIS": "cp932",
    "BIG5": "big5",
    "GBK": "gbk",
    "GB18030": "gb18030",
    "JOHAB": "johab",
    "UHC": "cp949",
}
_SYNONYMS = {
    "unicode": "UTF8",
    "default": "UTF8",
    "koi8": "KOI8R",
    "alt": "WIN866",
    "win": "WIN1251",
    "mskanji": "SJIS",
    "shiftjis": "SJIS",
    "windows949": "UHC",
    "windows936": "GBK",
    **{f"windows{page}": f"WIN{page}" for page in (866, 874, *range(1250, 1259))},
    **{
        f"iso8859{part}": f"LATIN{number}"
        for number, part in zip(range(1, 11), (1, 2, 3, 4, 9, 10, 13, 14, 15, 16), strict=True)
    },
}
_NAMES = {re.sub("[^a-z0-9]", "", name.lower()): name for name in _CODECS} | _SYNONYMS
_codec: ContextVar[str] = ContextVar("client_codec", default=UTF8)


def canonical(name: str) -> str | None:
    """PostgreSQL's own name of an encoding."""
    return _NAMES.get(re.sub("[^a-z0-9]", "", name.lower()))


def codec(name: str) -> str:
    """Python's name of an encoding by its canonical name."""
    return _CODECS[name]


def use(name: str) -> None:
    """Take the encoding for the messages of the session that this task serves."""
    _codec.set(_CODECS[name])


def decoded(data: bytes) -> str:
    """Text that the client sent. Raises `UnicodeDecodeError`."""
    return data.decode(_codec.get())


def encoded(text: str) -> bytes:
    """Text of a message to the client; what its encoding lacks is replaced."""
    return text.encode(_codec.get(), "replace")
