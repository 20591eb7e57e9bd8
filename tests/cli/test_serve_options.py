"""What `redask serve` takes on its command line, and what it refuses before it opens anything."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from redask.cli import main


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
