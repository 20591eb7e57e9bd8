"""Lists of reStructuredText that have no bullet: `term` of the item that begins at a line.

    a definition    ``--app hello``                        - `--app hello`: the indented lines
                        The given name is imported.
    a field         :Exit code 5: No tests were found      - Exit code 5: what follows
                    :param int size: The size              - `size` (int): …
    an option       -v, --verbose  Say more                - `-v, --verbose`: …

Time is linear: a line is looked at once.
"""

import re
from typing import NamedTuple

_FIELD = re.compile(r":(?![:\s])((?:[^:\n]|:(?=\w)){1,120}):(?:[ \t]{1,40}|$)")
_PARAMETER = re.compile(
    r"(?:param|parameter|arg|argument|key|keyword|ivar|cvar|var) "
    r"(?:(?P<type>.{1,60}) )?(?P<name>\S+)$"
)
_OPTIONS = re.compile(
    r"(--?[A-Za-z0-9][\w-]{0,60}(?:[= ]<?[\w./-]{1,60}>?)?"
    r"(?:, --?[A-Za-z0-9][\w-]{0,60}(?:[= ]<?[\w./-]{1,60}>?)?){0,6})(?:[ ]{2,60}(?=\S)|$)"
)
_CLASSIFIER = re.compile(r" : (.{1,80})$")
_SAID = {"return": "Returns", "returns": "Returns", "rtype": "Type of what is returned"}


class ListTerm(NamedTuple):
    """What is before the colon of an item, and where the rest of its first line begins."""

    text: str
    end: int


def term(lines: list[str]) -> ListTerm | None:
    """The term of the item that begins here; the lines are this one and, if any, the next."""
    first = lines[0]
    is_followed = len(lines) > 1 and lines[1][:1] == " "
    if field := _FIELD.match(first):
        has_text = field.end() < len(first)
        return ListTerm(_field(field[1]), field.end()) if has_text or is_followed else None
    if option := _OPTIONS.match(first):
        has_text = option.end() < len(first)
        return ListTerm(f"`{option[1]}`", option.end()) if has_text or is_followed else None
    if is_followed and not first.endswith("::"):
        return ListTerm(_CLASSIFIER.sub(r" (\1)", first), len(first))
    return None


def _field(name: str) -> str:
    parameter = _PARAMETER.match(name)
    if parameter is None:
        return _SAID.get(name, name)
    kind = f" ({parameter['type']})" if parameter["type"] else ""
    return f"`{parameter['name']}`{kind}"
