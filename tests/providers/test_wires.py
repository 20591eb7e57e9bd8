"""Every SDK's wire on loopback: answers, usage, builds, and each way to fail."""

import asyncio
import json
import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest
from loopback import EVENTS, JSON, Loopback, Wire
from wires import BUILD, polite_model, speech_of

from redask.core.errors import AskError, Failure, ProviderFailed, ProviderRefused
from redask.core.model import Knobs, Source
from redask.core.ports import Completion, Provider
from redask.core.rules.prompt import assemble
from redask.providers.registry import open_provider
from redask.providers.vendors import connections
from redask.providers.vendors.vendor_headers import ANTHROPIC, OPENAI, withheld

KNOBS = Knobs(0.0, 7)
KEY = "sk-test-0123456789abcdef"
PROMPT = assemble("When?", (Source("urn:reddb:row:boats/2", '{"id":2}'),))
FAMILIES = ("openai", "anthropic", "huggingface")
BOTH = pytest.mark.parametrize("streamed", [False, True], ids=["plain", "stream"])
EACH = pytest.mark.parametrize("name", FAMILIES)


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with Loopback() as running:
        yield running


def opened(server: Loopback, name: str) -> Provider:
    # Anthropic's SDK adds /v1 by itself
    address = server.address if name == "anthropic" else server.url
    return open_provider(name, "asked-for", api_key=KEY, base_url=address)


def ask(
    server: Loopback, name: str, streamed: bool, knobs: Knobs = KNOBS
) -> tuple[Completion, list[str]]:
    pieces: list[str] = []

    async def emit(piece: str) -> None:
        pieces.append(piece)

    call = opened(server, name).complete(
        PROMPT, knobs, max_tokens=50, emit=emit if streamed else None
    )
    return asyncio.run(call), pieces


def failure(server: Loopback, name: str, streamed: bool) -> ProviderFailed:
    with pytest.raises(ProviderFailed) as caught:
        ask(server, name, streamed)
    assert caught.value.provider == name
    assert isinstance(caught.value, ProviderRefused) == (caught.value.failure is Failure.REFUSED)
    return caught.value


@BOTH
@EACH
def test_an_answer_comes_with_model_usage_and_build(
    server: Loopback, name: str, streamed: bool
) -> None:
    server.play(polite_model)
    completion, pieces = ask(server, name, streamed)
    build = "" if name == "anthropic" else BUILD
    assert completion == Completion(
        "The ferry leaves at nine. [^1]", "model-of-the-day", 12, 3, build
    )
    assert pieces == (["The ferry ", "leaves at nine. ", "[^1]"] if streamed else [])


CUSTOM = "X-Gateway: swordfish\nauthorization: Basic theirs\nX-Api-Key: theirs"


