"""`redask show N|URN`: a source, with what the answer took from it highlighted.

N is a footnote of the last answer that was printed here. Lines that hold quoted words begin with
`>`; on a terminal the words are highlighted. The source is read again, as the caller may see it.
"""

import json
import re
from typing import TYPE_CHECKING

import click

from redask.cli import last_answer, opening
from redask.cli.last_answer import LastAnswer, ShownSource
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo, terminal_console
from redask.core import places
from redask.core.errors import BadAsk
from redask.core.wire import json as canonical
from redask.core.wire import plain_text, query_source

if TYPE_CHECKING:
    from redask.api.sync import OpenDatabase

_QUOTE = "bold reverse"
_MOST_DIGITS = 9


@click.command("show")
@click.argument("source")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(db: str, source: str, as_json: bool) -> None:
    """Show SOURCE, a footnote's number of the last answer or a URN, with its quotation."""
    with reports_errors(as_json):
        with opening.opened(db) as opened:
            shown = _chosen(source, last_answer.read(db, opened.whoami()))
            payload = _payload(opened, shown)
        if as_json:
            told = {"payload": payload, "quotes": list(shown.quotes), "urn": shown.urn}
            echo(canonical.text(told))
            return
        _show(shown, payload)


def show(opened: "OpenDatabase", source: str, last: LastAnswer) -> None:
    """Print a source: a footnote's number of the last answer, or a URN."""
    shown = _chosen(source, last)
    _show(shown, _payload(opened, shown))


def _payload(opened: "OpenDatabase", shown: ShownSource) -> str:
    payload = opened.get(shown.urn)
    if payload is None:
        raise BadAsk(f"there is no source {shown.urn[:300]} here any more", detail="source")
    return payload


def _chosen(source: str, last: LastAnswer) -> ShownSource:
    kept = last.sources
    if source.startswith("urn:"):
        return next((each for each in kept if each.urn == source), ShownSource(source, ()))
    number = source.removeprefix("[^").removesuffix("]")
    if not (number.isascii() and number.isdigit()):
        raise BadAsk(f"{source[:100]!a} is neither a footnote's number nor a URN", detail="source")
    if not kept and last.turns:
        raise BadAsk("the last answer has no sources: nothing was found for it", detail="source")
    if not kept:
        raise BadAsk("no answer was printed yet: ask something, or name a URN", detail="source")
    if len(number) > _MOST_DIGITS or not 0 < int(number) <= len(kept):
        raise BadAsk(f"the last answer has the sources 1 to {len(kept)}", detail="source")
    return kept[int(number) - 1]


def _show(shown: ShownSource, payload: str) -> None:
    from rich.text import Text

    console = terminal_console(highlight=False, soft_wrap=True)
    where = plain_text.place(shown.urn, payload, shown.quotes[0] if shown.quotes else "")
    console.print(Text(query_source.statement_of(shown.urn) or shown.urn, style="cyan"))
    if where:
        console.print(Text(where, style="bold"))
    console.print()
    for text in _texts(payload):
        marked = Text(plain_text.harmless(text))
        spans = _spans(text, shown.quotes)
        for start, end in spans:
            marked.stylize(_QUOTE, start, end)
        at = 0
        for line in marked.split("\n", allow_blank=True):
            end = at + len(line.plain)
            held = any(start < end and at < stop for start, stop in spans)
            console.print(Text("> " if held else "  ").append_text(line))
            at = end + 1


def _texts(payload: str) -> list[str]:
    """What is to be read: a document's text, else a line for each column."""
    try:
        value = json.loads(payload)
    except ValueError:
        return [payload]
    if not isinstance(value, dict):
        return [payload]
    if isinstance(value.get("text"), str) and "path" in value:
        return [value["text"]]
    return [
        f"{key}: {each if isinstance(each, str) else canonical.text(each)}"
        for key, each in places.columns(value).items()
    ]


def _spans(text: str, quotes: tuple[str, ...]) -> list[tuple[int, int]]:
    """Where the quotes stand in a text: not in the middle of a word, as 2 does in 1234."""
    found = (_standing_alone(quote).search(text) for quote in quotes if quote)
    return [each.span() for each in found if each]


def _standing_alone(quote: str) -> re.Pattern[str]:
    before = r"(?<![0-9A-Za-z])" if quote[0].isalnum() and quote[0].isascii() else ""
    after = r"(?![0-9A-Za-z])" if quote[-1].isalnum() and quote[-1].isascii() else ""
    return re.compile(before + re.escape(quote) + after)
