"""Splits a simple query into statements, and a statement into tokens; `words` it begins with.

    one token                  'text'  E'te\\'xt'  "name"  $$text$$  $tag$text$tag$
                               -- to the end of the line   /* may /* nest */ */

A token that never ends takes the rest: parsing the statement reports what is wrong with it.
"""

import re
from collections.abc import Iterator

_PIECE = re.compile(
    r"""(?P<space>\s+|--[^\n]*)
      | (?P<comment>/\*)
      | (?P<escaped>[eE]'(?:[^'\\]|\\.|'')*+(?:'|$))
      | (?P<string>'[^']*+(?:''[^']*+)*+(?:'|$))
      | (?P<quoted>"[^"]*+(?:""[^"]*+)*+(?:"|$))
      | (?P<dollar>\$(?:[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*)?\$)
      | (?P<word>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*)
      | (?P<end>;)
      | (?P<other>\$?[0-9]+|.)""",
    re.X | re.S,
)
_EDGE = re.compile(r"/\*|\*/")
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.S
)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def split(text: str) -> list[str]:
    """The statements that are not empty, without the semicolons between them."""
    found, start, is_empty, place = [], 0, True, 0
    while place < len(text):
        kind, end = _next(text, place)
        if kind == "end":
            if not is_empty:
                found.append(text[start:place])
            start, is_empty = end, True
        elif kind != "space":
            is_empty = False
        place = end
    if not is_empty:
        found.append(text[start:])
    return found


def tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """The tokens with what they are, where they start and end; blanks and comments are `space`."""
    place = 0
    while place < len(text):
        kind, end = _next(text, place)
        yield kind, place, end
        place = end


def words(text: str, most: int = 3) -> list[str]:
    """The first words, in capitals; anything else ends them."""
    found: list[str] = []
    place = 0
    while place < len(text) and len(found) < most:
        kind, end = _next(text, place)
        if kind == "word":
            found.append(text[place:end].upper())
        elif kind != "space":
            break
        place = end
    return found


def pieces(text: str) -> list[str]:
    """The words, marks and quoted texts of a short statement, as they are written."""
    found, place = [], 0
    while place < len(text):
        kind, end = _next(text, place)
        if kind not in ("space", "end"):
            found.append(text[place:end])
        place = end
    return found


def unescaped(text: str) -> str:
    """The same statement with each E'…' as a plain '…'."""
    parts, place = [], 0
    while place < len(text):
        kind, end = _next(text, place)
        piece = text[place:end]
        if kind == "escaped" and len(piece) > 2 and piece.endswith("'"):
            inside = _ESCAPE.sub(_character, piece[2:-1].replace("''", "\\'"))
            piece = "'" + inside.replace("'", "''") + "'"
        parts.append(piece)
        place = end
    return "".join(parts)


def value(piece: str) -> str:
    """What a piece stands for: the text in quotes, else the piece itself."""
    if piece[:1] in ("'", '"') and len(piece) > 1:
        return piece[1:-1].replace(piece[0] * 2, piece[0])
    return piece


def _next(text: str, place: int) -> tuple[str, int]:
    """The kind of the piece that starts here, and where it ends."""
    found = _PIECE.match(text, place)
    assert found is not None
    assert found.lastgroup is not None
    if found.lastgroup == "comment":
        return "space", _past_comment(text, found.end())
    if found.lastgroup == "dollar":
        end = text.find(found[0], found.end())
        return "string", len(text) if end < 0 else end + len(found[0])
    return found.lastgroup, found.end()


def _past_comment(text: str, place: int) -> int:
    depth = 1
    while depth:
        edge = _EDGE.search(text, place)
        if edge is None:
            return len(text)
        depth += 1 if edge[0] == "/*" else -1
        place = edge.end()
    return place


def _character(found: re.Match[str]) -> str:
    two, four, eight, octal, letter = found.groups()
    if letter is not None:
        return _LETTERS.get(letter, letter)
    code = int(octal, 8) if octal else int(two or four or eight, 16)
    return chr(code) if 0 < code < 0x110000 else "\ufffd"
