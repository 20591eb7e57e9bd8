"""reStructuredText: `outline` a text, with what it says as Markdown, read without a library.

    title          a line with a line of punctuation below it, or around it; its level is the order
                   in which the style appears
    `::`           the indented lines that follow are code
    code-block     code, with its language; parsed-literal, doctest, prompt and console likewise
    note, warning, … "Note:" and what it says; versionadded … "New in version 3.1: …"
    list-table, csv-table, simple and grid tables      tables
    image, contents, comments, labels, substitutions   left out; of a figure its caption is kept
    data, option, function, confval …   a section, headed by the name     `restructured_objects`
    any other directive     its argument, and what it says (topic …); of a tab that is named after
                   the language of its code only the code
    list           an item with all that is indented below it, code included; definitions, fields
                   and options are items, too: "- term: …"                 `restructured_lists`
    roles, links   their text: ``x`` and code roles as `x`, `text <url>`_ as [text](url), :doc: as a
                   link to that file, :ref: as the title of the section, if it is in this file

Indentation is taken off once for each level, at most MAX_LEVELS deep, so time is linear.
"""

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from redask.ingest.readers.markup import (
    restructured_lists,
    restructured_objects,
    restructured_tables,
    roles,
)
from redask.ingest.readers.markup.restructured_directives import (
    CODE_BLOCKS,
    DROPPED,
    SAID,
    TABS,
    VERSIONS,
)
from redask.ingest.readers.outlines import CODE, LIST, TABLE, TEXT, Outline, OutlineBuilder, fenced

MAX_LEVELS = 24
_MAX_HEADING = 200
_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_DIRECTIVE = re.compile(
    r"\.\.[ \t]{1,8}(?:\|[^|\n]{1,100}\|[ \t]{1,8})?([\w:+.-]{1,60}?)::[ \t]*(.*)$"
)
_LABEL = re.compile(r"\.\.[ \t]{1,8}_(`[^`\n]{1,200}`|[^:\n]{1,200}):[ \t]*(\S*)")
_FOOTNOTE = re.compile(r"\.\. \[(?:#?[\w-]{0,40}|\*)\] ")
_OPTION = re.compile(r":[\w -]{1,60}:(?:[ \t]|$)")
_BULLET = re.compile(r"(?:[-*+•‣⁃]|\(?(?:[0-9]{1,4}|[A-Za-z]|#|[ivxl]{1,6})[.)])(?:[ \t]{1,8}|$)")
_SIMPLE_RULE = re.compile(r"={2,}(?:[ \t]{1,200}={2,}){1,200}[ \t]*$")
_OBJECT, _END = "object", "end"
_TRANSPARENT = {"only", "ifconfig", "container"}
_TABLES = {"list-table": restructured_tables.of_list, "csv-table": restructured_tables.of_csv}


class Line(NamedTuple):
    """A line without its indentation so far, and its number in the file."""

    text: str
    number: int


class Said(NamedTuple):
    """A block of a text, as Markdown; or the beginning or the end of an object, `depth` deep."""

    text: str
    kind: str
    line: int
    depth: int = 0


def outline(text: str) -> Outline:
    """The title and the sections of a reStructuredText document."""
    lines = [Line(line.expandtabs(8).rstrip(), n) for n, line in enumerate(text.split("\n"), 1)]
    builder = OutlineBuilder()
    styles: list[str] = []
    names = roles.RoleNames(_labels(lines))
    start = at = level = 0

    def end_body(end: int) -> None:
        ended = 0
        for said in _blocks(lines[start:end], names, 0, 0):
            if said.kind == _OBJECT:
                builder.heading(level + said.depth, said.text)
                ended = 0
            elif said.kind == _END:
                ended = level + said.depth
            else:
                if ended:
                    builder.go_on_above(ended)
                    ended = 0
                builder.block(said.text, said.kind, said.line)

    while at < len(lines):
        found = _title(lines, at)
        if not found:
            at += 1
            continue
        end_body(at)
        name, style, size = found
        if style not in styles:
            styles.append(style)
        level = styles.index(style) + 1
        builder.heading(level, roles.plain(name, names)[:_MAX_HEADING])
        at += size
        start = at
    end_body(len(lines))
    return builder.outline()


def _title(lines: list[Line], at: int) -> tuple[str, str, int] | None:
    """A title that begins here: its text, its style, and how many lines it takes."""
    first = lines[at].text
    second = lines[at + 1].text if at + 1 < len(lines) else ""
    third = lines[at + 2].text if at + 2 < len(lines) else ""
    is_free = at == 0 or not lines[at - 1].text or lines[at - 1].text.startswith(".. _")
    if not first or not is_free:
        return None
    if _RULE.match(first):
        if third == first and second and not _RULE.match(second):
            return second.strip(), f"{first[0]}{first[0]}", 3
        return None
    if first[0] == " " or not _RULE.match(second):
        return None
    if len(second) < len(first) and len(second) < 4:
        return None
    return first, second[0], 2


