"""`redask embed`: what has no vector yet; by several machines, a shard of a dump on each."""

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.rendering import EmbeddingLine
from redask.cli.terminal_text import echo
from redask.core.errors import BadAsk


@click.command("embed")
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(dir_okay=False))
@click.option("--shard", metavar="I/N", help="Embed part I of N of a dump, into a file.")
@click.option("--to", type=click.Path(dir_okay=False), help="The file that --shard writes.")
@click.option("--embedder", help="Instead of the configured one; of a shard, instead of minilm.")
@click.pass_obj
def command(
    db: str, files: tuple[str, ...], shard: str | None, to: str | None, embedder: str | None
) -> None:
    """Embed what has no vector yet, with the vectors of FILE... where they have them.

    With --shard, FILE is a dump, of which one part is embedded without a database: `redask embed
    --shard 1/3 shop.jsonl --to 1.vectors`, with 2/3 and 3/3 on other machines. `redask embed
    1.vectors 2.vectors 3.vectors` takes them in, with the result of embedding here.

    Ctrl-C loses nothing that is stored; of a shard nothing is.
    """
    with reports_errors():
        if shard is not None or to is not None:
            _embed_shard(files, shard, to, embedder)
            return
        line = EmbeddingLine()
        with line.interruptible(), opening.opened(db, embedder=embedder) as opened:
            if files:
                counts = opened.take_vectors(*files, progress=line)
                echo(f"{counts.taken} texts found in the files, {counts.made} embedded here")
            else:
                done = opened.embed(progress=line)
                echo(f"{done} embedded")


def _embed_shard(
    files: tuple[str, ...], shard: str | None, to: str | None, embedder: str | None
) -> None:
    from redask.api.keeping import embed_shard

    if shard is None or to is None or len(files) != 1:
        raise BadAsk("a shard needs one dump, --shard I/N and --to FILE", detail="shard")
    if to == files[0]:
        raise BadAsk("a shard is not written over its dump", detail="to")
    line = EmbeddingLine()
    done = embed_shard(files[0], shard, to=to, embedder=embedder or "minilm", progress=line)
    echo(f"{done} texts embedded into {to}")
