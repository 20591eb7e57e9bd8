"""A quotation with its citation markers: `cite` it, escaping any marker in its text.

    [^            becomes \\[^ unless an odd run of backslashes escapes it already
    ```           at the beginning becomes \\```, or it would open a fence
    the markers   follow each sentence after a space, which a last backslash may escape instead
    code          follows below the markers, between its fences, as it is: nothing is a marker there
    a list, or    is introduced as "lead-in [^1]:", so that the markers are those of all its items
    a table       and rows; a row of a table comes with its header, which has the markers

A line is one line, of one or more sentences. `rules.citations` then finds exactly the given
numbers, and `grounding.claims` gives them to each claim.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from redask.core.rules.grounding.splitting import sentence_ends
from redask.core.text import compiled_later

_OPENING = re.compile(r"(\\*+)\[\^")
_WORD = re.compile(r"[^\W_]")
_LEAD_END = compiled_later(r"[\s.:…：]{1,8}$")


@dataclass(frozen=True, slots=True)
class Quotation:
    """A line, the sources that hold it, and what belongs to it."""

    line: str
    numbers: tuple[int, ...]
    below: str = ""
    header: str = ""


def cite(line: str, numbers: Sequence[int]) -> str:
    """The line as a quotation from the sources with these numbers."""
    markers = "".join(f"[^{number}]" for number in numbers)
    escaped = escape(line)
    cited, start = [], 0
    for _, end in sentence_ends.split(escaped, 0, len(escaped)):
        if _WORD.search(escaped, start, end) and _WORD.search(escaped, end):
            cited.append(f"{escaped[start:end].strip()} {markers}")
            start = end
    return " ".join([*cited, f"{escaped[start:].strip()} {markers}"])


def write(quoted: Quotation) -> str:
    """The quotation with its markers and all that belongs to it."""
    if quoted.header:
        header, rule = quoted.header.split("\n")
        return f"{cite(header.rstrip('| '), quoted.numbers)} |\n{rule}\n{escape(quoted.line)}"
    if not quoted.below or quoted.below.startswith("```"):
        code = f"\n{quoted.below}" if quoted.below else ""
        return f"{cite(quoted.line, quoted.numbers)}{code}"
    listed, fence, code = quoted.below.partition("```")
    lines = [escape(line) for line in listed.split("\n")]
    blank = "\n" * lines[0].startswith("|")
    lead = cite(_LEAD_END.sub("", quoted.line), quoted.numbers)
    return f"{lead}:\n{blank}" + "\n".join(lines) + fence + code


def escape(line: str) -> str:
    """The line with citation markers and an opening code fence escaped."""
    escaped = _OPENING.sub(_escaped, line)
    return f"\\{escaped}" if escaped.startswith("```") else escaped


def _escaped(opening: re.Match[str]) -> str:
    backslashes = opening[1]
    return opening[0] if len(backslashes) % 2 else rf"{backslashes}\[^"
