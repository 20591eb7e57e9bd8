"""Markdown to sections: `outline` a text into its title, its headings and the blocks below them.

    heading     `# …` to `###### …`; a line underlined with `===` or `---`; not in code
    title       `title:` of the front matter; else as `outlines` says
    block       the lines between blank lines; fenced code is one block
    note        ```{note}, :::warning and > [!TIP] say "Note:" …; of ```{code-block} it is the code
    role        {func}`x` is `x`; a target, (name)=, is left out
    comment     <!-- … --> is left out, as it is when the page is shown

`links` yields the targets of inline and reference links of a text. The time is linear in the
length: a line is read once, and every pattern is bounded.
"""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from redask.ingest.readers.outlines import NOWHERE, Block, Outline, OutlineBuilder

_MAX_HEADING = 200
_MIN_UNDERLINE = 3
_LINK = re.compile(
    r"\]\((?:<([^<>\n]{1,1000})>|([^\s()<>]{1,1000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?))[\s)]"
)
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]{1,200}\]:[ \t]{0,8}<?([^\s<>]{1,1000})", re.MULTILINE)
_ANCHOR = re.compile(r"<a [^<>]{0,300}?href=[\"']([^\"'<>]{1,1000})[\"']", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}:|//")
_MARKUP = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()]{0,1000}\)|[*`]|\{#[^{}]{0,100}\}")
_ESCAPE = re.compile(r"\\([.()#_*+-])")
_MAX_COMMENT = 2000
_DIRECTIVE = re.compile(
    r"(?P<fence>`{3,20}|~{3,20}|:{3,20})[ \t]{0,8}(?P<name>\{[\w:-]{1,40}\}|(?<=:)\w{1,20})"
)
_ROLE = re.compile(r"\{[a-z][\w:.-]{0,40}\}(?=`[^`\n]{1,200}`)")  # {func}`x`, as MyST writes it
_TARGET = re.compile(r"\([\w:. -]{1,80}\)=$")
_ALERT = re.compile(r"[ \t]{0,3}>[ \t]{0,3}\[!(\w{1,20})\][ \t]*$")
_NOTES = set("note warning tip important caution danger attention error hint info seealso".split())
_CODE = {"code", "code-block", "code-cell", "sourcecode"}
_TITLE = re.compile(r"^title:[ \t]*(.{1,300})$", re.MULTILINE | re.IGNORECASE)


def outline(text: str) -> Outline:
    """The title and the sections of a Markdown text."""
    front, body = _front_matter(text)
    builder = OutlineBuilder()
    first = text[: len(text) - len(body)].count("\n") + 1
    add(builder, body, first)
    title = ""
    if front and (named := _TITLE.search(front)):
        title = named[1].strip().strip("\"'")
    return builder.outline(title, Block(front, line=2) if front else None)


def links(text: str) -> Iterator[tuple[str, str]]:
    """The targets of a text's relative links: path (may be empty) and anchor."""
    if "](" not in text and "]:" not in text and "href" not in text:
        return
    for pattern in (_LINK, _DEFINITION, _ANCHOR):
        for found in pattern.finditer(text):
            target = found[found.lastindex or 0]
            if _SCHEME.match(target):
                continue
            path, _, anchor = target.partition("#")
            yield unquote(path.partition("?")[0]), unquote(anchor)


def _front_matter(text: str) -> tuple[str, str]:
    """The text between two lines of `---` at the very beginning, and the rest."""
    if not text.startswith("---\n"):
        return "", text
    end = text.find("\n---", 3, 20_000)
    after = text[end + 4 : end + 5]
    if end < 0 or after not in ("", "\n"):
        return "", text
    return text[4:end].strip(), text[end + 5 :]


