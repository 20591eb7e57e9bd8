"""Source code: a chunk for each function, method and class, as code, with its line.

    Python            by its syntax: functions, classes and their methods, decorators and comments
                      right above included; what is between them is one block, the module's
                      docstring prose
    other languages   a block begins at a line without indentation after a blank line; it has the
                      name that its first line declares (`func Serve(`, `class Ferry`), comments
                      right above included; blocks without one belong to what is before the first
    heading           the names: `Client > get`

Python that does not parse, or is larger than MAX_PARSED, is read as any other language.
"""

import ast
import os
import re
from collections.abc import Iterator

from redask.core.text import lower
from redask.ingest.readers import content, passages
from redask.ingest.readers.outlines import CODE, Outline, OutlineBuilder, fenced
from redask.ingest.records import OpenedFile, ReadRecord

MAX_PARSED = 1024 * 1024
LANGUAGES = {
    ".py": "python",
    ".pyi": "python",
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".tsx", ".mts", ".cts"), "typescript"),
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp", ".hh"), "cpp"),
    ".cs": "csharp",
    ".go": "go",
    ".java": "java",
    ".kt": "kotlin",
    ".lua": "lua",
    ".php": "php",
    ".pl": "perl",
    ".proto": "proto",
    ".r": "r",
    ".rb": "ruby",
    ".rs": "rust",
    ".scala": "scala",
    **dict.fromkeys((".sh", ".bash", ".zsh"), "bash"),
    ".sql": "sql",
    ".swift": "swift",
}
_MAX_NAME = 100
_DECLARED = re.compile(
    r"^(?:[A-Za-z_@][\w@:<>\[\],.&*?-]{0,80}[ \t]{1,4}){0,8}?"
    r"(?:func|function|fn|def|class|struct|interface|enum|trait|impl|type|module|namespace|object"
    r"|record|protocol|extension|message|service|sub|const|let|var"
    r"|TABLE|VIEW|INDEX|FUNCTION|PROCEDURE|TRIGGER)"
    r"\*?[ \t]{1,4}(?:\([^()\n]{0,100}\)[ \t]?)?(?:IF NOT EXISTS )?"
    r"[\"`\[]?([A-Za-z_$][\w$.:]{0,99})"
)
_CALLABLE = re.compile(
    r"^[A-Za-z_][\w<>,:&*\[\] \t]{0,120}?[ \t*&]?([A-Za-z_$~][\w$:~]{0,99})[ \t]?\("
)
_CLOSING = re.compile(r"[\])}]|end\b|(?:esac|fi|done)\b")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def read(file: OpenedFile) -> Iterator[ReadRecord]:
    """The chunks of a source file."""
    text = content.text(file.data)
    language = LANGUAGES[lower(os.path.splitext(file.found.path)[1])]
    return passages.read(file.found, outline(text, language))


def outline(text: str, language: str) -> Outline:
    """The definitions of a source text, as sections."""
    if language == "python" and len(text) <= MAX_PARSED:
        try:
            return _python(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
    return _by_blocks(text, language)


def _python(text: str) -> Outline:
    lines = text.split("\n")
    tree = ast.parse(text)
    builder = OutlineBuilder()
    docstring = ast.get_docstring(tree)
    first = 1
    if docstring and isinstance(tree.body[0], ast.Expr):
        builder.block(docstring, "", tree.body[0].lineno)
        first = (tree.body[0].end_lineno or 0) + 1
    _add_body(builder, lines, tree.body, (first, len(lines)), ())
    return builder.outline(headed=False)


def _add_body(
    builder: OutlineBuilder,
    lines: list[str],
    body: list[ast.stmt],
    span: tuple[int, int],
    names: tuple[str, ...],
) -> None:
    """The definitions of a body as sections, and before them what is between them as code."""
    defined: list[tuple[Definition, int, int]] = []
    between: list[str] = []
    at, start = span[0], 0
    for each in body:
        if not isinstance(each, Definition):
            continue
        top = min([each.lineno, *(one.lineno for one in each.decorator_list)])
        while top - 1 >= at and lines[top - 2].lstrip().startswith("#"):
            top -= 1
        defined.append((each, top, each.end_lineno or top))
        start = start or (at if any(map(str.strip, lines[at - 1 : top - 1])) else 0)
        between += lines[at - 1 : top - 1]
        at = (each.end_lineno or top) + 1
    start = start or at
    between += lines[at - 1 : span[1]]
    _add_code(builder, between, start, "python")
    for each, top, end in defined:
        builder.heading(len(names) + 2, each.name[:_MAX_NAME])
        inner = isinstance(each, ast.ClassDef) and any(
            isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) for one in each.body
        )
        if inner and not names:
            _add_body(builder, lines, each.body, (top, end), (each.name,))
        else:
            _add_code(builder, lines[top - 1 : end], top, "python")


def _by_blocks(text: str, language: str) -> Outline:
    builder = OutlineBuilder()
    loose: list[tuple[int, list[str]]] = []
    named: list[tuple[str, int, list[str]]] = []
    for line, block in _top_level(text.split("\n")):
        name = _name(block)
        if name:
            named.append((name, line, block))
        elif named:
            named[-1][2].extend(["", *block])
        else:
            loose.append((line, block))
    for line, block in loose:
        _add_code(builder, block, line, language)
    for name, line, block in named:
        builder.heading(2, name)
        _add_code(builder, block, line, language)
    return builder.outline(headed=False)


def _top_level(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The blocks of a text with their lines."""
    block: list[str] = []
    start = 1
    is_blank = False
    for number, line in enumerate(lines, start=1):
        bare = line.rstrip()
        if bare and block and is_blank and bare[0] not in " \t" and not _CLOSING.match(bare):
            yield start, block
            block = []
        if not block:
            start = number
        if bare or block:
            block.append(bare)
        is_blank = not bare
    if block:
        yield start, block


def _name(block: list[str]) -> str | None:
    """The name that the first line of a block declares, comments and annotations passed over."""
    is_comment = False
    for line in block[:200]:
        bare = line.strip()
        if is_comment or bare.startswith("/*"):
            is_comment = "*/" not in bare
        elif bare and bare[0] not in "#@/*-[<" and line[0] not in " \t":
            shown = line[:300]
            found = _DECLARED.match(shown) or _CALLABLE.match(shown)
            return found[1] if found else None
    return None


def _add_code(builder: OutlineBuilder, lines: list[str], start: int, language: str) -> None:
    first = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    text = "\n".join(lines[first:]).rstrip()
    if text:
        builder.block(fenced(text, language), CODE, start + first)
