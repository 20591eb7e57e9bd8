"""`redask audit verify`: a log, an export of it, or a proof, against checkpoints where given."""

import sys
from collections.abc import Iterator
from typing import Any

import click

from redask.cli import opening
from redask.cli.audit_commands.sealing_commands import LOG
from redask.cli.opening import reports_errors, utc_time
from redask.cli.terminal_text import echo
from redask.core.errors import BadAsk, StoreFailed
from redask.core.wire import json as canonical
from redask.core.wire.outcomes import OUTCOMES

_FILE = click.Path(dir_okay=False)


@click.command("verify")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--head", help="A hash that verify printed before: a row must have it.")
@click.option(
    "--checkpoint", "checkpoints", type=_FILE, multiple=True, help="A file of checkpoints."
)
@click.option("--export", "exported", type=_FILE, help="A file of `audit export --records`.")
@click.option("--proof", type=_FILE, help="A file that `audit prove` wrote.")
@click.option("--key", "keys", multiple=True, help="The public key: FILE.pub, or its hex digits.")
@LOG
@click.pass_obj
def verify(db: str, /, as_json: bool, log: str, **given: Any) -> None:
    """Check that every row is what was written, and what was sealed; names the first that is not.

    With --export or --proof no database is needed. Checkpoints must be signed with the --key, or
    with the key of `audit.seal.*`.
    """
    with reports_errors(as_json):
        from redask.core.rules.audit_chain import Intact

        if given["proof"] is not None:
            _verify_proof(as_json, **given)
            return
        checks = {"checkpoints": given["checkpoints"], "head": given["head"], "keys": given["keys"]}
        if given["exported"] is not None:
            from redask.api.auditing.sealing_methods import verify_export

            verdict = verify_export(given["exported"], **checks)
            remembers = False
        else:
            remembers = True
            with opening.opened(db) as opened:
                verdict = opened.verify_audit(log=log, **checks)
        if isinstance(verdict, Intact):
            _show(verdict, as_json, remembers=remembers)
            return
        _show_broken(verdict.seq, verdict.reason, verdict.tenant, as_json)


def _verify_proof(as_json: bool, **given: Any) -> None:
    from redask.api.auditing.sealing_methods import check_proof

    if given["exported"] is not None or given["checkpoints"] or given["head"] is not None:
        raise BadAsk("a proof is checked alone, with --key")
    found = check_proof(given["proof"], keys=given["keys"])
    if isinstance(found, str):
        _show_broken(0, found, "", as_json)
        return
    new = found.new.plain()
    if found.old is None:
        what = f"row {found.seq} is among the {found.new.size} records"
        told = {"checkpoint": new, "ok": True, "proves": "inclusion", "seq": found.seq}
    else:
        what = f"the log of {found.new.size} records begins with that of {found.old.size}"
        told = {"new": new, "ok": True, "old": found.old.plain(), "proves": "consistency"}
    whose = f"{found.new.log} log, tenant {found.new.tenant or '(server)'}"
    echo(canonical.text(told) if as_json else f"the proof holds: {whose}: {what}")
    if not as_json:
        for each in (found.old, found.new):
            if each is not None:
                echo(_checkpoint_line(each))


def _show(verdict: Any, as_json: bool, *, remembers: bool) -> None:
    chains = [_chain(each) for each in verdict.chains]
    plain = {"head": verdict.head.hash, "ok": True, "rows": verdict.rows}
    if as_json:
        seals = [{"count": each.count, "last": each.last.plain()} for each in verdict.seals]
        echo(canonical.text({"chains": chains, "checkpoints": seals, **plain}))
        return
    echo(f"{verdict.rows} rows, all as written; head {verdict.head.hash}")
    for line in (*_remarks(chains, remembers), *_seal_lines(verdict)):
        echo(line)


def _seal_lines(verdict: Any) -> Iterator[str]:
    """Which checkpoints the log was compared with, and what that showed."""
    lengths = {(each.log, each.tenant): each.head.seq for each in verdict.chains}
    for each in verdict.seals:
        last = each.last
        many = "1 checkpoint" if each.count == 1 else f"{each.count} checkpoints"
        records = f"the log of {lengths[last.log, last.tenant]} records begins with"
        yield (
            f"{last.log} log, tenant {last.tenant or '(server)'}: {many} checked, signed with a "
            f"trusted key; {records} what was sealed"
        )
        yield _checkpoint_line(last)
    if verdict.other_seals:
        yield f"not looked at, of another log or tenant: {verdict.other_seals} of the checkpoints"


def _checkpoint_line(each: Any) -> str:
    """A checkpoint on one line."""
    when = utc_time(each.ts)
    return f"  {each.size} records sealed at {when} UTC, root {each.root}, key {each.key}"


def _show_broken(seq: int, reason: str, tenant: str, as_json: bool) -> None:
    broken = {"ok": False, "reason": reason, "seq": seq, "tenant": tenant}
    whose = f" of the tenant {tenant}" if tenant else ""
    echo(canonical.text(broken) if as_json else f"BROKEN: {reason}{whose}")
    sys.exit(OUTCOMES[StoreFailed].exit)


def _chain(report: Any) -> dict[str, object]:
    """What is known of one chain, as plain data."""
    head = {"hash": report.head.hash, "seq": report.head.seq}
    pruned = {"rule": report.rule, "to": report.head.pruned_seq} if report.rule else None
    of = {"erased": report.erased, "log": report.log, "tenant": report.tenant}
    return {"anchored": report.anchored, "head": head, "pruned": pruned, "rows": report.rows, **of}


def _remarks(chains: list[dict[str, Any]], remembers: bool) -> Iterator[str]:
    """What there is to say of the chains, beyond that they are whole.

    `remembers`: there is a store, which remembers them.
    """
    for each in chains:
        if not each["rows"]:
            continue
        seq, whose = each["head"]["seq"], f"tenant {each['tenant']}"
        if len([other for other in chains if other["rows"]]) > 1:
            yield f"{whose}: {each['rows']} rows; head {each['head']['hash']}"
        if each["pruned"]:
            yield f"{whose}: pruned up to row {each['pruned']['to']}, by {each['pruned']['rule']}"
        if each["erased"]:
            yield f"{whose}: rows with erased values: {each['erased']}"
        if remembers and each["anchored"] < seq:
            first = each["anchored"] + 1
            yield f"{whose}: the store does not remember rows {first} to {seq} yet"