def add(
    builder: OutlineBuilder, text: str, line: int = 0, place: Mapping[str, int | str] = NOWHERE
) -> None:
    """Add a text to an outline; `line` is the number of its first line, 0 where there are none."""
    block: list[str] = []
    fence = ""
    start = line

    def end_block() -> None:
        if any(map(str.strip, block)):
            builder.block("\n".join(block), "", start if line else 0, place)
        block.clear()

    for number, content in _shown(text.split("\n"), line):
        bare = content.strip()
        if not block:
            start = number
        if fence:
            block.append(content)
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
                end_block()
        elif not bare:
            end_block()
        elif bare[:3] in ("```", "~~~"):
            end_block()
            fence = bare[: len(bare) - len(bare.lstrip(bare[0]))]
            start = number
            block.append(content)
        elif level := _level(content, bare):
            end_block()
            builder.heading(level, heading(bare[level:]))
        elif len(block) == 1 and _is_underline(bare) and block[0].strip()[0] not in "-*+>|":
            name = heading(block[0])
            block.clear()
            builder.heading(1 if bare[0] == "=" else 2, name)
        else:
            block.append(content)
    end_block()


def _shown(lines: list[str], first: int) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, as a page shows them: without comments, notes as text."""
    fence = note = ""
    in_comment = False
    for number, content in enumerate(lines, start=first):
        bare = content.strip()
        is_end = bool(fence or note) and bare.startswith(fence or note) and not bare.strip(bare[0])
        if fence:
            fence = "" if is_end else fence
            yield number, content
        elif note and is_end:
            note = ""
            yield number, ""
        elif in_comment or "<!--" in content:
            shown, in_comment = _uncommented(content, in_comment)
            if shown.strip():
                yield number, shown
        elif opening := _DIRECTIVE.match(bare):
            name = opening["name"].strip("{}")
            if name in _NOTES:
                note = opening["fence"]
                yield number, f"{name.capitalize()}: {bare[opening.end() :].strip()}".rstrip()
            elif opening["fence"][0] == ":":
                yield number, ""
            else:
                fence = opening["fence"]
                language = bare[opening.end() :].strip() if name in _CODE else name
                yield number, f"{fence}{language}"
        elif alert := _ALERT.match(content):
            yield number, f"> {alert[1].capitalize()}:"
        else:
            if bare[:3] in ("```", "~~~"):
                fence = bare[: len(bare) - len(bare.lstrip(bare[0]))]
            is_mark = bare[:3] == ":::" or _TARGET.match(bare)
            yield number, "" if is_mark else _ROLE.sub("", content)


def _uncommented(content: str, in_comment: bool) -> tuple[str, bool]:
    """A line without comments, and whether one goes on in the next."""
    if in_comment:
        _, mark, content = content.partition("-->")
        if not mark:
            return "", True
    shown, at = [], 0
    while (begin := content.find("<!--", at)) >= 0:
        shown.append(content[at:begin])
        inside = begin + len("<!--")
        end = content.find("-->", inside, inside + _MAX_COMMENT + len("-->"))
        if end < 0:  # so nothing after it is looked at: the time is linear
            return "".join(shown), True
        at = end + len("-->")
    return "".join([*shown, content[at:]]), False


def _level(line: str, bare: str) -> int:
    """The level of a heading line, 1 to 6; 0 when it is none."""
    if bare[0] != "#" or len(line) - len(line.lstrip(" ")) > 3:
        return 0
    marks = len(bare) - len(bare.lstrip("#"))
    return marks if marks <= 6 and bare[marks : marks + 1] in ("", " ", "\t") else 0


def _is_underline(bare: str) -> bool:
    return len(bare) >= _MIN_UNDERLINE and bare[0] in "=-" and not bare.strip(bare[0])


def heading(text: str) -> str:
    """A line as a heading, without its marks."""
    name = text.strip()
    if name.endswith("#"):
        name = name.rstrip("#").rstrip()
    name = _ESCAPE.sub(r"\1", name)
    name = " ".join(_MARKUP.sub(lambda found: found[1] or "", name[: 5 * _MAX_HEADING]).split())
    return name[:_MAX_HEADING]
