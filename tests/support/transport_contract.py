"""What every transport is asked, and what must come of it: for the suite of one process and of two.

`everywhere` asks all of them at once; `assert_mapped` says that each reports an outcome in its way.
"""

import asyncio
import json
import random
from typing import Any

from transports import TRANSPORTS, Received, Transports

from redask.core import errors
from redask.core.wire import outcomes

AT_A_TIME = 25
WORDS = (
    "ferry lighthouse ticket Amrum nine Sundays open costs when does is the euros Ümläut 14 late"
)
FERRY = "When does the ferry leave?"


def made_up(number: int) -> tuple[str, dict[str, Any]]:
    """A question and its options; equal for equal numbers."""
    rng = random.Random(number)
    question = " ".join(rng.choices(WORDS.split(), k=rng.randint(1, 7))) + rng.choice("?? \n'\"é")
    choices: dict[str, Any] = {
        "using": rng.choice(("scripted", "extractive", "local", "together,scripted")),
        "model": "any",
        "limit": rng.randint(1, 200),
        "strict": rng.choice((True, False, "on", "off", "supported")),
        "evidence": rng.choice((True, False)),
        "collection": rng.choice(("notes", ["notes", "odd"], ["nowhere"])),
        "min_score": rng.choice((0.0, 0.25, 1.0)),
        "depth": rng.randint(0, 10),
        "temperature": rng.choice((0.0, 0.5, 2.0)),
        "seed": rng.choice((0, 7, 2**53 + 1, 2**64 - 1)),
        "nocache": True,
    }
    kept = {name: choices[name] for name in choices if rng.random() < 0.3}
    return question, {"using": "scripted", **kept}


def everywhere(
    transports: Transports, question: str, options: dict[str, Any], user: str = "mia"
) -> Any:
    """What each transport says, all asked at once; in process first."""

    async def main() -> dict[str, Received]:
        here = await transports.ask("here", question, options, user)
        received = await asyncio.gather(
            *(transports.ask(transport, question, options, user) for transport in TRANSPORTS)
        )
        return {"here": here, **dict(zip(TRANSPORTS, received, strict=True))}

    return transports.run(main())


OUTCOMES: dict[str, tuple[str, dict[str, Any], type[errors.AskError]]] = {
    "a blank question": (" \n", {}, errors.BadAsk),
    "a limit out of range": (FERRY, {"limit": 201}, errors.BadAsk),
    "a provider nobody knows": (FERRY, {"using": "nobody"}, errors.BadAsk),
    "a time to live that is none": (FERRY, {"cache": {"ttl": "5x"}}, errors.BadAsk),
    "a collection that is not theirs": (FERRY, {"collection": "secrets"}, errors.Denied),
    "more than the limits allow": ("ferry " * 2500, {}, errors.LimitExceeded),
    "an answer that invents": (FERRY, {"using": "openai"}, errors.Ungrounded),
    "an answer that its source contradicts": (
        "Does the ferry leave at midnight?",
        {"using": "openai", "strict": "supported", "collection": "notes", "evidence": True},
        errors.Ungrounded,
    ),
    "a provider without a key": (FERRY, {"using": "deepseek"}, errors.Misconfigured),
    "a provider that refuses": (FERRY, {"using": "groq"}, errors.ProviderRefused),
    "providers that all fail": (FERRY, {"using": "together"}, errors.ProvidersExhausted),
    "a provider that takes too long": (FERRY, {"using": "venice"}, errors.DeadlineExceeded),
    "a bug": (FERRY, {"using": "openrouter"}, errors.AskError),
}


def assert_mapped(received: dict[str, Received], error: type[errors.AskError]) -> None:
    """Every transport reports this outcome in its own way, and says the same about it."""
    row = outcomes.OUTCOMES[next(cls for cls in error.__mro__ if cls in outcomes.OUTCOMES)]
    streams = {"sse", "chat-stream", "grpc-stream"}
    bodies = set()
    for transport, each in received.items():
        if transport in streams and each.kind == "error frame":
            assert each.code == row.http, transport
            continue
        assert each.kind == row.kind, (transport, each)
        shown = json.loads(each.body)["error"]
        if row.kind == "bad_ask":  # paths are named as the transport spells them
            shown = {"kind": shown["kind"]}
        bodies.add(json.dumps(shown))
        expected = {
            "http": row.http,
            "sse": row.http,
            "chat": row.http,
            "chat-stream": row.http,
            "rpc": row.jsonrpc,
            "rpc-stream": row.jsonrpc,
            "mcp": "isError",
            "mcp-http": 401 if error is errors.Unauthenticated else "isError",
            "grpc": row.grpc,
            "grpc-stream": row.grpc,
            "pg": row.sqlstate,
            "here": None,
        }
        assert each.code == expected[transport], (transport, each)
    assert len(bodies) == 1, bodies
