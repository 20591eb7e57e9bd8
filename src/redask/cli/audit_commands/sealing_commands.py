"""`redask audit keygen|seal|prove|erase`: checkpoints of the log, proofs, and what must go."""

import sys

import click

from redask.cli import opening
from redask.cli.opening import private_output, reports_errors, utc_time
from redask.cli.terminal_text import echo
from redask.core.errors import BadAsk, StoreFailed
from redask.core.wire import json as canonical
from redask.core.wire.outcomes import OUTCOMES

LOG = click.option(
    "--log",
    type=click.Choice(["ask", "access"]),
    default="ask",
    help="The log of asks, or of SELECTs, searches, refused sign-ins and administration.",
)


@click.command("keygen")
@click.argument("file", type=click.Path(dir_okay=False))
def keygen(file: str) -> None:
    """Make a pair of Ed25519 keys: FILE, which signs checkpoints, and FILE.pub, which checks them.

    Only you may read FILE. Set `audit.seal.key` to it in your own configuration.
    """
    with reports_errors():
        from redask.api.auditing.sealing_methods import make_audit_key

        public = make_audit_key(file)
        echo(f"wrote {file} and {file}.pub; the public key is {public}")


@click.command("seal")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the checkpoints, one a line.")
@click.pass_obj
def seal(db: str, as_json: bool) -> None:
    """Sign a checkpoint of every chain, and hand it to the places of `audit.seal.*`."""
    with reports_errors(as_json):
        with opening.opened(db, embedder="none") as opened:
            report = opened.seal_audit()
        for each in report.checkpoints:
            if as_json:
                echo(canonical.text(each))
                continue
            whose = f"{each['log']} log, tenant {each['tenant'] or '(server)'}"
            when = utc_time(int(str(each["ts"])))
            echo(f"{whose}: {each['size']} rows sealed at {when} UTC; root {each['root']}")
        for problem in report.problems:
            echo(f"redask: {problem}", err=True)
        if report.problems:
            sys.exit(OUTCOMES[StoreFailed].exit)


@click.command("prove")
@click.argument("seq", type=int, required=False)
@click.option("--since", type=click.Path(dir_okay=False), help="A file with an older checkpoint.")
@click.option("--output", type=click.Path(dir_okay=False), default="-", help="A file.")
@LOG
@click.pass_obj
def prove(db: str, seq: int | None, since: str | None, output: str, log: str) -> None:
    """Prove that row SEQ is in the log that was sealed last; or that the log only grew (--since).

    The proof holds the row. `redask audit verify --proof FILE` checks it anywhere.
    """
    with reports_errors():
        if (seq is None) == (since is None):
            raise BadAsk("give the number of a row, or --since FILE")
        with opening.opened(db, embedder="none") as opened:
            if seq is not None:
                proof = opened.prove_audit(seq, log=log)
            else:
                proof = opened.prove_audit_since(str(since), log=log)
        with private_output(output) as lines:
            lines.write(f"{proof}\n")


@click.command("erase")
@click.argument("seq", type=int)
@click.option("--field", "fields", multiple=True, required=True, help="What goes; repeat for more.")
@click.option("--reason", required=True, help="Why; it goes into the log.")
@LOG
@click.pass_obj
def erase(db: str, seq: int, fields: tuple[str, ...], reason: str, log: str) -> None:
    """Take values out of row SEQ for ever, such as --field question; that goes on record.

    The row's hash stays, so that the log and old proofs verify. The file is written anew, which
    takes as long as it is large, and answers wait for it. Back-ups and exports that were made
    before keep the values.
    """
    with reports_errors():
        with opening.opened(db, embedder="none") as opened:
            erased = opened.erase_audit(seq, fields, reason=reason, log=log)
        if erased:
            echo(f"erased from row {seq}, and on record: {', '.join(erased)}")
        else:
            echo(f"row {seq} has none of it any more")
