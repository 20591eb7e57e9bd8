"""The command line: the help of every command, and exit code, output and errors of many calls.

Calls go to the installed entry point, in this process, as click's own test runner makes them; a few
go to the real script, to see that it says the same.
"""

import json
import subprocess
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import click
import world
from click.testing import CliRunner
from surface import COMMAND, Recorded, environment

SAIL = "How is a torn sail mended?"
CALLS: tuple[tuple[str, ...], ...] = (
    ("--version",),
    ("fish",),
    ("--fish",),
    ("ask",),
    ("ask", SAIL),
    ("ask", SAIL, "--json", "--limit", "2"),
    ("ask", SAIL, "--json", "--limit", "201"),
    ("ask", SAIL, "--limit", "many"),
    ("ask", SAIL, "--limit", "0"),
    ("ask", " "),
    ("ask", SAIL, "--stream", "--limit", "2"),
    ("ask", SAIL, "--explain", "--limit", "2"),
    ("ask", SAIL, "--using", "nobody"),
    ("ask", SAIL, "--using", "openai"),
    ("ask", SAIL, "--using", "scripted", "--model", "inventing"),
    ("ask", SAIL, "--using", "scripted", "--model", "inventing", "--no-strict"),
    ("ask", SAIL, "--using", "scripted", "--model", "mending", "--stream"),
    ("ask", SAIL, "--using", "scripted", "--model", "refused", "--json"),
    ("ask", SAIL, "--using", "scripted", "--model", "5xx"),
    ("ask", SAIL, "--using", "scripted", "--model", "breaking", "--stream"),
    ("ask", SAIL, "--cache", "5m", "--collection", "manual", "--json"),
    ("ask", SAIL, "--cache", "5m", "--collection", "manual", "--json"),
    ("ask", SAIL, "--cache", "soon"),
    ("ask", "sail " * 3000),
    ("ask", SAIL, "--collection", "nowhere", "--seed", "7", "--temperature", "0.5"),
    ("explain", SAIL, "--limit", "3"),
    ("explain", SAIL, "--limit", "3", "--json"),
    ("explain", SAIL, "--depth", "11"),
    ("search", SAIL, "--limit", "3"),
    ("search", SAIL, "--limit", "3", "--json"),
    ("search", SAIL, "--limit", "3", "--explain"),
    ("search", "Hallenöffnung im März", "--limit", "2"),
    ("search", "", "--json"),
    ("select", "SELECT id, region, cost FROM tickets ORDER BY id LIMIT 3"),
    ("select", "SELECT id, region, cost FROM tickets ORDER BY id LIMIT 3", "--json"),
    ("select", "SELECT * FROM nothing"),
    ("select", "SELECT FROM", "--json"),
    ("select", "DELETE FROM tickets"),
    ("select", "SELECT a.id FROM links a, links b"),
    ("audit",),
    ("audit", "list", "--limit", "2", "--json"),
    ("audit", "show", "1"),
    ("audit", "show", "99999", "--json"),
    ("audit", "verify"),
    ("audit", "verify", "--json"),
    ("audit", "export"),
    ("user", "list"),
    ("user", "list", "--json"),
    ("user", "add", "eva", "--role", "sales", "--attribute", "level=3", "--attribute", "a=b"),
    ("user", "add", "eva", "--role", "sales"),
    ("user", "add", "eve"),
    ("user", "set", "eva", "--without", "a", "--json"),
    ("user", "set", "eva", "--without", "a"),
    ("user", "set", "nobody", "--role", "x"),
    ("token", "make", "eva", "--expires", "30d"),
    ("token", "make", "eva", "--json"),
    ("token", "make", "nobody"),
    ("token", "revoke", "0123456789abcdef"),
    ("user", "remove", "eva"),
    ("user", "remove", "eva", "--json"),
    ("policy", "list"),
    ("policy", "list", "--json"),
    ("policy", "show", "tickets"),
    ("policy", "show", "people"),
    ("policy", "check", "--user", "mia"),
    ("policy", "check", "--role", "sales", "--json"),
    ("policy", "check"),
    ("policy", "check", "people", "policy.toml", "--role", "sales"),
    ("policy", "check", "people", "bad.json"),
    ("policy", "set", "people", "policy.toml"),
    ("policy", "set", "people", "bad.json", "--json"),
    ("policy", "set", "people", "not-there.toml"),
    ("policy", "remove", "people"),
    ("policy", "remove", "people"),
    ("providers",),
    ("providers", "--json"),
    ("providers", "extractive", "nobody"),
    ("providers", "--check", "extractive", "scripted"),
    ("providers", "--check", "openai"),
    ("cost",),
    ("cost", "--json"),
    ("doctor",),
    ("doctor", "--rebuild-index"),
    ("reembed",),
    ("reembed", "--pending"),
    ("ingest", "files"),
    ("ingest", "files", "--json"),
    ("ingest", "files/guide.md", "--collection", "elsewhere"),
    ("ingest", "not-there"),
    ("ingest",),
    ("select", "SELECT * FROM wares ORDER BY id"),
    ("eval", "pack"),
    ("eval", "pack", "--json", "--questions", "1"),
    ("eval", "files"),
    ("eval", "not-there"),
    ("serve", "--no-auth", "--host", "0.0.0.0"),
    ("serve", "--certificate", "policy.toml"),
    ("serve", "--certificate", "policy.toml", "--key", "not-there"),
    ("rpc", "fish"),
)
AS_MIA: tuple[tuple[str, ...], ...] = (
    ("ask", SAIL, "--limit", "3"),
    ("ask", SAIL, "--collection", "secrets"),
    ("search", SAIL, "--json", "--limit", "2"),
    ("select", "SELECT * FROM tickets ORDER BY id LIMIT 2"),
    ("select", "SELECT * FROM secrets"),
    ("user", "list"),
    ("policy", "list", "--json"),
    ("doctor",),
    ("audit", "list", "--limit", "3"),
    ("audit", "verify"),
    ("ingest", "files"),
    ("cost",),
)
FILES = {
    "policy.toml": '[[read]]\nroles = ["sales"]\nhide = ["role"]\n',
    "bad.json": '{"read": [{"roles": []}]}',
    "files/guide.md": "# Guide\n\nRead me.\n\n## Locks\n\nThe lock is old. See [it](other.md).\n",
    "files/other.md": "# Other\n\nThe wares are in the shed.\n",
    "files/wares.csv": "id,name,price\n1,rope,2.5\n2,tar,4\n",
    "files/notes.jsonl": '{"id": "a", "text": "The shed."}\n{"id": "b", "text": "Salt."}\n',
    "files/page.html": "<html><body><h1>Page</h1><p>The pier is long.</p></body></html>",
    "files/ragged.csv": "id,name\n1,a\n2,b,c\n",
    "files/thing.xyz": "nobody reads this",
    "pack/corpus.jsonl": '{"_id": "1", "title": "Sail", "text": "A torn sail is sewn."}\n'
    '{"_id": "2", "title": "Hull", "text": "A hull is sealed."}\n',
    "pack/queries.jsonl": '{"_id": "q1", "text": "torn sail"}\n{"_id": "q2", "text": "hull"}\n',
    "pack/qrels.tsv": "query-id\tcorpus-id\tscore\nq1\t1\t1\nq2\t2\t1\n",
}


