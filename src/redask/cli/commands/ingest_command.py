"""`redask ingest PATH…`: files, folders and databases into yours, and what became of them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from redask.api import ingest_paths
from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.rendering import EmbeddingLine
from redask.cli.terminal_text import echo, terminal_console
from redask.core.errors import BadAsk
from redask.core.wire import json as canonical
from redask.core.wire.outcomes import OUTCOMES

if TYPE_CHECKING:
    from redask.api.results import IngestSummary
    from redask.api.sync import OpenDatabase
    from redask.core.model import IngestProgress


@click.command("ingest")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--collection", help="Where it goes, instead of the names of folders and files.")
@click.option("--no-wait", is_flag=True, help="Leave embedding for later (`redask embed`).")
@click.option("--strict", is_flag=True, help="End with 2 if no reader is for a file, too.")
@click.option("--follow-symlinks", is_flag=True, help="Read what symlinks out of a folder lead to.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(
    db: str,
    *,
    paths: tuple[str, ...],
    collection: str | None,
    no_wait: bool,
    strict: bool,
    follow_symlinks: bool,
    as_json: bool,
) -> None:
    """Read PATH... into the database: folders, documents, tables, SQLite databases.

    Run it again whenever the files have changed: what is unchanged is passed over, what is gone
    from a folder is removed. Ends with 2 when a file could not be read, and says why; files that
    no reader is for are counted by their endings.

    What was read can be searched by its words and links at once; then it is embedded, for search
    by meaning, which Ctrl-C puts off.
    """
    with reports_errors(as_json):
        ingest_paths.check(paths)  # before a database is made for nothing
        with opening.opened(db, make=True) as opened:
            with _bar() as progress:
                done = opened.ingest(
                    *paths,
                    collection=collection,
                    progress=progress,
                    wait=False,
                    follow_symlinks=follow_symlinks,
                    isolated=True,
                )
            if not as_json:
                _show(done)
            if not no_wait:
                _embed(opened)
        if as_json:
            echo(canonical.text(done.to_dict()))
        if not done.ok or (strict and done.left_out):
            sys.exit(OUTCOMES[BadAsk].exit)


def _embed(opened: "OpenDatabase") -> None:
    """Embed what was read. The data can be searched meanwhile, and when this is interrupted."""
    line, told = EmbeddingLine(), False

    def progress(done: int, total: int) -> None:
        nonlocal told
        if done < total and not told:
            echo("searchable by words and links now; by meaning when it is embedded", err=True)
            told = True
        line(done, total)

    with line.interruptible():
        opened.embed(progress=progress)


@contextmanager
def _bar() -> "Iterator[Callable[[IngestProgress], None] | None]":
    """A bar with rate and time left, on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    with Progress(
        TextColumn("{task.fields[files]}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
        console=terminal_console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("", total=None, files="looking for files")

        def update(at: "IngestProgress") -> None:
            bar.update(
                task,
                total=at.bytes,
                completed=at.bytes_done,
                files=f"{at.files_done}/{at.files} files, {at.entities} entities",
                description=at.path.rpartition("/")[2][:40].replace("[", "("),
            )

        yield update


def _show(done: "IngestSummary") -> None:
    from rich.markup import escape
    from rich.table import Table

    console = terminal_console(highlight=False, soft_wrap=True)
    if done.tallies:
        table = Table(box=None, padding=(0, 2))
        for name in ("files", "read", "unchanged", "failed", "entities"):
            table.add_column(name, justify="left" if name == "files" else "right")
        for tally in done.tallies:
            counts = (tally.read, tally.unchanged, tally.failed, tally.entities)
            table.add_row(tally.reader, *map(str, counts))
        console.print(table)
    facts = [f"{done.written} entities written", f"{done.removed} removed"]
    facts += [f"{done.gone} files gone"] if done.gone else []
    facts += [f"{done.ignored} files ignored (no reader is for them)"] if done.ignored else []
    console.print(", ".join(facts))
    for each in done.left_out:
        ending, example = each.suffix or "(no ending)", each.example
        console.print(f"[yellow]left out[/] {each.count} {escape(ending)}, as {escape(example)}")
    for problem in done.problems:
        console.print(f"[yellow]left out[/] {escape(problem.path)}: {escape(problem.reason)}")
