"""A quotation with its citation markers: `cite` a line, escaping any marker in its text.

    [^            becomes \\[^ unless an odd run of backslashes escapes it already
    ```           at the beginning becomes \\```, or it would open a fence
    the markers   follow after a space, which a last backslash may escape instead of them

The text must be one line. `rules.citations` then finds exactly the given numbers.
"""

import re
from collections.abc import Sequence

_OPENING = re.compile(r"(\\*+)\[\^")


def cite(line: str, numbers: Sequence[int]) -> str:
    """The line as a quotation from the sources with these numbers."""
    markers = "".join(f"[^{number}]" for number in numbers)
    return f"{escape(line)} {markers}"


def escape(line: str) -> str:
    """The line with citation markers and an opening code fence escaped."""
    escaped = _OPENING.sub(_escaped, line)
    return f"\\{escaped}" if escaped.startswith("```") else escaped


def _escaped(opening: re.Match[str]) -> str:
    backslashes = opening[1]
    return opening[0] if len(backslashes) % 2 else rf"{backslashes}\[^"