def _labels(lines: list[Line]) -> Iterator[tuple[str, str]]:
    """The labels of sections, and their titles."""
    waiting: list[str] = []
    for at, line in enumerate(lines):
        if found := _LABEL.match(line.text):
            waiting.append(found[1].strip("`"))
        elif waiting and line.text:
            titled = _title(lines, at)
            yield from ((label, titled[0]) for label in waiting if titled)
            waiting = []


def _blocks(
    lines: list[Line], names: roles.RoleNames, level: int, depth: int | None = None
) -> Iterator[Said]:
    """The blocks of a text without titles, `depth` objects deep; None where none can begin."""
    at = 0
    while at < len(lines):
        text = lines[at].text
        if not text:
            at += 1
        elif level >= MAX_LEVELS:
            yield Said("\n".join(line.text for line in lines[at:]), TEXT, lines[at].number)
            return
        elif text.startswith(".. ") or text == "..":
            end = _end_of_indented(lines, at + 1)
            yield from _explicit(lines[at:end], names, level, depth)
            at = end
        elif text[0] == " ":
            end = _end_of_indented(lines, at)
            yield from _blocks(_dedented(lines[at:end]), names, level + 1)
            at = end
        elif _BULLET.match(text):
            end = at
            tight: list[Said] = []  # items without a blank line between them are one block
            while end < len(lines) and (bullet := _BULLET.match(lines[end].text)):
                at, end = end, _end_of_indented(lines, end + 1)
                item = list(_item(lines[at:end], bullet.end(), names, level))
                if len(item) == 1:
                    tight += item
                else:
                    yield from _joined(tight)
                    tight = []
                    yield from item
            yield from _joined(tight)
            at = end
        elif term := restructured_lists.term([each.text for each in lines[at : at + 2]]):
            end = _end_of_indented(lines, at + 1)
            yield from _definition(term, lines[at:end], names, level)
            at = end
        else:
            end = _end_of_paragraph(lines, at)
            yield from _paragraph(lines, at, end, names)
            at = end
            if lines[end - 1].text.endswith("::"):
                at = _end_of_indented(lines, end)
                yield from _code(lines[end:at], "")


def _paragraph(lines: list[Line], at: int, end: int, names: roles.RoleNames) -> Iterator[Said]:
    texts = [line.text for line in lines[at:end]]
    number = lines[at].number
    if texts[0].startswith("+-") or _SIMPLE_RULE.match(texts[0]):
        made = restructured_tables.of_lines(texts)
        yield Said(roles.marked(made, names), TABLE, number)
        return
    if texts[0].startswith(">>> "):
        yield Said(fenced("\n".join(texts), "python"), CODE, number)
        return
    text = "\n".join(texts)
    if text.endswith("::"):
        text = text[:-2].rstrip() if text[:-2].endswith((" ", "\n")) or text == "::" else text[:-1]
    if text and not (len(texts) == 1 and _RULE.match(text)):
        yield Said(roles.marked(text, names), TEXT, number)


def _explicit(
    lines: list[Line], names: roles.RoleNames, level: int, depth: int | None
) -> Iterator[Said]:
    """What is behind two dots: a directive; comments, labels and footnotes' targets are dropped."""
    found = _DIRECTIVE.match(lines[0].text)
    if not found:
        if _FOOTNOTE.match(lines[0].text):
            yield Said(roles.marked(lines[0].text[3:], names), TEXT, lines[0].number)
        return
    name, argument = found[1].rpartition(":")[2], found[2].strip()
    body = _dedented(lines[1:])
    signatures = [argument]
    is_object = depth is not None and restructured_objects.is_object(found[1], argument)
    if is_object:
        more = [line.text.strip() for line in takewhile(_is_signature, body)]
        signatures += more
        body = _dedented(body[len(more) :])
    options = [line.text for line in takewhile(_is_option, body)]
    if depth is not None and not argument and (called := restructured_objects.named(options)):
        is_object, signatures = True, [called]
    first = len(options)
    body = body[first + (first < len(body) and not body[first].text) :]
    number = lines[0].number
    if is_object and depth is not None and (body or options):
        inside = _blocks(body, names, level + 1, depth + 1)
        heading = restructured_objects.name(found[1], signatures)
        yield Said(roles.plain(heading, names)[:_MAX_HEADING], _OBJECT, number, depth + 1)
        signature = restructured_objects.signature(heading, signatures)
        yield from _described(inside, signature, restructured_objects.facts(options), names, number)
        yield Said("", _END, number, depth + 1)
    elif name in CODE_BLOCKS:
        yield from _code(body, argument if name != "math" else "math")
    elif name in _TABLES:
        rows = _TABLES[name]([line.text for line in body], [line.text for line in lines[1:]])
        if argument:
            yield Said(roles.marked(argument, names), TEXT, number)
        yield Said(roles.marked(rows, names), TABLE, number)
    elif name in VERSIONS:
        yield from _changed(
            f"{VERSIONS[name]} {argument}".strip(),
            body,
            names,
            level,
            number,
        )
    elif name not in DROPPED:
        said = f"{SAID[name]}: {argument}".rstrip() if name in SAID else argument
        if name in ("figure", "image") or (name in TABS and _is_language(argument, body)):
            said = ""
        if said:
            yield Said(roles.marked(said, names), TEXT, number)
        yield from _blocks(body, names, level + 1, depth if name in _TRANSPARENT else None)