@pytest.mark.parametrize("name", ["openai", "groq", "custom", "anthropic"])
def test_a_vendors_own_headers_go_to_no_other_host(
    server: Loopback, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(variable, "ours")
    for variable in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(variable, CUSTOM)
    server.play(polite_model)
    ask(server, name, streamed=False)
    headers = {each.lower(): value for each, value in server.requests[-1].headers.items()}
    assert not {"openai-organization", "openai-project", "x-gateway"} & set(headers)
    keys = (headers.get("authorization"), headers.get("x-api-key"))
    assert keys == ((None, KEY) if name == "anthropic" else (f"Bearer {KEY}", None))


def test_the_vendor_itself_is_told_what_the_environment_says() -> None:
    env = {"OPENAI_CUSTOM_HEADERS": CUSTOM, "ANTHROPIC_CUSTOM_HEADERS": CUSTOM}
    assert withheld(OPENAI, "https://api.openai.com/v1", env) == ()
    assert withheld(ANTHROPIC, "https://API.anthropic.com:443", env) == ()
    for other in ("http://api.openai.com/v1", "https://api.openai.com.evil/v1", "", None):
        assert "X-Gateway" in withheld(OPENAI, other, env)
    assert withheld(OPENAI, "https://api.openai.com:8443/v1", {}) == (
        "OpenAI-Organization",
        "OpenAI-Project",
    )


@BOTH
@EACH
def test_prompt_knobs_and_limit_are_sent_once_and_nothing_is_retried(
    server: Loopback, name: str, streamed: bool
) -> None:
    server.play(polite_model)
    ask(server, name, streamed)
    [request] = server.requests
    body = request.body
    assert body["model"] == "asked-for"
    assert body["temperature"] == 0.0
    assert body.get("max_completion_tokens", body.get("max_tokens")) == 50
    assert body.get("stream", False) is streamed
    assert body["messages"][-1] == {"role": "user", "content": PROMPT.user}
    system = body["system"] if name == "anthropic" else body["messages"][0]["content"]
    assert system == PROMPT.system
    assert body.get("seed") == (None if name == "anthropic" else 7)
    assert request.headers["accept-encoding"] == "identity"
    server.play(speech_of(name).error(500, "busy"))
    failure(server, name, streamed)
    assert len(server.requests) == 1


@BOTH
@EACH
def test_knobs_that_are_none_are_not_sent(server: Loopback, name: str, streamed: bool) -> None:
    server.play(polite_model)
    ask(server, name, streamed, Knobs(None, None))
    assert {"seed", "temperature"} & server.requests[0].body.keys() == set()


@BOTH
@EACH
@pytest.mark.parametrize("usage", [None, (-1, 5), (5, -1), (2**70, 5), (5, 2**70), (5.5, 1)])
def test_usage_that_is_missing_or_nonsense_is_no_usage(
    server: Loopback, name: str, streamed: bool, usage: object
) -> None:
    speech = speech_of(name)
    server.play(speech.stream(["Yes."], usage) if streamed else speech.whole("Yes.", usage))
    completion, _ = ask(server, name, streamed)
    assert (completion.prompt_tokens, completion.completion_tokens) == (None, None)
    assert completion.text == "Yes."


@BOTH
@EACH
@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (500, Failure.SERVER),
        (502, Failure.SERVER),
        (503, Failure.SERVER),
        (529, Failure.SERVER),
        (408, Failure.TIMEOUT),
        (400, Failure.REFUSED),
        (401, Failure.REFUSED),
        (403, Failure.REFUSED),
        (404, Failure.REFUSED),
        (422, Failure.REFUSED),
        (429, Failure.REFUSED),
        (302, Failure.REFUSED),
    ],
)
def test_a_status_is_classified(
    server: Loopback, name: str, streamed: bool, status: int, expected: Failure
) -> None:
    redirect = (("Location", "http://127.0.0.1:9/"),) if status == 302 else ()
    server.play(replace(speech_of(name).error(status, "no such model"), headers=redirect))
    error = failure(server, name, streamed)
    assert error.failure is expected
    assert status == 302 or str(status) in error.message
    assert len(server.requests) == 1


@BOTH
@EACH
@pytest.mark.parametrize("status", [500, 401])
def test_a_status_counts_whatever_the_body_is(
    server: Loopback, name: str, streamed: bool, status: int
) -> None:
    server.play(Wire(status, b"<html>Bad Gateway</html>", kind="text/html"))
    error = failure(server, name, streamed)
    assert error.failure is (Failure.SERVER if status == 500 else Failure.REFUSED)
    assert "<html>" not in error.message


