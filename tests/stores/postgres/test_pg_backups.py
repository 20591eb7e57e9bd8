"""What docs/postgresql.md says of back-ups, with PostgreSQL's own programs."""

import os
import secrets
import subprocess
from pathlib import Path
from typing import Any

import postgres_databases
import psycopg
import pytest
from real_postgres import find_programs

import redask
from redask.core.rules.audit_chain import Intact
from redask.core.settings import load

SETTINGS = load('[embedder]\nname = "hashed"', {})
QUESTION = "Why was the pilot late?"


def program(name: str) -> str:
    found = find_programs() / name
    if not found.exists():
        pytest.skip(f"the servers of npm have no {name}")
    return str(found)


def run(name: str, where: dict[str, Any], *words: str) -> "subprocess.CompletedProcess[str]":
    place = {"PGHOST": str(where["host"]), "PGPORT": str(where["port"])}
    return subprocess.run(
        [program(name), *words],
        env={**os.environ, **place, "PGUSER": str(where["user"])},
        capture_output=True,
        text=True,
        check=False,
    )


def facts(location: str) -> object:
    with redask.open(location, settings=SETTINGS) as db:
        verdict = db.verify_audit()
        assert isinstance(verdict, Intact)
        assert db._async._app.backend.store.check() == []
        rows = [each.row["question"] for each in db.audit(100)]
        hits = [each.urn for each in db.search("pilot late")]
        return rows, hits, db.policies(), [each.name for each in db.users()]


def test_a_dump_is_restored_as_a_whole_and_goes_on_as_a_database_of_its_own(
    tmp_path: Path,
) -> None:
    location = postgres_databases.location(tmp_path / "one")
    with redask.open(location, settings=SETTINGS) as db:
        db.put("calls", [{"id": 1, "note": "The pilot came late because of fog."}])
        db.set_policy("calls", {"read": [{"roles": ["reader"]}]})
        db.add_user("ann", role="reader")
        assert db.ask(QUESTION).citations
        timeline = db._async._app.backend.store.timeline
    where = postgres_databases.superuser(location)
    file, name = tmp_path / "redask.dump", f"r{secrets.token_hex(6)}"
    made = run("pg_dump", where, "--schema=redask", "-Fc", "-f", str(file), str(where["dbname"]))
    assert made.returncode == 0, made.stderr
    with psycopg.connect(**where, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} OWNER {postgres_databases.ROLE}")
    restored = run("pg_restore", where, "-d", name, str(file))
    assert restored.returncode == 0, restored.stderr
    there = location.replace(str(where["dbname"]), name)
    assert facts(there) == facts(location)
    with redask.open(there, settings=SETTINGS) as db:
        assert db._async._app.backend.store.timeline != timeline
        db.put("calls", [{"id": 2, "note": "The restored one goes on."}])
        assert db.ask("What goes on?").citations


def test_as_redasks_own_role_no_dump_is_made_that_lacks_rows(tmp_path: Path) -> None:
    location = postgres_databases.location(tmp_path / "one")
    where = {**postgres_databases.superuser(location), "user": postgres_databases.ROLE}
    made = run("pg_dump", where, "--schema=redask", "-f", os.devnull, str(where["dbname"]))
    assert made.returncode != 0
    assert "row-level security" in made.stderr