def _is_language(label: str, body: list[Line]) -> bool:
    """Whether the label of a tab is the language of the code that it holds."""
    first = _DIRECTIVE.match(next((line.text.strip() for line in body if line.text), ""))
    return (
        first is not None and first[1] in CODE_BLOCKS and first[2].strip().lower() == label.lower()
    )


def _described(
    inside: Iterator[Said], signature: str, facts: str, names: roles.RoleNames, number: int
) -> Iterator[Said]:
    """What is said of an object: its signature, its first block, its type and default, the rest."""
    if signature:
        yield Said(signature, TEXT, number)
    first = next(inside, None)
    if first is not None and first.kind == TEXT:
        yield first
        first = None
    if facts:
        yield Said(roles.marked(facts, names), TEXT, number)
    if first is not None:
        yield first
    yield from inside


def _changed(
    version: str, body: list[Line], names: roles.RoleNames, level: int, number: int
) -> Iterator[Said]:
    """What changed in a version: both in one line, so that neither is quoted alone."""
    inside = _blocks(body, names, level + 1)
    first = next(inside, None)
    version = roles.marked(version, names)
    if first is None or first.kind != TEXT:
        yield Said(version, TEXT, number)
    else:
        yield Said(f"{version}: {first.text}", TEXT, number)
        first = None
    if first is not None:
        yield first
    yield from inside


def _definition(
    term: restructured_lists.ListTerm, lines: list[Line], names: roles.RoleNames, level: int
) -> Iterator[Said]:
    """An item of a list without bullets: "- term: ", its first paragraph, and what is below it."""
    first = lines[0]
    inside = [Line(first.text[term.end :], first.number), *_dedented(lines[1:])]
    lead = f"- {roles.marked(term.text, names)}:"
    waiting = True
    for said in _blocks(inside, names, level + 1):
        text = "\n".join(f"  {line}" if line else line for line in said.text.split("\n"))
        if waiting:
            waiting = False
            if said.kind == TEXT:
                yield Said(f"{lead} {said.text}", LIST, first.number)
                continue
            yield Said(lead, LIST, first.number)
        yield Said(text, said.kind if said.kind == CODE else LIST, said.line)


def _is_option(line: Line) -> bool:
    return _OPTION.match(line.text) is not None


def _is_signature(line: Line) -> bool:
    return bool(line.text) and not _is_option(line)


def _item(lines: list[Line], width: int, names: roles.RoleNames, level: int) -> Iterator[Said]:
    """An item of a list: its first paragraph with the bullet, and what is below it."""
    inside = [Line(lines[0].text[width:], lines[0].number)]
    inside += [Line(line.text[min(width, _indent(line.text)) :], line.number) for line in lines[1:]]
    bullet = lines[0].text[:width]
    blank = " " * len(bullet)
    for number, said in enumerate(_blocks(inside, names, level + 1)):
        text = "\n".join(blank + line if line else line for line in said.text.split("\n"))
        if number == 0:
            text = bullet + text[len(bullet) :]
        yield Said(text, said.kind if number and said.kind == CODE else LIST, said.line)


def _joined(items: list[Said]) -> Iterator[Said]:
    if items:
        yield Said("\n".join(item.text for item in items), LIST, items[0].line)


def _code(lines: list[Line], language: str) -> Iterator[Said]:
    body = _dedented(lines)
    filled = [at for at, line in enumerate(body) if line.text]
    if filled:
        body = body[filled[0] : filled[-1] + 1]
        text = "\n".join(line.text for line in body)
        yield Said(fenced(text, language.split(" ", maxsplit=1)[0][:30]), CODE, body[0].number)


def _dedented(lines: list[Line]) -> list[Line]:
    width = min((_indent(line.text) for line in lines if line.text), default=0)
    return [Line(line.text[width:], line.number) for line in lines]


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _end_of_indented(lines: list[Line], at: int) -> int:
    """Behind the last line that is indented, from here on; blank lines do not end it."""
    end = at
    for number in range(at, len(lines)):
        text = lines[number].text
        if text and text[0] != " ":
            break
        if text:
            end = number + 1
    return end


def _end_of_paragraph(lines: list[Line], at: int) -> int:
    is_table = lines[at].text.startswith("+-")
    is_simple = bool(_SIMPLE_RULE.match(lines[at].text))
    rules = 0
    for number in range(at, len(lines)):
        text = lines[number].text
        if is_simple:
            rules += bool(_SIMPLE_RULE.match(text))
            if not text and rules >= 2 and _SIMPLE_RULE.match(lines[number - 1].text):
                return number
        elif (
            not text
            or (is_table and text[0] not in "+|")
            or (number > at and (text.startswith(".. ") or _is_item(lines, number)))
        ):
            return number
    return len(lines)


def _is_item(lines: list[Line], at: int) -> bool:
    """Whether a line inside a paragraph begins a list; only with a plain bullet, to be safe."""
    return lines[at].text[:2] in ("- ", "* ") and lines[at - 1].text.endswith(":")
