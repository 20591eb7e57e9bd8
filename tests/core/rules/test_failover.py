"""Contract 14: which providers in which order, when to move on, and what the trail keeps."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.errors import (
    BadAsk,
    Failure,
    Misconfigured,
    ProviderFailed,
    ProviderRefused,
    ProvidersExhausted,
)
from redask.core.model import Notice
from redask.core.rules import failover
from redask.core.rules.failover import Next, Step, Stop

KNOWN = ("openai", "anthropic", "groq", "ollama", "extractive", "scripted")
PREFERRED = ("openai", "anthropic", "groq", "together", "openrouter", "venice", "deepseek")
MOVES_ON = {Failure.TRANSPORT, Failure.SERVER, Failure.TIMEOUT}


def plan(**changes: Any) -> tuple[Step, ...]:
    given: dict[str, Any] = {
        "using": (),
        "model": None,
        "fallback": (),
        "default": None,
        "configured": (),
        "known": KNOWN,
    }
    return failover.plan(**{**given, **changes})


def failed(provider: str, failure: Failure, message: str = "oh") -> ProviderFailed:
    return ProviderFailed(provider, failure, message)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("openai", ("openai",)),
        ("a,b,c", ("a", "b", "c")),
        ("c,a,b", ("c", "a", "b")),
        (" a , b ", ("a", "b")),
        ("\ta\n,\r\nb", ("a", "b")),
        ("a,,b,", ("a", "b")),
        ("OpenAI,GROQ", ("openai", "groq")),
        ("a,b,a,A, a ", ("a", "b")),
        ("B,a,b", ("b", "a")),
        ("deepsee\u212a,deepseek", ("deepsee\u212a", "deepseek")),
        ("two words", ("two words",)),
        ("a;b", ("a;b",)),
        ("", ()),
        (" , ,", ()),
    ],
)
def test_using_is_split_trimmed_lowered_and_each_kept_once(
    text: str, names: tuple[str, ...]
) -> None:
    assert failover.parse_using(text) == names


@given(st.text() | st.text("aAbB ,\t"))
def test_any_using_gives_distinct_trimmed_names_and_reads_back(text: str) -> None:
    names = failover.parse_using(text)
    assert len(set(names)) == len(names)
    for name in names:
        assert name
        assert name == name.strip()
        assert "," not in name
        assert not any("A" <= character <= "Z" for character in name)
        assert name in "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)
    assert failover.parse_using(",".join(names)) == names


@pytest.mark.parametrize(
    ("given", "walk"),
    [
        ({"using": ("groq", "openai")}, ("groq", "openai")),
        ({"using": ("groq",), "fallback": ("openai",), "default": "ollama"}, ("groq",)),
        ({"fallback": ("openai", "groq"), "default": "ollama"}, ("openai", "groq")),
        ({"fallback": ["groq"], "configured": ("openai",)}, ("groq",)),
        ({"default": "ollama", "configured": ("openai",)}, ("ollama",)),
        ({"configured": ("groq", "anthropic")}, ("anthropic",)),
        ({}, ("extractive",)),
    ],
)
def test_the_walk_is_using_else_fallback_else_the_default(
    given: dict[str, Any], walk: tuple[str, ...]
) -> None:
    assert tuple(step.provider for step in plan(**given)) == walk


@pytest.mark.parametrize(
    ("given", "models"),
    [
        ({"using": ("groq", "openai")}, ("m", "m")),
        ({"using": ("groq",)}, ("m",)),
        ({"fallback": ("openai", "groq", "ollama")}, ("m", None, None)),
        ({"default": "ollama"}, ("m",)),
        ({}, ("m",)),
    ],
)
def test_model_goes_to_all_of_using_else_to_the_first(
    given: dict[str, Any], models: tuple[str | None, ...]
) -> None:
    assert tuple(step.model for step in plan(model="m", **given)) == models
    assert all(step.model is None for step in plan(**given))


@pytest.mark.parametrize("using", [("nobody",), ("openai", "nobody"), ("nobody", "openai")])
def test_an_unknown_provider_named_by_the_caller_is_a_bad_ask(using: tuple[str, ...]) -> None:
    with pytest.raises(BadAsk, match="there is no provider 'nobody'") as caught:
        plan(using=using, fallback=("nobody",))
    assert caught.value.detail == (
        "providers: anthropic, extractive, groq, ollama, openai, scripted"
    )


@pytest.mark.parametrize(
    "given",
    [
        {"fallback": ("nobody",)},
        {"fallback": ("openai", "nobody")},
        {"default": "nobody"},
        {"configured": ("together",)},
    ],
)
def test_an_unknown_provider_in_the_settings_is_a_configuration_error(
    given: dict[str, Any],
) -> None:
    with pytest.raises(Misconfigured, match=r"ask\.providers names '(nobody|together)'"):
        plan(**given)


def test_what_the_settings_name_does_not_matter_when_the_caller_names_providers() -> None:
    assert plan(using=("openai",), fallback=("nobody",), default="nobody") == (
        Step("openai", None),
    )


def test_a_strange_name_is_shown_in_ascii() -> None:
    with pytest.raises(BadAsk, match=r"'deepsee\\u212a'"):
        plan(using=("deepsee\u212a",))
    with pytest.raises(Misconfigured, match=r"'deepsee\\u212a'"):
        plan(default="deepsee\u212a")


@pytest.mark.parametrize("position", range(len(PREFERRED)))
def test_the_default_is_the_first_preferred_provider_with_a_key(position: int) -> None:
    configured = {"ollama", "huggingface", *PREFERRED[position:]}
    assert failover.choose_default(configured) == PREFERRED[position]
    assert failover.choose_default([PREFERRED[position]]) == PREFERRED[position]


@pytest.mark.parametrize("configured", [(), ("ollama", "huggingface", "local", "custom")])
def test_without_a_preferred_key_the_default_is_extractive(configured: tuple[str, ...]) -> None:
    assert failover.choose_default(configured) == "extractive"


@given(st.lists(st.sampled_from(KNOWN), unique=True), st.lists(st.sampled_from(KNOWN), unique=True))
def test_a_walk_is_never_empty(using: list[str], fallback: list[str]) -> None:
    walk = plan(using=using, fallback=fallback, model="m")
    assert [step.provider for step in walk] == (using or fallback or ["extractive"])
    assert walk[0].model == "m"


@pytest.mark.parametrize("failure", Failure)
def test_only_transport_5xx_and_timeout_move_on(failure: Failure) -> None:
    verdict = failover.after(failed("p", failure))
    assert verdict == (Next() if failure in MOVES_ON else Stop())


def test_a_refusal_stops_at_once() -> None:
    assert failover.after(ProviderRefused("p", "no")) == Stop()


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (408, Failure.TIMEOUT),
        *((status, Failure.SERVER) for status in (500, 502, 503, 504, 529, 599)),
        *((s, Failure.REFUSED) for s in (400, 401, 403, 404, 407, 409, 422, 429, 499, 600, 302)),
    ],
)
def test_a_status_says_what_failed(status: int, failure: Failure) -> None:
    assert failover.failure_of(status) is failure


@given(st.integers(100, 999))
def test_a_status_moves_on_exactly_for_408_and_5xx(status: int) -> None:
    verdict = failover.after(failed("p", failover.failure_of(status)))
    assert isinstance(verdict, Next) == (status == 408 or status // 100 == 5)


def test_success_keeps_the_trail_of_earlier_failures() -> None:
    failures = [failed("openai", Failure.SERVER, "502"), failed("groq", Failure.TIMEOUT, "late")]
    assert failover.trail(failures) == (
        Notice("provider_failed", "openai: 5xx: 502"),
        Notice("provider_failed", "groq: timeout: late"),
    )
    assert failover.trail([]) == ()


def test_a_stopping_error_ends_the_trail_as_refused() -> None:
    failures = [failed("openai", Failure.TRANSPORT, "no route"), ProviderRefused("groq", "bad key")]
    assert failover.trail(failures) == (
        Notice("provider_failed", "openai: transport: no route"),
        Notice("provider_refused", "groq: refused: bad key"),
    )


@given(st.lists(st.tuples(st.sampled_from(KNOWN), st.sampled_from(sorted(MOVES_ON))), min_size=1))
def test_total_failure_lists_every_attempt(attempts: list[tuple[str, Failure]]) -> None:
    failures = tuple(failed(*attempt) for attempt in attempts)
    expected = [f"{provider}: {failure.value}: oh" for provider, failure in attempts]
    trail = failover.trail(failures)
    assert [notice.detail for notice in trail] == expected
    assert {notice.kind for notice in trail} == {"provider_failed"}
    assert ProvidersExhausted(failures).detail == "; ".join(expected)


def test_nobody_judges_unless_the_settings_name_a_judge() -> None:
    assert failover.judge(None, None, {"openai"}) is None
    assert failover.judge("openai", None, {"openai"}) == Step("openai", None)
    assert failover.judge("mine", "m1", {"mine"}) == Step("mine", "m1")


@pytest.mark.parametrize(
    ("provider", "model", "said"),
    [
        (None, "m1", r"ask\.judge\.model is set, and ask\.judge\.provider is not"),
        ("nobody", None, r"ask\.judge\.provider names 'nobody', which is no provider"),
        ("extractive", None, r"ask\.judge\.provider names extractive, which only quotes"),
    ],
)
def test_a_judge_that_cannot_be_one_is_a_configuration_error(
    provider: str | None, model: str | None, said: str
) -> None:
    with pytest.raises(Misconfigured, match=said):
        failover.judge(provider, model, {"openai", "extractive"})
