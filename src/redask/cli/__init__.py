"""The command line: `redask COMMAND`. One file a command, loaded when it is called.

Nothing heavy is imported here: `redask --help` must be quick. A command is a row in COMMANDS
and a file. What goes wrong ends with one line on standard error (with `--json`, the error's
JSON on standard output) and the exit code of its outcome, never with a stack trace.
"""

import importlib
from functools import cache
from typing import Any

import click

from redask import __version__
from redask.cli import dataclass_methods, global_options
from redask.cli.terminal_text import guard_logs

COMMANDS = {
    "ingest": "Read files, folders and databases into yours.",
    "ask": "Answer a question over your data, with footnotes.",
    "chat": "Ask one question after the other, in the terminal.",
    "show": "Show a source of the last answer, or any, with its quotation.",
    "explain": "Show what an ask would do, without asking anybody.",
    "plan": "Show the SELECT that would answer a question.",
    "search": "Find what the data holds on a question.",
    "select": "Run a SELECT over your data as tables.",
    "tables": "List the tables of a SELECT, or fix a column's type.",
    "sources": "List what was ingested: files, collections, counts.",
    "remove": "Remove a file's data, a source or a collection.",
    "attach": "Ask tables of your own PostgreSQL where they are.",
    "detach": "Let go of attached tables.",
    "audit": "Look at the audit log, verify it, export it.",
    "replay": "Ask again what an audit row asked, and say what differs.",
    "user": "Add, list, change and remove users.",
    "token": "Make, list and revoke the tokens users sign in with.",
    "policy": "Say who may read what, and look at what they would see.",
    "serve": "Serve the database over HTTP, MCP and gRPC.",
    "open": "Open the page in your browser, signed in.",
    "rpc": "Answer JSON-RPC on standard input.",
    "mcp": "Serve MCP on standard input.",
    "cost": "Show what was spent by day, tenant and provider.",
    "providers": "List who can answer, and whether they are ready.",
    "doctor": "Check the database and its index.",
    "backup": "Add a verified back-up of the whole database to a directory.",
    "restore": "Make a database from a back-up.",
    "copy": "Copy a whole database between a directory and PostgreSQL.",
    "dump": "Write a tenant's data to a file of JSON Lines.",
    "load": "Read a dump into a tenant.",
    "embed": "Embed what waits for it, here or by several machines.",
    "reembed": "Make all vectors anew, or those that are missing.",
    "check": "Check the claims of an answer against its sources.",
    "eval": "Measure retrieval, answers and the check of claims on a pack.",
    "demo": "Load a small sample company and ask it three questions.",
}
_FOLDERS = {
    **dict.fromkeys(("user", "token", "policy"), "access_commands"),
    **dict.fromkeys(("show", "sources", "remove"), "content_commands"),
    **dict.fromkeys(("serve", "open", "rpc", "mcp"), "serve_commands"),
    **dict.fromkeys(("attach", "detach"), "attach_commands"),
    "chat": "chat_commands",
    "replay": "replay_commands",
    **dict.fromkeys(("backup", "restore", "copy", "dump", "load", "embed"), "keeping_commands"),
}
_WITHOUT_DATABASE = ("check", "copy", "eval")  # eval makes one for the pack and drops it
_WITHOUT_TOKEN = ("serve", "restore")  # its callers bring theirs; nobody is signed in yet


class Commands(click.Group):
    """The commands, each in `<name>_command` of its folder."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The program `redask`: a process that is all ours."""
        dataclass_methods.compile_when_called()
        return super().__call__(*args, **named)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return _load(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@cache  # a command is changed here, and that once
def _load(name: str) -> click.Command:
    folder = _FOLDERS.get(name, "commands")
    module = importlib.import_module(f"redask.cli.{folder}.{name}_command")
    command: click.Command = module.command
    if name in _WITHOUT_DATABASE:
        return command
    return global_options.accept(command, token=name not in _WITHOUT_TOKEN)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="redask")
@click.option(
    "--db",
    envvar="REDASK_DB",
    default="./redask-data",
    show_default=True,
    help=global_options.HELP["db"],
)
@click.option("--token", envvar="REDASK_TOKEN", help=global_options.HELP["token"])
@click.option("--tenant", envvar="REDASK_TENANT", help=global_options.HELP["tenant"])
@click.pass_context
def main(ctx: click.Context, db: str, token: str | None, tenant: str | None) -> None:
    """Ask a question over your own data and get an answer you can check.

    The options may also follow the command.
    """
    guard_logs()
    global_options.keep(ctx, db=db, token=token, tenant=tenant)