def record(place: Path) -> Recorded:
    """Help, calls as the owner, as a user, with nothing there; and the script itself."""
    [point] = entry_points(group="console_scripts", name="redask")
    main: click.Group = point.load()
    for path in _commands(main, ()):
        yield " ".join(("redask", *path, "--help")), _called(main, (*path, "--help"))
    for name, text in FILES.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    (place / "files" / "old.md").write_bytes(b"a\xff")
    tokens = world.fill(place / "db")
    for number, words in enumerate(CALLS):
        yield f"{number} redask {' '.join(words)[:200]}", _called(main, ("--db", "db", *words))
    for words in AS_MIA:
        said = _called(main, ("--db", "db", *words), REDASK_TOKEN=tokens["mia"])
        yield f"mia: redask {' '.join(words)}", said
    yield "gone: redask ask", _called(main, ("--db", "db", "--token", tokens["gone"], "ask", SAIL))
    yield "no database", _called(main, ("--db", "nowhere", "ask", SAIL))
    yield "no database, JSON", _called(main, ("--db", "nowhere", "search", SAIL, "--json"))
    yield "another tenant", _called(main, ("--db", "db", "--tenant", "acme", "ask", SAIL))
    yield "a bad tenant", _called(main, ("--db", "db", "--tenant", "", "user", "list"))
    for name, value in (("REDASK_ASK_STRICT", "maybe"), ("REDASK_SELECT_MAX_ROWS", "0")):
        yield f"{name}={value}", _called(main, ("--db", "db", "ask", SAIL), **{name: value})
    (place / "db" / "redask.toml").write_text("[ask]\nfish = 1\n", encoding="utf-8")
    yield "a bad setting", _called(main, ("--db", "db", "ask", SAIL))
    yield "redask demo", _called(main, ("--db", "company", "demo"))
    for words in (
        ("--help",),
        ("--db", "company", "ask", "late delivery?"),
        ("--db", "x", "doctor"),
    ):
        yield f"script: redask {' '.join(words)}", _run(words)


def _commands(group: click.Group, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Every command and the commands below it, in the order they are listed."""
    yield path
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from _commands(command, (*path, name))
            else:
                yield (*path, name)


def _called(main: click.Group, words: tuple[str, ...], **variables: str) -> list[object]:
    result = CliRunner().invoke(main, words, prog_name="redask", env=variables)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return [result.exit_code, _told(result.stdout), result.stderr]


def _run(words: tuple[str, ...]) -> list[object]:
    done = subprocess.run(
        [str(COMMAND), *words], env=environment(), capture_output=True, text=True, check=False
    )
    return [done.returncode, done.stdout, done.stderr]


def _told(text: str) -> str:
    """The output; sizes of files, of which `doctor --json` tells, are left out."""
    if not text.startswith('{"audit":{"rows"'):
        return text
    report = json.loads(text)
    return json.dumps({**report, "files": sorted(report["files"])})
