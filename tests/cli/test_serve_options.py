"""What `redask serve` takes on its command line, and what it refuses before it opens anything."""

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from redask.cli import main
from redask.cli.serve_commands import serve_command


@pytest.fixture(autouse=True)
def _own_turns() -> Iterator[None]:
    """What a test sets of the interpreter is taken back."""
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


@pytest.mark.parametrize("option", ["--port", "--grpc-port", "--pg-port"])
@pytest.mark.parametrize("port", ["99999", "65536", "-1"])
def test_a_port_that_cannot_be_is_a_usage_error(tmp_path: Path, option: str, port: str) -> None:
    result = run("serve", option, port, "--db", str(tmp_path / "absent"))
    assert result.exit_code == 2
    assert f"Invalid value for '{option}': {port} is not in the range" in result.stderr


@pytest.mark.parametrize("option", ["--port", "--grpc-port", "--pg-port"])
@pytest.mark.parametrize("port", ["0", "65535"])
def test_the_first_and_the_last_port_are_taken(tmp_path: Path, option: str, port: str) -> None:
    result = run("serve", option, port, "--db", str(tmp_path / "absent"))
    assert "there is no database in" in result.stderr


def test_serve_takes_no_token_for_its_callers_bring_theirs(tmp_path: Path) -> None:
    assert "--token" not in run("serve", "--help").output
    result = run("serve", "--token", "rk_x", "--db", str(tmp_path / "absent"))
    assert result.exit_code == 2
    assert "No such option" in result.stderr


def test_a_token_in_the_environment_does_not_keep_it_from_serving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDASK_TOKEN", "rk_x")
    result = run("serve", "--db", str(tmp_path / "absent"))
    assert "there is no database in" in result.stderr


def test_what_a_server_starts_with_is_nothing_that_garbage_is_looked_for_in(
    capsys: pytest.CaptureFixture[str],
) -> None:
    try:
        serve_command._ready(["http://127.0.0.1:1"])
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()
    assert capsys.readouterr().err == "redask: serving http://127.0.0.1:1\n"


def test_threads_of_a_server_take_short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float] = []
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(sys, "setswitchinterval", told.append)
    serve_command._ready([])
    assert told == [0.0005]
