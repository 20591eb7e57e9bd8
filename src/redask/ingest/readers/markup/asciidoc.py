"""AsciiDoc: `outline` a text, with what it says as Markdown, read without a library.

    = Title, == Section, …     headings; `.Title` of a block is the paragraph before it
    ---- and .... blocks        code, with the language of [source,…] or [,…]; ``` fences, too
    indented lines              code
    |=== … |===                 a table: `|` begins a cell, as many a row as the first line has, or
                                as `cols` says
    NOTE: …, [NOTE] and ====    "Note: …"
    *, -, ., 1.                 lists, by level; `term::` is a paragraph, `+` joins the next block
    :name: value, // comments, ////, [anchors], includes, images      left out
    link:url[text], url[text]   [text](url)
    xref:file#id[text]          [text](file#id); <<id,text>> is its text

A line is read once, and every pattern is bounded: the time is linear.
"""

import re

from redask.ingest.readers.outlines import CODE, LIST, TABLE, TEXT, Outline, OutlineBuilder, fenced
from redask.ingest.readers.outlines import table as markdown_table

_MAX_HEADING = 200
_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]{1,8}(\S.*)$")
_ATTRIBUTE = re.compile(r":!?[\w-]{1,80}!?:(?:[ \t].*)?$")
_STYLE = re.compile(r"\[([^\[\]\n]{0,300})\]$")
_FENCE = re.compile(r"(-{4,40}|\.{4,40}|`{3,20}|\+{4,40}|_{4,40}|={4,40}|\*{4,40}|--)(\w{0,30})$")
_VERBATIM = "-.`+"
_MACRO = re.compile(r"(?:image|include|ifdef|ifndef|endif|ifeval|toc|video|audio)::")
_ITEM = re.compile(r"[ \t]{0,12}(\*{1,5}|-|\.{1,5}|[0-9]{1,4}\.)[ \t]{1,8}(\S.*)$")
_ADMONITION = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION)(?:: |$)")
_LINK = re.compile(
    r"(?:link:([^\s\[\]]{1,300}+)|(https?://[^\s\[\]]{1,300}+))\[([^\[\]\n]{0,300}+)\]"
)
_XREF = re.compile(r"xref:([^\s\[\]]{1,300}+)\[([^\[\]\n]{0,300}+)\]")
_REFERENCE = re.compile(r"<<([^<>,\n]{1,200})(?:,([^<>\n]{1,400}))?>>")
_COLUMNS = re.compile(r"cols=\"?([0-9]{1,3})\*|cols=\"([^\"\n]{1,300})\"")


def outline(text: str) -> Outline:
    """The title and the sections of an AsciiDoc document."""
    return _AsciiDoc(text.split("\n")).outline()


