"""Failover with real SDKs on loopback: each failure × place in the list × plain or streamed.

The whole audit row is compared: who answered, what it cost, and the exact trail.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from deadlines import let_deadlines_pass
from loopback import EVENTS, Loopback, Received, Wire
from stage import ROWS, Clock
from wires import speech_of

import redask
from redask.core import errors
from redask.core.model import Answered, AnswerReset, AnswerToken, Failed
from redask.core.rules.audit import answer_hash
from redask.core.settings import load
from redask.providers.registry import PROVIDERS

FERRY = "When does the ferry leave?"
ANSWER = "At nine [^1]."
NAMES = ("openai", "anthropic", "groq")
BROKEN = "At te"
TIMEOUT_MS = 180_000  # which nobody waits for: what is slow lets its share pass at once

# how a call fails → whether the walk moves on, and what the trail says of it
FAILURES: dict[str, tuple[bool, str]] = {
    "refused connection": (True, "transport: no connection"),
    "cut before a byte": (True, "transport: the connection broke"),
    "cut in the middle": (True, "transport: the connection broke"),
    "500": (True, "5xx: HTTP 500: out of order"),
    "503": (True, "5xx: HTTP 503: out of order"),
    "408": (True, "timeout: HTTP 408: out of order"),
    "slow": (True, "timeout: no answer within its share of the time"),
    "400": (False, "refused: HTTP 400: out of order"),
    "401": (False, "refused: HTTP 401: out of order"),
    "429": (False, "refused: HTTP 429: out of order"),
    "HTML": (False, "refused: its reply is neither JSON nor an event stream"),
    "refusal": (False, "refused: it refused"),
}
BOTH = pytest.mark.parametrize("streamed", [False, True], ids=["plain", "stream"])


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, Loopback]]:
    with Loopback() as first, Loopback() as second, Loopback() as third:
        yield dict(zip(NAMES, (first, second, third), strict=True))


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("harbour")
    with redask.open(directory) as db:
        db.put("notes", ROWS)
    return directory


def failing(name: str, how: str, late: Callable[[], None], received: Received) -> Wire:
    """The reply of a server that fails like this."""
    speech, streamed = speech_of(name), bool(received.body.get("stream"))
    if how.isdigit():
        return speech.error(int(how), "out of order")
    if how == "cut in the middle" and streamed:
        begun = speech.stream([BROKEN, "n"]).chunks[: 4 if name == "anthropic" else 2]
        return Wire(chunks=begun, kind=EVENTS, cut=True)
    if how.startswith("cut"):
        return Wire(body=b"{" if "middle" in how else b"", cut=True)
    if how == "slow":
        return Wire(silent=True, hanging=late)
    if how == "HTML":
        return Wire(body=b"<html>", kind="text/html")
    if streamed:
        old, new = (
            (b"end_turn", b"refusal") if name == "anthropic" else (b"stop", b"content_filter")
        )
        whole = speech.stream([BROKEN])
        return Wire(chunks=[chunk.replace(old, new) for chunk in whole.chunks], kind=EVENTS)
    return speech.refusal()


def answering(name: str) -> Any:
    def reply(received: Received) -> Wire:
        speech = speech_of(name)
        if received.body.get("stream"):
            return speech.stream(["At nine ", "[^1]."])
        return speech.whole(ANSWER)

    return reply


class Call:
    """One ASK over the three servers, of which some fail."""

    def __init__(
        self, harbour: Path, servers: dict[str, Loopback], how: dict[str, str], streamed: bool
    ) -> None:
        env = {"REDASK_ASK_PROVIDERS_FALLBACK": ",".join(NAMES)}
        for name in NAMES:
            failed = (
                partial(failing, name, how[name], self._late) if name in how else answering(name)
            )
            servers[name].play(failed)
            address = servers[name].address + ("" if name == "anthropic" else "/v1")
            if how.get(name) == "refused connection":
                address = "http://127.0.0.1:9/v1"
            env[f"REDASK_{name.upper()}_BASE_URL"] = address
            env[f"REDASK_{name.upper()}_API_KEY"] = "sk-test-0123456789"
        self.clock = Clock()
        settings = load(f"[ask]\ntimeout_ms = {TIMEOUT_MS}", env)
        self.error: errors.AskError | None = None
        self.events: list[Any] = []
        with redask.open(harbour, settings=settings, embedder="none", clock=self.clock) as db:
            self._loop = db._loop._loop
            try:
                if streamed:
                    self.events = list(db.stream(FERRY))
                else:
                    self.answer = db.ask(FERRY)
            except errors.AskError as error:
                self.error = error
            if self.events and isinstance(self.events[-1], Failed):
                failed_with = self.events[-1].error
                assert isinstance(failed_with, errors.AskError)
                self.error = failed_with
            self.row: dict[str, Any] = db.audit(1)[0].row
            self.build = db.audit(1)[0].build
            plan = db.explain(FERRY)
        self.prompt_tokens = plan["estimated_cost"]["prompt_tokens"]
        self.urns = [source["urn"] for source in plan["sources"]]
        self.asked = [name for name in NAMES if servers[name].requests]

    def _late(self) -> None:
        let_deadlines_pass(self._loop)


def trail(how: str, provider: str, *, streamed: bool) -> str:
    words = FAILURES[how][1]
    if how == "refusal":
        words = "refused: it refused to answer" if provider == "anthropic" else words
        if provider != "anthropic":
            words += ": its filter stopped the answer" if streamed else ": I cannot help with that."
    return f"{provider}: {words}"


def billed(how: str, call: Call, streamed: bool) -> tuple[int, int]:
    """The tokens that a failed attempt is booked with."""
    if how == "refusal":
        return 12, 3
    if how == "slow":
        return call.prompt_tokens, 0
    if how == "cut in the middle" and streamed:
        return call.prompt_tokens, 2
    return 0, 0


@BOTH
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("how", FAILURES)
def test_the_walk_goes_on_or_stops_and_the_row_says_exactly_why(
    harbour: Path, servers: dict[str, Loopback], how: str, place: int, streamed: bool
) -> None:
    # everybody before the place is down, so that the walk gets there
    down = dict.fromkeys(NAMES[:place], "500")
    call = Call(harbour, servers, {**down, NAMES[place]: how}, streamed)
    moves_on = FAILURES[how][0]
    answered = moves_on and place < 2
    who = NAMES[place + 1] if answered else NAMES[place]
    errors_expected = [
        {"kind": "provider_failed", "detail": f"{name}: 5xx: HTTP 500: out of order"}
        for name in NAMES[:place]
    ]
    kind = "provider_failed" if moves_on else "provider_refused"
    if how == "slow" and place == 2:  # the last one has the whole rest of the time
        detail = f"ask.timeout_ms allows {TIMEOUT_MS}, and that has passed"
        errors_expected.append({"kind": "timeout_ms", "detail": detail})
    else:
        detail = trail(how, NAMES[place], streamed=streamed)
        errors_expected.append({"kind": kind, "detail": detail})
        if moves_on and place == 2:
            told = "; ".join(each["detail"] for each in errors_expected)
            assert str(call.error) == f"no provider answered: {told}"
        elif not answered:
            assert str(call.error) == detail
    lost = billed(how, call, streamed)
    gained = (12, 3) if answered else (0, 0)
    seed = call.row.pop("seed")
    cost = call.row.pop("cost_usd")
    assert call.row == {
        "ts": call.clock.now,
        "tenant": "local",
        "user": "local",
        "role": "owner",
        "question": FERRY,
        "sources_urns": call.urns,
        "provider": who,
        "model": "model-of-the-day" if answered else PROVIDERS[who].model,
        "prompt_tokens": lost[0] + gained[0],
        "completion_tokens": lost[1] + gained[1],
        "answer_hash": answer_hash(ANSWER if answered else ""),
        "citations": [1] if answered else [],
        "cache_hit": False,
        "mode": "strict",
        "temperature": 0.0,
        "validation_ok": answered,
        "retry_count": 0,
        "errors": errors_expected,
    }
    assert (seed is None) == (who == "anthropic")
    assert (cost > 0) == (lost != (0, 0) or gained != (0, 0))
    assert call.build == ("" if who == "anthropic" or not answered else "fp_44709d6fcb")
    expected_error: type[errors.AskError] | None = None
    if not answered:
        expected_error = errors.ProvidersExhausted if moves_on else errors.ProviderRefused
        if how == "slow":
            expected_error = errors.DeadlineExceeded
    assert (type(call.error) if call.error else None) is expected_error
    assert not set(NAMES[place + 2 if answered else place + 1 :]) & set(call.asked)
    if streamed:
        check_events(call, answered, how, place)


def check_events(call: Call, answered: bool, how: str, place: int) -> None:
    texts = [event.text for event in call.events if isinstance(event, AnswerToken)]
    resets = [event.reason for event in call.events if isinstance(event, AnswerReset)]
    spoke = how in ("cut in the middle", "refusal")
    assert texts == ([BROKEN] if spoke else []) + (["At nine ", "[^1]."] if answered else [])
    moved_after_speaking = how == "cut in the middle"
    assert resets == (["failover"] if moved_after_speaking else [])
    assert isinstance(call.events[-1], Answered if answered else Failed)