UNREADABLE = {
    "HTML": Wire(body=b"<html>Welcome to the hotel</html>", kind="text/html"),
    "wrong content type": Wire(body=b'{"choices": []}', kind="text/plain"),
    "half a JSON": Wire(body=b'{"choices": [{"index": 0, "mess'),
    "half a JSON in a stream": Wire(kind=EVENTS, chunks=[b'event: x\ndata: {"choi\n\n']),
    "empty": Wire(),
    "empty stream": Wire(kind=EVENTS),
    "nothing but comments": Wire(kind=EVENTS, chunks=[b": wait\n\n", b": wait\n\n"]),
    "gzip garbage": Wire(body=b"\x1f\x8bgarbage", headers=(("Content-Encoding", "gzip"),)),
    "invalid UTF-8": Wire(body=b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
    "a list": Wire(body=b"[]"),
    "a string": Wire(body=b'"yes"'),
    "null": Wire(body=b"null"),
    "a number in a stream": Wire(kind=EVENTS, chunks=[b"data: 5\n\n", b"data: [DONE]\n\n"]),
    "no choice": Wire(body=b'{"choices": [], "content": null}'),
    "choices of another kind": Wire(body=b'{"choices": "many", "content": "much"}'),
    "content of another kind": Wire(
        body=b'{"choices": [{"message": {"content": 5}}], "content": [{"type": "text", "text": 5}]}'
    ),
    "nested too deep": Wire(body=b"[" * 100_000),
    "100 MB": Wire(body=b" " * 100_000_000),
    "100 MB in a stream": Wire(kind=EVENTS, chunks=[b": " + b"x" * 10**6 + b"\n\n"] * 100),
    "a line of 100 MB": Wire(kind=EVENTS, chunks=[b"data: ", *[b"x" * 10**6] * 100]),
}


@BOTH
@EACH
@pytest.mark.parametrize("reply", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_an_unreadable_reply_stops_the_failover(
    server: Loopback, name: str, streamed: bool, reply: Wire
) -> None:
    server.play(reply)
    error = failure(server, name, streamed)
    broken_off = streamed and error.said == "the stream broke off"
    assert error.failure is (Failure.TRANSPORT if broken_off else Failure.REFUSED)
    assert not broken_off or reply is UNREADABLE["a number in a stream"]


@BOTH
@EACH
def test_a_refusal_stops_the_failover_and_reports_its_cost(
    server: Loopback, name: str, streamed: bool
) -> None:
    refusal = speech_of(name).refusal()
    if streamed:
        refusal = speech_of(name).stream(["I "])
        finish = b"refusal" if name == "anthropic" else b"content_filter"
        old = b"end_turn" if name == "anthropic" else b'"stop"'
        new = finish if name == "anthropic" else b'"' + finish + b'"'
        refusal = replace(refusal, chunks=[chunk.replace(old, new) for chunk in refusal.chunks])
    server.play(refusal)
    error = failure(server, name, streamed)
    assert (error.failure, error.billed) == (Failure.REFUSED, (12, 3))


@EACH
@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"type": "overloaded_error", "message": "busy"}, Failure.SERVER),
        ({"type": "server_error", "message": "oh", "code": 500}, Failure.SERVER),
        ({"type": "x", "message": "oh", "code": 503}, Failure.SERVER),
        ({"type": "timeout_error", "message": "late"}, Failure.TIMEOUT),
        ({"type": "rate_limit_error", "message": "slow down"}, Failure.REFUSED),
        ({"type": "x", "message": "slow down", "code": 429}, Failure.REFUSED),
        ({"type": None, "message": 5}, Failure.REFUSED),
    ],
)
def test_an_error_inside_a_stream_is_classified(
    server: Loopback, name: str, event: dict[str, object], expected: Failure
) -> None:
    server.play(speech_of(name).broken(event))
    assert failure(server, name, True).failure is expected


@pytest.mark.parametrize("name", ["openai", "huggingface"])
def test_an_error_with_status_200_is_classified(server: Loopback, name: str) -> None:
    body = json.dumps({"error": {"message": "upstream is gone", "code": 502}, "choices": []})
    server.play(Wire(body=body.encode()))
    assert failure(server, name, False).failure is Failure.SERVER


@BOTH
@EACH
def test_a_connection_that_breaks_is_transport(server: Loopback, name: str, streamed: bool) -> None:
    speech = speech_of(name)
    begun = speech.stream(["At ", "nine"]).chunks[: 5 if name == "anthropic" else 3]
    server.play(Wire(body=b'{"choices"', cut=True))
    assert failure(server, name, streamed).failure is Failure.TRANSPORT
    server.play(Wire(chunks=begun, kind=EVENTS if streamed else JSON, cut=True))
    assert failure(server, name, streamed).failure is Failure.TRANSPORT
    if streamed:
        server.play(Wire(chunks=begun, kind=EVENTS))
        error = failure(server, name, streamed)
        assert (error.failure, error.said) == (Failure.TRANSPORT, "the stream broke off")


@BOTH
@EACH
def test_a_refused_connection_is_a_transport_failure(name: str, streamed: bool) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    provider = open_provider(name, "m", api_key=KEY, base_url=address)

    async def emit(_: str) -> None:
        raise AssertionError

    with pytest.raises(ProviderFailed) as caught:
        asyncio.run(
            provider.complete(
                PROMPT, Knobs(None, None), max_tokens=5, emit=emit if streamed else None
            )
        )
    assert caught.value.failure is Failure.TRANSPORT


@EACH
def test_a_host_that_never_picks_up_is_a_timeout(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx2

    quick = httpx2.Timeout(None, connect=0.05)
    for module in ("connections", "openai_compatible", "anthropic", "huggingface"):
        monkeypatch.setattr(f"redask.providers.vendors.{module}.TIMEOUT", quick, raising=False)
    assert connections.TIMEOUT is quick
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        address = deaf.getsockname()
        waiting = [socket.socket() for _ in range(4)]  # fills the backlog: nothing accepts
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(address)
        provider = open_provider(name, "m", api_key=KEY, base_url=f"http://127.0.0.1:{address[1]}")
        with pytest.raises(AskError) as caught:
            asyncio.run(provider.complete(PROMPT, Knobs(None, None), max_tokens=5))
        for each in waiting:
            each.close()
    assert isinstance(caught.value, ProviderFailed)
    assert caught.value.failure is Failure.TIMEOUT
