"""The one way out of the command line, safe for a terminal: `echo` and those beside it.

What a row, a file name, an answer or an error holds is data; a terminal obeys some of it. So
control characters (C0 but tab and line feed, DEL, C1) and marks that turn the direction of a line
are written as `\\u001b`, which is also how JSON writes them:

    standard output, a terminal     always
    standard error, logs            always, wherever they go: they are read by people
    standard output, elsewhere      left as it is: a file or a program gets what the data is

A progress line may begin with a carriage return. Nobody else in `cli` prints.
"""

import logging
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

_STYLES: dict[str, dict[str, Any]] = {
    "bold": {"bold": True},
    "dim": {"dim": True},
    "cyan": {"fg": "cyan"},
    "yellow": {"fg": "yellow"},
}


def visible(text: str) -> str:
    """The text with nothing in it that a terminal obeys."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def echo(text: object = "", *, nl: bool = True, err: bool = False) -> None:
    """Print a line."""
    said = str(text)
    if err or sys.stdout.isatty():
        progress = "\r" if err and said.startswith("\r") else ""
        said = progress + visible(said[len(progress) :])
    click.echo(said, nl=nl, err=err, color=True)  # else click takes escapes out of files


class Guarded:
    """A renderable of rich's whose styles pass and whose texts are made visible."""

    def __init__(self, inner: "RenderableType") -> None:
        self._inner = inner

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich.segment import Segment

        for each in console.render(self._inner, options):
            yield each if each.control else Segment(visible(each.text), each.style)


def echo_styled(*pieces: tuple[str, str]) -> None:
    """Print a line of pieces, each in a style (`bold`, `dim`, a colour, none) on a terminal."""
    if not _is_styled():
        echo("".join(text for text, _ in pieces))
        return
    shown = [
        click.style(visible(text), **_STYLES[style]) if style else visible(text)
        for text, style in pieces
    ]
    click.echo("".join(shown), color=True)


def _is_styled() -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in ("dumb", "unknown")
    return sys.stdout.isatty() and not plain


def terminal_console(*, stderr: bool = False, **options: Any) -> "Console":
    """A console of rich's, all of whose texts are guarded; but not what a `Live` of it shows."""
    from rich.console import Console, ConsoleRenderable, RenderHook

    class Hook(RenderHook):
        def process_renderables(
            self, renderables: list[ConsoleRenderable]
        ) -> list[ConsoleRenderable]:
            return [Guarded(each) for each in renderables]

    made = Console(stderr=stderr, **options)
    if stderr or made.is_terminal:
        made.push_render_hook(Hook())
    return made


class OneLineFormatter(logging.Formatter):
    """A log record as one line, and a trace below it: with nothing that a terminal obeys."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        message, _, trace = super().format(record).partition("\nTraceback")
        line = visible(message.replace("\n", "\\n"))
        return f"{line}\nTraceback{visible(trace)}" if trace else line


def guard_logs() -> None:
    """Let what nobody else handles, which goes to standard error, be such lines."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(OneLineFormatter())
