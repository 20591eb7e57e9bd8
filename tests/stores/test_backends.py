"""Which backend a location means; what no backend knows is refused before anything is made."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import redask
from redask.api import sync
from redask.cli import main
from redask.core.errors import Misconfigured
from redask.stores.backends import backend_for

SECRET = "hunter2"
UNKNOWN = [
    f"mysql://ada:{SECRET}@host/db",
    f"MYSQL://ada:{SECRET}@host/db",
    f"postgres+ssl://{SECRET}@host/db",
    f"mongodb:/ada:{SECRET}@host",
    f"s3://{SECRET}",
]


async def opened_async(location: str) -> None:
    await redask.aopen(location)


WAYS: dict[str, Callable[[str], object]] = {
    "open": redask.open,
    "open a path": lambda location: redask.open(Path(location)),
    "aopen": lambda location: asyncio.run(opened_async(location)),
    "list providers": sync.providers_at,
    "check providers": lambda location: sync.check_providers(location, ["scripted"]),
    "look whether it exists": sync.has_database,
}
COMMANDS = [
    ["ask", "why?"],
    ["demo"],
    ["doctor"],
    ["ingest", "."],
    ["providers"],
    ["search", "why?"],
    ["select", "SELECT 1"],
    ["user", "list"],
    ["serve"],
]


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to stand in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("location", UNKNOWN)
def test_an_unknown_scheme_is_refused_before_anything_is_made(
    empty: Path, way: str, location: str
) -> None:
    with pytest.raises(Misconfigured, match=r"no backend knows \S+:// locations") as caught:
        WAYS[way](location)
    assert SECRET not in repr(caught.value) + caught.value.message + caught.value.detail
    assert os.listdir(empty) == []


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_repeats_the_password_of_a_database_on_postgresql(
    empty: Path, command: list[str]
) -> None:
    url = f"postgresql://ada:{SECRET}@127.0.0.1:1/db"
    result = CliRunner().invoke(main, ["--db", url, *command])
    assert SECRET not in result.output + repr(result.exception)
    assert os.listdir(empty) == []


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_makes_a_directory_of_a_url_or_repeats_its_password(
    empty: Path, command: list[str]
) -> None:
    result = CliRunner().invoke(main, ["--db", UNKNOWN[0], *command])
    assert result.exit_code not in (0, 1)
    assert "no backend knows mysql:// locations" in result.output
    assert SECRET not in result.output
    assert os.listdir(empty) == []


@pytest.mark.parametrize("location", ["data", "./a:/b", "/a/b:c", "C:/data", "x:y", "a://b"[:1]])
def test_a_path_is_a_directory_for_sqlite(location: str) -> None:
    assert backend_for(location).name == "sqlite"


def test_a_location_with_nul_is_a_matter_of_configuration() -> None:
    with pytest.raises(Misconfigured, match="NUL"):
        redask.open("a\0b")
