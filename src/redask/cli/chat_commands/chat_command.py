"""`redask chat`: a conversation in the terminal, sources by number; or a question a line of a pipe.

What goes wrong with a question is told, and the conversation goes on. Ctrl-C takes back a line or
cancels a running ask, Ctrl-D and /quit end. From a pipe there is no prompt, Ctrl-C ends it, and the
exit code is that of the first question that failed.

The questions that were typed can be had again with the arrow keys until the conversation ends; they
are written nowhere.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from redask.cli import last_answer, opening
from redask.cli.chat_commands import chat_lines
from redask.cli.chat_commands.chat_lines import ChatLine, Wish
from redask.cli.content_commands import show_command
from redask.cli.flags import clause_flags, options_of
from redask.cli.last_answer import LastAnswer
from redask.cli.opening import reports_errors, tell
from redask.cli.printed_answers import printed
from redask.cli.terminal_text import echo, terminal_console
from redask.core.errors import AskError, BadAsk
from redask.core.wire import outcomes

if TYPE_CHECKING:
    from redask.api.sync import OpenDatabase
    from redask.core.model import Answer

PROMPT = "> "
_HELP = """\
1, /source 1    show source 1 of the last answer, with what was quoted marked; also /source URN
/new            begin anew: later questions lean on nothing that was said before
/quit           end; so does Ctrl-D. Ctrl-C cancels a running question"""


@click.command("chat")
@clause_flags()
@click.option("--follow", is_flag=True, help="Go on with the last conversation here.")
@click.option("--markdown/--no-markdown", default=None, help="Whether Markdown is drawn.")
@click.pass_obj
def command(db: str, /, *, follow: bool, markdown: bool | None, **flags: Any) -> None:
    """Ask one question after the other; each may lean on what was said before.

    Type a footnote's number to see its source, /help for what else there is. Standard input that is
    no terminal is read as one question a line.
    """
    with reports_errors(), opening.opened(db) as opened:
        options = options_of(flags)
        if "using" not in options:
            opening.warn_of_providers(db)
        chat = TerminalChat(opened, db, options, follow=follow, markdown=markdown)
        if sys.stdin.isatty():
            from redask.api.sync import shown

            who = opened.whoami()
            echo(f"redask chat · {shown(db)} · {who.user}, {who.role} · /help, /quit", err=True)
            chat.converse()
            return
        failed = chat.answer_all(_piped())
    sys.exit(failed)


class TerminalChat:
    """One conversation, and the last answer of it."""

    def __init__(
        self,
        opened: "OpenDatabase",
        location: str,
        options: dict[str, object],
        *,
        follow: bool,
        markdown: bool | None,
    ) -> None:
        self._opened = opened
        self._location = location
        self._options = options
        self._caller = opened.whoami()
        self._last = last_answer.read(location, self._caller) if follow else LastAnswer()
        self._draws = _draws(markdown)
        self._begin()

    def converse(self) -> None:
        """Prompt and answer, until somebody ends it."""
        with suppress(ImportError):
            import readline  # noqa: F401  # edits what is typed
        while True:
            try:
                said = chat_lines.read(_typed())
            except EOFError:
                echo()
                return
            except KeyboardInterrupt:
                echo()  # the line is taken back
                continue
            except UnicodeDecodeError:
                echo("redask: that is not UTF-8", err=True)
                continue
            if said.wish is Wish.QUIT:
                return
            try:
                self.act(said)
            except AskError as error:
                tell(error)
            except KeyboardInterrupt:
                echo("\nredask: cancelled", err=True)

    def answer_all(self, lines: Iterator[str]) -> int:
        """Answer one line after the other. → the exit code of the first that failed"""
        code = 0
        for line in lines:
            said = chat_lines.read(line)
            if said.wish is Wish.QUIT:
                break
            try:
                self.act(said)
            except AskError as error:
                tell(error)
                code = code or outcomes.of(error).exit
        return code

    def act(self, said: ChatLine) -> None:
        """Do what a line says; raises what goes wrong."""
        match said.wish:
            case Wish.QUESTION:
                answer = self._answer(said.text)
                turns = self._talk.turns
                self._last = last_answer.keep(self._location, self._caller, turns, answer)
                echo()
            case Wish.SOURCE:
                show_command.show(self._opened, said.text, self._last)
                echo()
            case Wish.NEW:
                self._last = LastAnswer()
                self._begin()
            case Wish.HELP:
                echo(_HELP)
            case Wish.UNKNOWN:
                raise BadAsk(f"{said.text[:100]!a} is no command here: see /help")

    def _begin(self) -> None:
        from redask.api.conversation import Conversation

        self._talk = Conversation(self._opened, self._last.turns)

    def _answer(self, question: str) -> "Answer":
        if not self._draws:
            stream = sys.stdout.isatty()
            return printed(self._talk, question, self._options, stream=stream)
        from redask.cli.chat_commands import live_markdown

        write = live_markdown.streamed
        return printed(self._talk, question, self._options, stream=True, write=write)


def _draws(wanted: bool | None) -> bool:
    if wanted is False or not sys.stdout.isatty():
        return False
    from redask.cli.chat_commands import live_markdown

    return live_markdown.is_fit(terminal_console())


def _typed() -> str:
    """A line of the terminal; `EOFError` for Ctrl-D."""
    if sys.stdout.isatty():
        return input(PROMPT)
    echo(PROMPT, nl=False, err=True)  # the answers go elsewhere
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


def _piped() -> Iterator[str]:
    for line in sys.stdin.buffer:
        yield line.decode("utf-8", "surrogateescape")  # what is no UTF-8 is refused as a question
