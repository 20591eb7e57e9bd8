"""`redask open`: a browser is started with an address that signs it in, once."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from waiting import SECONDS, until

import redask
from redask.api.asynchronous import AsyncDatabase
from redask.cli import main
from redask.cli.serve_commands import open_command
from redask.server import serving

PAGE = {"X-Redask-Page": "1"}
REDASK = [sys.executable, "-c", "from redask.cli import main; main()"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    place = tmp_path_factory.mktemp("open") / "db"
    place.mkdir()
    (place / "redask.toml").write_text('[embedder]\nname = "none"\n')
    with redask.open(place) as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
        db.add_user("mia", role="reader")
        token = db.make_token("mia")
    return place, token


def test_a_browser_is_started_and_signed_in_as_the_owner_and_ctrl_c_stops_the_server(
    home: tuple[Path, str], tmp_path: Path
) -> None:
    fake, seen = tmp_path / "browser", tmp_path / "seen"
    fake.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {seen}.draft && mv {seen}.draft {seen}\n')
    fake.chmod(0o700)
    with closing(socket.socket()) as taken:
        with suppress(OSError):  # somebody has it: as good
            taken.bind(("127.0.0.1", open_command.PORT))
            taken.listen()
        env = {**os.environ, "BROWSER": f"{fake} %s", "REDASK_DB": str(home[0])}
        process = subprocess.Popen([*REDASK, "open"], env=env, stderr=subprocess.PIPE, text=True)
        assert until(seen.exists)
    address = seen.read_text()
    assert httpx.URL(address).port not in (open_command.PORT, None)  # which was taken
    with httpx.Client(timeout=SECONDS, follow_redirects=True) as browser:
        reply = browser.get(address, headers={"Sec-Fetch-Site": "none"})
        assert (reply.status_code, reply.url.path, reply.url.query) == (200, "/", b"")
        told = browser.get(reply.url.join("/v1/session"), headers=PAGE).json()
        assert (told["user"], told["role"]) == ("local", "owner")
        with httpx.Client(timeout=SECONDS) as other:
            assert other.get(address).headers["location"] == "/#refused=code"
            assert not other.cookies
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=SECONDS)
    assert (process.returncode, said.splitlines()[-1]) == (0, "redask: stopped")


def test_with_a_token_the_browser_is_its_users_and_the_token_is_in_no_address(
    home: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, token = home
    entered = []

    async def serve(db: AsyncDatabase, where: serving.Serving, ready: Any) -> bool:
        assert (where.host, where.anonymous, where.http_port) == ("127.0.0.1", False, 7)
        ready(["http://127.0.0.1:7"])
        assert where.entry is not None
        [entry] = where.entry._made.values()
        entered.append(await entry.database.whoami())
        return False

    monkeypatch.setattr(serving, "serve", serve)
    words = ["open", "--no-browser", "--port", "7", "--db", str(place)]
    done = CliRunner().invoke(main, [*words, "--token", token])
    assert (done.exit_code, [(each.user, each.role) for each in entered]) == (
        0,
        [("mia", "reader")],
    )
    assert done.stdout.startswith("http://127.0.0.1:7/open?code=")
    assert token not in done.output
    assert "redask: serving http://127.0.0.1:7 until Ctrl-C\n" in done.stderr
    refused = CliRunner().invoke(main, [*words, "--token", "rk_wrong"])
    assert (refused.exit_code, "code=" in refused.output) == (3, False)


def test_without_a_window_or_a_browser_the_address_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert not open_command._has_browser()
    monkeypatch.setenv("DISPLAY", ":0")
    assert open_command._has_browser()
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    open_command._browse("http://127.0.0.1:1/open?code=x")
    assert capsys.readouterr().out == "http://127.0.0.1:1/open?code=x\n"
