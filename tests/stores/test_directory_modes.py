"""A database is its owner's: directories 0700 and files 0600 whatever the umask, wider refused."""

import os
import shlex
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import redask
from redask.cli import main
from redask.core.errors import Misconfigured
from redask.index import private_files
from redask.stores.sqlite.directory_modes import check_modes

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o477], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def wide(directory: Path) -> list[str]:
    """What others may do anything with, below a directory and itself.

    What DuckDB is still building has DuckDB's modes, in a directory that is closed to others.
    """
    every = [directory, *directory.rglob("*")]
    every = [path for path in every if not path.parent.name.startswith("building-")]
    return [f"{path} {mode(path):o}" for path in every if mode(path) & 0o077]


def test_everything_a_database_makes_is_private_whatever_the_umask(
    tmp_path: Path, umask: int
) -> None:
    home = tmp_path / "above" / "db"
    with redask.open(home, embedder="hashed") as db:
        db.put("notes", [{"id": each, "text": f"ferry {each}"} for each in range(300)])
        assert db.ask("Which ferry is 7?").sources_flat
        db.select("SELECT count(*) FROM notes")
        db.put("notes", [{"id": each, "text": f"boat {each}"} for each in range(3000)], wait=False)
        assert db.search("boat 2999").hits
        db.select("SELECT count(*) FROM notes")
        assert wide(home) == []  # logs and what is open included
        assert wide(home.parent) == []
    assert wide(home) == []
    names = {path.name for path in home.rglob("*")}
    assert {"index", "columnar", "redask.sqlite", "calls.sqlite", "forward.sqlite"} <= names
    with redask.open(home, embedder="none") as db:
        assert db.search("boat 2999").hits


def test_an_audit_export_is_private(tmp_path: Path) -> None:
    home, out = tmp_path / "db", tmp_path / "rows.jsonl"
    with redask.open(home) as db:
        db.put("notes", [{"id": 1, "text": "ferry"}])
        db.ask("Which ferry?")
    before = os.umask(0)
    try:
        done = CliRunner().invoke(
            main, ["--db", str(home), "audit", "export", "--output", str(out)]
        )
    finally:
        os.umask(before)
    assert done.exit_code == 0
    assert mode(out) == 0o600
    assert out.read_text().count("\n") == 1


@pytest.fixture
def home(tmp_path: Path) -> Path:
    place = tmp_path / "a b'c"
    redask.open(place).close()
    return place


@pytest.mark.parametrize("bits", [0o701, 0o704, 0o720, 0o755, 0o777])
def test_a_wider_directory_is_refused_with_the_command_that_mends_it(home: Path, bits: int) -> None:
    home.chmod(bits)
    with pytest.raises(Misconfigured, match=f"mode {bits:04o}") as caught:
        redask.open(home)
    command = caught.value.message.split("`")[1]
    assert command == f"chmod -R u=rwX,go= {shlex.quote(str(home))}"
    subprocess.run(command, shell=True, check=True)
    redask.open(home).close()
    assert wide(home) == []


@pytest.mark.parametrize("name", ["redask.sqlite", "calls.sqlite"])
def test_a_wider_file_is_refused(home: Path, name: str) -> None:
    (home / name).chmod(0o644)
    with pytest.raises(Misconfigured, match=name):
        redask.open(home)
    (home / name).chmod(0o640)
    home.chmod(0o750)  # a group that makes backups, as PostgreSQL lets it
    redask.open(home).close()


def test_the_command_line_says_so_in_one_line(home: Path) -> None:
    home.chmod(0o755)
    done = CliRunner().invoke(main, ["--db", str(home), "tables"])
    assert done.exit_code == 7
    assert done.stderr.count("\n") == 1
    assert "chmod -R" in done.stderr


def test_an_empty_directory_is_made_private_and_one_among_files_is_refused(tmp_path: Path) -> None:
    new, used = tmp_path / "new", tmp_path / "used"
    for each in (new, used):
        each.mkdir()
        each.chmod(0o755)
    (new / "redask.toml").write_text("")
    (used / "letter.txt").write_text("")
    redask.open(new).close()
    assert mode(new) == 0o700
    with pytest.raises(Misconfigured, match="chmod"):
        redask.open(used)
    assert mode(used) == 0o755
    assert [path.name for path in used.iterdir()] == ["letter.txt"]


def test_the_operator_may_turn_the_check_off(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.chmod(0o777)
    monkeypatch.setenv("REDASK_FILES_MODES", "any")
    redask.open(home).close()


def test_a_directory_of_somebody_else_is_refused_but_for_root(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = home.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(Misconfigured, match="another user"):
        check_modes(str(home))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    check_modes(str(home))


def test_a_name_that_a_terminal_would_obey_is_escaped(tmp_path: Path) -> None:
    home = tmp_path / "a\x1b[31m\nb"
    redask.open(home).close()
    home.chmod(0o755)
    with pytest.raises(Misconfigured) as caught:
        check_modes(str(home))
    assert caught.value.message.isprintable()
    subprocess.run(["bash", "-c", caught.value.message.split("`")[1]], check=True)
    assert mode(home) == 0o700


def test_narrowing_follows_no_symlink(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.write_text("")
    outside.chmod(0o644)
    inside.mkdir()
    (inside / "link").symlink_to(outside)
    private_files.narrow(inside)
    private_files.narrow(tmp_path / "missing")
    assert (mode(inside), mode(outside)) == (0o700, 0o644)
    with pytest.raises(FileExistsError):
        private_files.make_directory(outside)
