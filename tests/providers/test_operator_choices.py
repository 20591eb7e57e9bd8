"""The operator's file and secrets by file or command; a database's directory redirects no key."""

import os
import shlex
import sys
from pathlib import Path

import pytest
from loopback import Loopback, Received, Wire

import redask
from redask.app import load_settings
from redask.core.errors import Misconfigured
from redask.providers import operator_choices
from redask.providers.operator_choices import configuration, with_secrets

KEY = "sk-9Qx7vTz2LmWp4RbN8dKf"
OURS = "REDASK_OPENAI_API_KEY"


@pytest.fixture(autouse=True)
def _clear() -> None:
    operator_choices._from_command.cache_clear()


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    return file


def python(code: str) -> str:
    """A command line that runs it."""
    return shlex.join([sys.executable, "-c", code])


def refused(env: dict[str, str]) -> Misconfigured:
    with pytest.raises(Misconfigured) as caught:
        with_secrets(env)
    assert KEY not in caught.value.message + caught.value.detail
    return caught.value


def test_a_secret_comes_by_file_or_command(secret: Path) -> None:
    assert with_secrets({OURS: KEY})[OURS] == KEY
    assert with_secrets({f"{OURS}_FILE": str(secret)})[OURS] == KEY
    command = python(f"print(open({str(secret)!r}).read())")
    assert with_secrets({f"{OURS}_COMMAND": command})[OURS] == KEY
    assert OURS not in with_secrets({f"{OURS}_FILE": ""})
    embedder = with_secrets({"REDASK_EMBEDDER_API_KEY_FILE": str(secret)})
    assert embedder["REDASK_EMBEDDER_API_KEY"] == KEY


def test_a_command_is_run_once_and_by_no_shell(tmp_path: Path) -> None:
    count = tmp_path / "count"
    code = f"open({str(count)!r}, 'a').write('x'); print('k')"
    env = {f"{OURS}_COMMAND": f"{python(code)} ; touch {tmp_path}/shell"}
    assert with_secrets(env)[OURS] == with_secrets(env)[OURS] == "k"
    assert count.read_text() == "x"
    assert not (tmp_path / "shell").exists()


def test_two_ways_at_once_are_refused(secret: Path) -> None:
    error = refused({OURS: KEY, f"{OURS}_FILE": str(secret)})
    assert error.message == f"{OURS} and {OURS}_FILE are both set: choose one"


def test_what_leads_to_no_secret_names_the_variable_and_nothing_it_read(
    tmp_path: Path, secret: Path
) -> None:
    for content in (b"", b" \n", b"\xff\xfe", b"x" * 70_000):
        file = tmp_path / "bad"
        file.write_bytes(content)
        assert refused({f"{OURS}_FILE": str(file)}).detail == f"{OURS}_FILE"
    assert "No such file" in refused({f"{OURS}_FILE": str(tmp_path / "none")}).message
    assert refused({f"{OURS}_FILE": "a\0b"}).message == f"{OURS}_FILE names no file"
    failing = python(f"import sys; print({KEY!r}); sys.exit({KEY!r})")
    assert "ended with status 1" in refused({f"{OURS}_COMMAND": failing}).message
    assert "cannot be run" in refused({f"{OURS}_COMMAND": str(tmp_path / "none")}).message
    assert "is no command" in refused({f"{OURS}_COMMAND": "'"}).message


def test_a_command_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator_choices, "SECONDS", 0.2)
    command = python("import time; time.sleep(60)")
    assert "did not end" in refused({f"{OURS}_COMMAND": command}).message


def test_the_operators_file_is_found_and_others_may_not_write_it(tmp_path: Path) -> None:
    assert configuration({"XDG_CONFIG_HOME": str(tmp_path)}) == ""
    file = tmp_path / "redask" / "redask.toml"
    file.parent.mkdir()
    file.write_text("[ask]\nstrict = false\n")
    file.chmod(0o644)
    assert configuration({"XDG_CONFIG_HOME": str(tmp_path)}).startswith("[ask]")
    assert configuration({"HOME": "/nowhere", "REDASK_CONFIG": str(file)}).startswith("[ask]")
    file.chmod(0o664)
    with pytest.raises(Misconfigured, match="chmod go-w"):
        configuration({"REDASK_CONFIG": str(file)})
    with pytest.raises(Misconfigured, match="cannot be read"):
        configuration({"REDASK_CONFIG": str(tmp_path / "none")})


@pytest.mark.parametrize(
    "text",
    [
        'embedder.base_url = "{}"',
        '[sign_in]\nissuer = "{}"\naudience = "x"',
        'files.modes = "any"',
        '[sign_in.roles]\nstaff = "owner"',
    ],
)
def test_a_directory_that_somebody_handed_over_redirects_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """The one in it, and the one in the working folder: neither says where a key goes."""

    def caught(_: Received) -> Wire:
        return Wire(200, b"{}")

    with Loopback() as thief:
        thief.play(caught)
        (tmp_path / "redask.toml").write_text(text.format(thief.url))
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("REDASK_EMBEDDER_API_KEY", KEY)
        monkeypatch.setenv("REDASK_EMBEDDER_NAME", "openai_compatible")
        monkeypatch.setenv("REDASK_EMBEDDER_MODEL", "m")
        with pytest.raises(Misconfigured, match="handed over"):
            redask.open(tmp_path)
        load_settings(tmp_path / "other")  # the working folder's file is nobody's
        assert thief.requests == []


def test_the_embedders_address_of_the_operators_file_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[embedder]\nbase_url = "http://127.0.0.1:9/v1"\n')
    file.chmod(0o600)
    monkeypatch.setenv("REDASK_CONFIG", str(file))
    found = load_settings(tmp_path / "db")
    assert found.embedder.endpoint.base_url == "http://127.0.0.1:9/v1"
    key = tmp_path / "key"
    key.write_text(KEY)
    monkeypatch.setenv(f"{OURS}_FILE", str(key))
    assert load_settings(tmp_path / "db").endpoints["openai"].api_key == KEY
    assert os.environ.get(OURS) is None
