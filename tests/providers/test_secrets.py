"""Keys stay secret, addresses are checked, and a missing key names the variable to set."""

import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import Loopback, Received, Wire
from stage import ROWS

import redask
from redask.core.endpoints import key_variables
from redask.core.errors import AskError, Misconfigured
from redask.core.model import Failed
from redask.core.provider_table import PROVIDERS
from redask.core.settings import load
from redask.providers.registry import open_provider
from redask.providers.vendors import failures
from redask.providers.vendors.endpoint import Access

KEY = "sk-9Qx7vTz2LmWp4RbN8dKf"
FAMILIES = ("openai", "anthropic", "huggingface", "custom")


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with Loopback() as running:
        yield running


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("harbour")
    with redask.open(directory) as db:
        db.put("notes", ROWS[:1])
    return directory


def echo(status: int) -> object:
    """A hostile server: it quotes the request's headers in its error."""

    def reply(received: Received) -> Wire:
        quoted = f"wrong key: {json.dumps(received.headers)} sk-s***789 Bearer {KEY}."
        error = {"type": "x", "message": quoted, "code": KEY}
        return Wire(status, json.dumps({"error": error, "message": quoted}).encode())

    return reply


@pytest.mark.parametrize("status", [401, 500, 200])
@pytest.mark.parametrize(
    ("name", "streamed"), [(name, streamed) for name in FAMILIES for streamed in (False, True)]
)
def test_a_key_that_the_server_quotes_is_in_no_error_row_or_log(
    harbour: Path,
    server: Loopback,
    *,
    name: str,
    streamed: bool,
    status: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.play(echo(status))  # type: ignore[arg-type]
    env = {
        f"REDASK_{name.upper()}_API_KEY": KEY,
        f"REDASK_{name.upper()}_BASE_URL": server.address + ("" if name == "anthropic" else "/v1"),
        "REDASK_ASK_PROVIDERS_DEFAULT": name,
        "REDASK_CUSTOM_MODEL": "any",
    }
    settings = load("", env)
    caplog.set_level(logging.DEBUG)
    messages = [repr(settings)]
    with redask.open(harbour, settings=settings, embedder="none") as db:
        try:
            events = list(db.stream("When does the ferry leave?")) if streamed else []
            messages += [repr(event) + str(event) for event in events]
            failed = [event.error for event in events if isinstance(event, Failed)]
            messages += [error.detail for error in failed if isinstance(error, AskError)]
            if not streamed:
                db.ask("When does the ferry leave?")
        except AskError as error:
            messages += [repr(error), error.message, error.detail]
        messages.append(json.dumps(db.audit(1)[0].row))
    assert server.requests, "the key was never sent: the test shows nothing"
    assert KEY in json.dumps(server.requests[0].headers)
    messages += [record.getMessage() + repr(record.args) for record in caplog.records]
    assert "wrong key" in "".join(messages) or status == 200 or streamed
    for start in range(len(KEY) - 5):
        assert KEY[start : start + 6] not in "".join(messages)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (f"key {KEY} is wrong", "key … is wrong"),
        (f"key '{KEY[3:12]}' is wrong", "key … is wrong"),
        ("key sk-s****6789 is wrong", "key … is wrong"),
        ("two\nlines\tand\x00a \x1b[31mcolour", "two lines and\ufffda \ufffd[31mcolour"),
        ("x" * 5000, "x" * 299 + "…"),
        (None, ""),
        (5, ""),
    ],
)
def test_a_providers_message_is_cleaned(message: object, expected: str) -> None:
    assert failures.clean(message, KEY) == expected


def test_a_short_key_is_hidden_too() -> None:
    assert failures.clean("key abc is wrong", "abc") == "key … is wrong"


def test_an_access_shows_no_key() -> None:
    assert KEY not in repr(Access("openai", "m", KEY))


@pytest.mark.parametrize("name", [name for name, row in PROVIDERS.items() if row.key_variable])
def test_a_missing_key_is_misconfigured_named_and_audited(harbour: Path, name: str) -> None:
    settings = load("", {"REDASK_ASK_PROVIDERS_DEFAULT": name})
    with redask.open(harbour, settings=settings, embedder="none") as db:
        with pytest.raises(Misconfigured) as caught:
            db.ask("When does the ferry leave?")
        assert caught.value.detail in key_variables(name)
        assert caught.value.detail in caught.value.message
        assert db.audit(1)[0].row["errors"] == [
            {"kind": "misconfigured", "detail": caught.value.message}
        ]


@pytest.mark.parametrize("key", ["", "two words", "line\nend", "schlüssel", "tab\t", "\x7f"])
def test_a_key_that_no_header_can_carry_is_misconfigured(key: str) -> None:
    with pytest.raises(Misconfigured, match="OPENAI_API_KEY") as caught:
        open_provider("openai", api_key=key)
    assert not key or key not in caught.value.message


@pytest.mark.parametrize(
    "url",
    [
        "not a url",
        "localhost:8080",
        "ftp://host/v1",
        "http://",
        "https:///v1",
        "http://host:port/v1",
        "http://host:99999/v1",
        "http://[::1/v1",
        "http://user:hunter22@host/v1",
        "http://host/v1?key=hunter22",
        "http://host/v1#hunter22",
        "http://host/a b",
        "http://ho\nst/",
    ],
)
@pytest.mark.parametrize("name", FAMILIES)
def test_an_address_that_is_none_is_misconfigured_and_names_its_variable(
    name: str, url: str
) -> None:
    with pytest.raises(Misconfigured, match=f"REDASK_{name.upper()}_BASE_URL") as caught:
        open_provider(name, "m", api_key=KEY, base_url=url)
    assert "hunter22" not in caught.value.message


def test_custom_needs_an_address_and_a_model() -> None:
    with pytest.raises(Misconfigured, match="REDASK_CUSTOM_BASE_URL"):
        open_provider("custom", "m")
    with pytest.raises(Misconfigured, match="REDASK_CUSTOM_MODEL"):
        open_provider("custom", base_url="http://127.0.0.1:9/v1")


@pytest.mark.parametrize("name", ["missing.gguf", "text.gguf", "half.gguf", "nul\0.gguf"])
def test_a_local_model_that_is_no_model_is_misconfigured(tmp_path: Path, name: str) -> None:
    pytest.importorskip("xllamacpp")
    (tmp_path / "text.gguf").write_text("hello")
    (tmp_path / "half.gguf").write_bytes(b"GGUF\x03\x00\x00\x00" + b"\xff" * 100)
    from redask.core.model import Knobs, Prompt

    with pytest.raises(Misconfigured, match="REDASK_LOCAL_MODEL"):
        asyncio.run(
            open_provider("local", str(tmp_path / name)).complete(
                Prompt("", "x", "", ()), Knobs(None, None), max_tokens=1
            )
        )
