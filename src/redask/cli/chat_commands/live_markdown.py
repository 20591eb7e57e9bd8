"""An answer's Markdown while it is written, on a terminal that can go back: `streamed`.

What is drawn is what the web page draws: paragraphs, headings, lists, quotations, tables, code and
emphasis. Links, images, tags and entities stay the characters they are, lines end where they end.
While it grows, as much of its end as the screen holds is shown; once it is there, all of it. What
the data holds is text: nothing of it reaches the terminal as a command (`terminal_text`).
"""

import time
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.markdown import Markdown
from rich.segment import Segment

from redask.cli.printed_answers import starts_anew
from redask.cli.terminal_text import Guarded, terminal_console
from redask.core.model import Answer, Answered, AnswerReset, AnswerToken, Event, Failed

_AS_TEXT = ["autolink", "entity", "html_block", "html_inline", "image", "link", "reference"]
_CODE = "ansi_dark"  # the terminal's own colours
_A_SECOND = 10  # how often it is drawn
_REST = 4.0  # drawing takes at most a fifth of the time


def is_fit(console: Console) -> bool:
    """Whether what was written can be taken back, to be drawn as Markdown."""
    return console.is_terminal and not console.is_dumb_terminal


def streamed(events: Iterator[Event]) -> Answer:
    """Draw an answer while it is written. → the answer; raises what it failed with.

    Whatever ends it, what was said until then stays on the screen.
    """
    console = terminal_console(highlight=False)
    growing = _GrowingText()
    try:
        with _CalmLive(growing, console=console, refresh_per_second=_A_SECOND, transient=True):
            for event in events:
                match event:
                    case AnswerToken(text):
                        growing.add(text)
                    case AnswerReset(reason):
                        growing.clear()
                        console.print(starts_anew(reason), markup=False)
                    case Failed(error):
                        raise error
                    case Answered(answer):
                        growing.say(answer.answer)
                        return answer
        raise AssertionError("a stream ends with an answer or an error")
    finally:
        if growing.text:
            console.print(drawn(growing.text))


def drawn(text: str) -> Markdown:
    """A text as Markdown, of which nothing is lost."""
    parser = MarkdownIt("commonmark").enable(["strikethrough", "table"]).disable(_AS_TEXT)
    made = Markdown("", code_theme=_CODE, hyperlinks=False)
    made.parsed = parser.parse(text)
    _keep_lines(made.parsed)
    return made


def _keep_lines(tokens: list[Token]) -> None:
    for token in tokens:
        if token.type == "softbreak":
            token.type = "hardbreak"
        _keep_lines(token.children or [])


class _CalmLive(Live):
    """Draws when there is something new, and lets the screen be when there is not."""

    def refresh(self) -> None:
        if not isinstance(self.renderable, _GrowingText) or self.renderable.is_new:
            super().refresh()


class _GrowingText:
    """The end of a text that grows, as many lines as fit; drawn less often as it gets longer."""

    def __init__(self) -> None:
        self.text = ""
        self._drawn: tuple[str, tuple[int, int]] = ("", (0, 0))
        self._lines: list[list[Segment]] = []
        self._due = 0.0

    @property
    def is_new(self) -> bool:
        """Whether it is another text than was drawn, and time to draw it."""
        return self._drawn[0] != self.text and time.monotonic() >= self._due

    def add(self, text: str) -> None:
        self.text += text

    def say(self, text: str) -> None:
        self.text = text

    def clear(self) -> None:
        self.say("")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text, size = self.text, (options.max_width, options.size.height)
        begun = time.monotonic()
        if self._drawn != (text, size) and begun >= self._due:
            lines = console.render_lines(Guarded(drawn(text)), options, pad=False)
            self._lines = lines[-max(size[1] - 1, 1) :]
            self._drawn = (text, size)
            self._due = time.monotonic() + _REST * (time.monotonic() - begun)
        for line in self._lines:
            yield from line
            yield Segment.line()
