"""Inline markup of reStructuredText as Markdown: `marked`; and without any: `plain`.

``code``, :class:`x` and other names of code     `code`
`text <url>`_ `text <url>`__                     [text](url)
:doc:`text <page>`, :doc:`page`                  [text](page.rst)
:ref:`text <label>`, :ref:`label`                text; the title behind the label, else the label:
                                                 its words, or the identifier that it is
:any-other-role:`text`                           text
*emphasis*, **strong**, |substitution|, name_    as they are, without the underscore of a link
"""

import re
from collections.abc import Iterable

_MAX_LITERAL = 2000
_LITERAL_END = re.compile(r"``(?!`)")
_ROLE = re.compile(r"(?::([\w+.-]{1,40}(?::[\w+.-]{1,40})?):)?`([^`]{1,1000})`(_{0,2})")
_ESCAPE = re.compile(r"\\(?: |([^\w\s]))")
_TARGETED = re.compile(r"(.{1,800}?)\s{1,20}<([^<>\s]{1,800})>$", re.DOTALL)
_CODE = set(
    "class func meth mod attr data exc obj const envvar option program command file".split()
)
_CODE |= set("code samp kbd literal method function module py c cpp term guilabel".split())


class RoleNames:
    """The titles of a file's sections by their labels."""

    def __init__(self, titles: Iterable[tuple[str, str]]) -> None:
        self._titles = {label.lower(): title for label, title in titles}

    def title(self, label: str) -> str:
        """The title of a section; the label in words where it is in another file.

        What is written as an identifier stays one: `pass_env` may be all that a sentence says.
        """
        return self._titles.get(label.lower()) or " ".join(re.split(r"[-:./]+", label)).strip()


def marked(text: str, names: RoleNames) -> str:
    """A text as Markdown."""
    return "".join(
        f"`{part}`"
        if number % 2
        else _ESCAPE.sub(r"\1", _ROLE.sub(lambda found: _shown(found, names), part))
        for number, part in enumerate(_split_at_literals(text))
    )


def _split_at_literals(text: str) -> list[str]:
    """The parts of a text, every second one what stands between `` and ``.

    An end that is too far off is looked for once, not from every mark before it.
    """
    parts: list[str] = []
    done = end = 0
    begin = text.find("``")
    while begin >= 0:
        inside = begin + 2
        if end <= inside:
            found = _LITERAL_END.search(text, inside + 1)
            if found is None:
                break
            end = found.start()
        if end - inside > _MAX_LITERAL:
            begin = text.find("``", max(begin + 1, end - _MAX_LITERAL - 2))
            continue
        parts += text[done:begin], text[inside:end]
        done = end + 2
        begin = text.find("``", done)
    return [*parts, text[done:]]


def plain(text: str, names: RoleNames) -> str:
    """A text without marks."""
    shown = marked(text, names).replace("`", "").replace("**", "")
    return " ".join(re.sub(r"\[([^\[\]]{1,800})\]\([^()\s]{1,800}\)", r"\1", shown).split())


def _shown(found: re.Match[str], names: RoleNames) -> str:
    role = (found[1] or "").rpartition(":")[2]
    text = " ".join(found[2].split())
    target = _TARGETED.match(text)
    if not role and not found[3]:
        return found[0]  # a name in quotes of its own
    if role == "doc":
        page = target[2] if target else text
        return f"[{target[1] if target else page}]({page}.rst)"
    if role in ("ref", "numref"):
        return target[1] if target else names.title(text)
    if role in ("issue", "pr", "pull"):
        return f"#{text}"
    if role in _CODE:
        return f"`{text.lstrip('~!')}`"
    if target:
        return f"[{target[1]}]({target[2]})" if not role else target[1]
    return text
