"""`redask check --answer FILE --sources FILE`: whether sources support the claims of an answer."""

import sys
from typing import TYPE_CHECKING

import click

from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo
from redask.core.wire import json as canonical

if TYPE_CHECKING:
    from redask.api.checking import CheckedAnswer, CheckedClaim

_SHOWN = 200  # characters of a claim or a quotation


@click.command("check")
@click.option("--answer", required=True, metavar="FILE", help="The answer, a text; - for stdin.")
@click.option(
    "--sources",
    required=True,
    metavar="FILE",
    help="Its sources: a JSON list, JSON lines, or one text; - for stdin.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(answer: str, sources: str, as_json: bool) -> None:
    """Check the claims of an answer, from any system, against the sources it cites.

    [^1] cites the first source. A source is a text, or an object with "text" or "payload" and
    perhaps "urn". Exits with 5 when something was found.
    """
    with reports_errors(as_json):
        from redask.api.checking import check
        from redask.cli import given_files
        from redask.core.errors import BadAsk, Ungrounded
        from redask.core.wire import outcomes

        if answer == sources == given_files.STANDARD_INPUT:
            raise BadAsk("only one of --answer and --sources can be standard input")
        checked = check(given_files.text(answer), given_files.sources(sources))
        echo(canonical.text(checked.to_dict()) if as_json else _shown(checked), nl=as_json)
        if not checked.ok:
            sys.exit(outcomes.OUTCOMES[Ungrounded].exit)


def _shown(checked: "CheckedAnswer") -> str:
    lines = [line for claim in checked.claims if not claim.ok for line in _claim(claim)]
    markers = (issue for issue in checked.issues if not issue.kind.endswith("_claim"))
    lines += [f"{issue.kind}: {issue.detail}" for issue in markers]
    counts: dict[str, int] = {}
    for claim in checked.claims:
        counts[claim.verdict] = counts.get(claim.verdict, 0) + 1
    said = ", ".join(f"{count} {verdict.replace('_', ' ')}" for verdict, count in counts.items())
    count = len(checked.claims)
    lines.append(f"{count} claim{'' if count == 1 else 's'}{': ' if said else ''}{said}")
    return "\n".join([*lines, ""])


def _claim(claim: "CheckedClaim") -> list[str]:
    cited = "".join(f"[^{marker}]" for marker in claim.markers)
    lines = [f"{claim.verdict}: {_line(claim.text)} {cited}".rstrip()]
    if claim.tokens:
        lines.append(f"    not in the sources: {_line(', '.join(claim.tokens))}")
    if claim.instead:
        lines.append(f"    they say: {_line(', '.join(claim.instead))}")
    return lines + [f"    [^{quote.marker}] {_line(quote.text)}" for quote in claim.quotes]


def _line(text: str) -> str:
    """A text of somebody else on one line, with nothing that a terminal obeys."""
    from redask.core.wire.plain_text import cut

    line = cut(" ".join(text.split()), _SHOWN)
    return line if line.isprintable() else ascii(line)[1:-1]