class _AsciiDoc:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._builder = OutlineBuilder()
        self._waiting: list[str] = []
        self._start = 1
        self._style = ""

    def outline(self) -> Outline:
        at = 0
        while at < len(self._lines):
            at = self._line(at)
        self._end()
        return self._builder.outline()

    def _line(self, at: int) -> int:
        """Read the line here, or the block that it opens. → where to go on"""
        line = self._lines[at].rstrip()
        if not line or line == "+":
            self._end()
        elif line.startswith("////"):
            self._end()
            return self._closing(at) + 1
        elif line.startswith("//") or _ATTRIBUTE.match(line) or _MACRO.match(line):
            pass
        elif found := _FENCE.match(line):
            return self._delimited(at, found)
        elif line == "|===":
            return self._table(at)
        elif found := _HEADING.match(line):
            self._end()
            self._builder.heading(len(found[1]), _marked(found[2])[:_MAX_HEADING])
        elif found := _STYLE.match(line):
            self._end()
            self._style = found[1]
        elif line[0] == "." and line[1:2] not in ("", ".", " ") and not self._waiting:
            self._builder.block(_marked(line[1:]), TEXT, at + 1)
        else:
            if not self._waiting:
                self._start = at + 1
            self._waiting.append(line)
        return at + 1

    def _delimited(self, at: int, found: re.Match[str]) -> int:
        self._end()
        style, self._style = self._style, ""
        if found[1][0] not in _VERBATIM or found[1] == "--":
            if _ADMONITION.match(style):
                self._builder.block(f"{style.capitalize()}:", TEXT, at + 1)
            return at + 1  # what is inside is read as any other text
        end = self._closing(at)
        parts = [part.strip() for part in style.split(",")]
        language = parts[1] if len(parts) > 1 and parts[0] in ("source", "") else found[2]
        code = "\n".join(self._lines[at + 1 : end]).strip("\n")
        if code.strip():
            self._builder.block(fenced(code, language[:30]), CODE, at + 2)
        return end + 1

    def _closing(self, at: int) -> int:
        """The line that closes the block that is opened here; the end if there is none."""
        mark = self._lines[at].rstrip()
        mark = mark[: len(mark) - len(mark.lstrip(mark[0]))]
        for number in range(at + 1, len(self._lines)):
            if self._lines[number].startswith(mark) and self._lines[number].rstrip() == mark:
                return number
        return len(self._lines)

    def _table(self, at: int) -> int:
        self._end()
        end = self._closing_table(at)
        columns = _COLUMNS.search(self._style)
        self._style = ""
        lines = [line for line in self._lines[at + 1 : end] if line.strip()]
        width = 0
        if columns:
            width = int(columns[1]) if columns[1] else columns[2].count(",") + 1
        elif lines:
            width = lines[0].count("|")
        parts: list[list[str]] = []  # of each cell: it may go on in further lines
        for line in lines:
            first, *others = line.split("|")
            if first.strip() and parts and not first.strip().endswith("a"):
                parts[-1].append(first.strip())
            parts += [[other.strip()] for other in others]
        cells = list(map(" ".join, parts))
        rows = [cells[n : n + width] for n in range(0, len(cells), width)] if width else []
        if rows:
            self._builder.block(_marked(markdown_table(rows)), TABLE, at + 1)
        return end + 1

    def _closing_table(self, at: int) -> int:
        for number in range(at + 1, len(self._lines)):
            if self._lines[number].rstrip() == "|===":
                return number
        return len(self._lines)

    def _end(self) -> None:
        lines, self._waiting = self._waiting, []
        if not lines:
            return
        style, self._style = self._style, ""
        if lines[0][0] in " \t" and not _ITEM.match(lines[0]):
            width = min(len(line) - len(line.lstrip()) for line in lines)
            code = "\n".join(line[width:] for line in lines)
            self._builder.block(fenced(code), CODE, self._start)
        elif _ITEM.match(lines[0]):
            self._builder.block(_marked("\n".join(map(_item, lines))), LIST, self._start)
        else:
            text = "\n".join(lines)
            named = style if _ADMONITION.match(style) else ""
            if found := _ADMONITION.match(text):
                named, text = found[1], text[found.end() :]
            before = f"{named.capitalize()}: " if named else ""
            self._builder.block(_marked(before + text), "", self._start)


def _item(line: str) -> str:
    """An item with a bullet of Markdown, indented by its level."""
    found = _ITEM.match(line)
    if not found:
        return f"  {line.strip()}"
    mark = found[1]
    bullet = "1." if mark[0] == "." else mark if mark[0].isdigit() else "-"
    return f"{'  ' * (len(mark) - 1 if mark[0] in '*.' else 0)}{bullet} {found[2]}"


def _marked(text: str) -> str:
    """Inline markup as Markdown."""
    if "xref:" in text:
        text = _XREF.sub(lambda found: f"[{found[2] or found[1]}]({found[1]})", text)
    if "<<" in text:
        text = _REFERENCE.sub(lambda found: found[2] or found[1], text)
    if "://" in text or "link:" in text:
        text = _LINK.sub(_link, text)
    return text


def _link(found: re.Match[str]) -> str:
    target = found[1] or found[2]
    return f"[{found[3] or target}]({target})"
