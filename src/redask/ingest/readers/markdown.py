"""Markdown to sections: `outline` a text into its title, its headings and the blocks below them.

    heading     `# …` to `###### …`; a line underlined with `===` or `---`; not in code
    title       `title:` of the front matter; else the first heading, if no text is before it and
                no other heading is of its level. Such a heading is left out of heading paths
    block       the lines between blank lines; fenced code is one block
    section     the blocks below one heading, and the path of headings to it

`links` yields the targets of inline and reference links of a text. The time is linear in the
length: a line is read once, and every pattern is bounded.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

_MAX_HEADING = 200
_MIN_UNDERLINE = 3
_LINK = re.compile(
    r"\]\((?:<([^<>\n]{1,1000})>|([^\s()<>]{1,1000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?))[\s)]"
)
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]{1,200}\]:[ \t]{0,8}<?([^\s<>]{1,1000})", re.MULTILINE)
_ANCHOR = re.compile(r"<a [^<>]{0,300}?href=[\"']([^\"'<>]{1,1000})[\"']", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}:|//")
_MARKUP = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()]{0,1000}\)|[*`]|\{#[^{}]{0,100}\}")
_TITLE = re.compile(r"^title:[ \t]*(.{1,300})$", re.MULTILINE | re.IGNORECASE)


@dataclass(slots=True)
class Section:
    """A path of headings, and the blocks below the last of them."""

    headings: tuple[str, ...]
    blocks: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Outline:
    """A text in sections, in text order; `title` is empty when it has none."""

    title: str
    sections: list[Section]


def outline(text: str) -> Outline:
    """The title and the sections of a Markdown text."""
    front, body = _front_matter(text)
    found = _sections(body)
    title = ""
    if front and (named := _TITLE.search(front)):
        title = named[1].strip().strip("\"'")
    highest = _title_of(found)
    if highest is not None:
        title = title or highest
        found = [(_, Section(each.headings[1:], each.blocks)) for _, each in found]
    top = [front] if front else []
    top += [block for _, section in found if not section.headings for block in section.blocks]
    below = [section for _, section in found if section.headings]
    return Outline(title, [Section((), top), *below])


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


def _title_of(found: list[tuple[int, Section]]) -> str | None:
    """The heading that is the title, if there is one."""
    levels = [level for level, _ in found if level]
    if not levels or (found[0][0] == 0 and found[0][1].blocks):
        return None
    first, rest = levels[0], levels[1:]
    if rest and min(rest) <= first:
        return None
    return next(section.headings[0] for level, section in found if level)


def _sections(text: str) -> list[tuple[int, Section]]:
    """The sections with the levels of their headings; the first has none, and may be empty."""
    found = [(0, Section(()))]
    above: list[tuple[int, str]] = []
    block: list[str] = []
    fence = ""

    def end_block() -> None:
        if any(map(str.strip, block)):
            found[-1][1].blocks.append("\n".join(block).strip("\n").rstrip())
        block.clear()

    def begin(level: int, name: str) -> None:
        end_block()
        while above and above[-1][0] >= level:
            above.pop()
        above.append((level, name))
        found.append((level, Section(tuple(each for _, each in above))))

    for line in text.split("\n"):
        bare = line.strip()
        if fence:
            block.append(line)
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
                end_block()
        elif not bare:
            end_block()
        elif bare[:3] in ("```", "~~~"):
            end_block()
            fence = bare[: len(bare) - len(bare.lstrip(bare[0]))]
            block.append(line)
        elif level := _level(line, bare):
            begin(level, _heading(bare[level:]))
        elif len(block) == 1 and _is_underline(bare) and block[0].strip()[0] not in "-*+>|":
            name = _heading(block[0])
            block.clear()
            begin(1 if bare[0] == "=" else 2, name)
        else:
            block.append(line)
    end_block()
    return found


def _level(line: str, bare: str) -> int:
    """The level of a heading line, 1 to 6; 0 when it is none."""
    if bare[0] != "#" or len(line) - len(line.lstrip(" ")) > 3:
        return 0
    marks = len(bare) - len(bare.lstrip("#"))
    return marks if marks <= 6 and bare[marks : marks + 1] in ("", " ", "\t") else 0


def _is_underline(bare: str) -> bool:
    return len(bare) >= _MIN_UNDERLINE and bare[0] in "=-" and not bare.strip(bare[0])


def _heading(text: str) -> str:
    name = text.strip()
    if name.endswith("#"):
        name = name.rstrip("#").rstrip()
    name = " ".join(_MARKUP.sub(lambda found: found[1] or "", name[: 5 * _MAX_HEADING]).split())
    return name[:_MAX_HEADING]
