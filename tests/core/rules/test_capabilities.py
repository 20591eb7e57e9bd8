"""Contract 1: one Mode, the table of provider capabilities, overrides, and the fallback."""

from collections.abc import Mapping
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.errors import Misconfigured
from redask.core.model import Capabilities, Mode, Notice, Strictness
from redask.core.provider_table import PROVIDERS
from redask.core.rules import capabilities
from redask.core.rules.capabilities import Overrides

FLAGS = ("supports_citations", "supports_seed", "supports_temperature_zero", "supports_streaming")
PINNED = {
    "openai": "✓✓✓✓",
    "anthropic": "✓–✓✓",
    "groq": "✓✓✓✓",
    "together": "✓✓✓✓",
    "openrouter": "✓✓✓✓",
    "venice": "✓✓✓✓",
    "deepseek": "✓✓✓✓",
    "ollama": "–✓✓✓",
    "huggingface": "––✓–",
    "local": "––––",
    "custom": "––✓–",
}
OURS = {"extractive": "✓––✓", "scripted": "✓✓✓✓"}
CONSERVATIVE = Capabilities(False, False, True, False)
ROWS = st.builds(Capabilities, st.booleans(), st.booleans(), st.booleans(), st.booleans())
TOKENS = st.text(max_size=12) | st.sampled_from([*PINNED, *OURS])


def row(marks: str) -> Capabilities:
    return Capabilities(*(mark == "✓" for mark in marks))


def table(marks: str) -> dict[str, object]:
    return dict(zip(FLAGS, (mark == "✓" for mark in marks), strict=True))


def ascii_lower(text: str) -> str:
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)


def test_a_mode_is_strict_or_lenient() -> None:
    assert [mode.value for mode in Mode] == ["strict", "lenient"]


def test_there_are_four_flags_in_the_order_of_the_contract() -> None:
    assert tuple(flag.name for flag in fields(Capabilities)) == FLAGS


def test_the_first_eleven_tokens_are_pinned() -> None:
    assert list(PROVIDERS) == [*PINNED, *OURS]
    assert [row.name for row in PROVIDERS.values() if row.built_in] == list(OURS)


@pytest.mark.parametrize(("token", "marks"), [*PINNED.items(), *OURS.items()])
def test_a_token_has_the_row_of_the_table(token: str, marks: str) -> None:
    assert capabilities.of(token) == row(marks)


@given(TOKENS.filter(lambda token: ascii_lower(token) not in {**PINNED, **OURS}))
def test_an_unknown_token_is_conservative(token: str) -> None:
    assert capabilities.of(token) == CONSERVATIVE


@pytest.mark.parametrize("token", ["OpenAI", "OPENAI", "openAi"])
def test_look_up_ignores_ascii_case(token: str) -> None:
    assert capabilities.of(token) == row("✓✓✓✓")


@pytest.mark.parametrize("token", ["deepsee\u212a", "ſcripted", " openai", "openai\n", ""])
def test_look_up_folds_ascii_only_and_trims_nothing(token: str) -> None:
    assert capabilities.of(token) == CONSERVATIVE


@given(TOKENS, ROWS)
def test_an_override_replaces_the_whole_row_whatever_the_case(
    token: str, new: Capabilities
) -> None:
    as_table = {flag: getattr(new, flag) for flag in FLAGS}
    for overrides in ({token: new}, {token: as_table}):
        for name in (token, ascii_lower(token)):
            assert capabilities.of(name, overrides) == new


@given(ROWS)
def test_an_override_leaves_other_tokens_alone(new: Capabilities) -> None:
    for token, marks in {**PINNED, **OURS, "unheard-of": "––✓–"}.items():
        assert capabilities.of(token, {"elsewhere": new}) == row(marks)


@pytest.mark.parametrize(
    ("token", "marks", "effective"),
    [("ollama", "✓✓✓✓", Mode.STRICT), ("openai", "–✓✓✓", Mode.LENIENT)],
)
def test_an_override_can_upgrade_and_downgrade(token: str, marks: str, effective: Mode) -> None:
    assert capabilities.mode_for(token, Strictness.ON).effective is not effective
    assert capabilities.mode_for(token, Strictness.ON, {token: table(marks)}).effective is effective


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        *(
            (
                {"openai": {k: v for k, v in table("✓✓✓✓").items() if k != flag}},
                f".openai.{flag} must be",
            )
            for flag in FLAGS
        ),
        ({"openai": {}}, ".openai.supports_citations must be"),
        (
            {"openai": {**table("✓✓✓✓"), "supports_magic": True}},
            ".openai.supports_magic is unknown",
        ),
        ({"openai": {**table("✓✓✓✓"), "supports_seed": 1}}, ".openai.supports_seed must be"),
        ({"openai": {**table("✓✓✓✓"), "supports_seed": None}}, ".openai.supports_seed must be"),
        ({"openai": {**table("✓✓✓✓"), "supports_seed": "true"}}, ".openai.supports_seed must be"),
        ({"openai": True}, ".openai must be a table"),
        ({"X": table("✓✓✓✓"), "x": table("✓✓✓✓")}, " names x twice"),
        ({"X": row("✓✓✓✓"), "x": row("––––")}, " names x twice"),
    ],
)
def test_a_wrong_override_is_a_configuration_error_that_names_the_key(
    overrides: Mapping[str, object], message: str
) -> None:
    typed: Overrides = overrides  # type: ignore[assignment]  # TOML may hold anything
    for read in (
        lambda: capabilities.read_overrides(typed),
        lambda: capabilities.of("openai", typed),
        lambda: capabilities.of("groq", typed),
        lambda: capabilities.mode_for("openai", Strictness.ON, typed),
    ):
        with pytest.raises(Misconfigured) as caught:
            read()
        assert caught.value.message.startswith(f"ask.capabilities{message}")


def test_overrides_are_read_by_lower_cased_token() -> None:
    read = capabilities.read_overrides({"OLLAMA": table("✓✓✓✓"), "mine": row("––––")})
    assert read == {"ollama": row("✓✓✓✓"), "mine": row("––––")}


@given(TOKENS, ROWS)
def test_lenient_is_always_allowed_and_never_warns(token: str, new: Capabilities) -> None:
    for overrides in (None, {token: new}):
        settled = capabilities.mode_for(token, Strictness.OFF, overrides)
        assert (settled.effective, settled.warning) == (Mode.LENIENT, None)


@pytest.mark.parametrize("token", [t for t, marks in {**PINNED, **OURS}.items() if marks[0] == "✓"])
def test_strict_with_a_citing_provider_is_allowed(token: str) -> None:
    settled = capabilities.mode_for(token.upper(), Strictness.ON)
    assert (settled.effective, settled.warning) == (Mode.STRICT, None)


@pytest.mark.parametrize(
    "token", ["ollama", "huggingface", "local", "custom", "unheard-of", "OLLAMA"]
)
def test_strict_with_a_provider_that_cannot_cite_falls_back_with_one_warning(token: str) -> None:
    settled = capabilities.mode_for(token, Strictness.ON)
    detail = f"{token.lower()} does not support citations: strict became lenient"
    assert settled.effective is Mode.LENIENT
    assert settled.warning == Notice("mode_fallback", detail)


def test_one_that_cannot_cite_says_that_support_is_not_enforced() -> None:
    settled = capabilities.mode_for("Ollama", Strictness.SUPPORTED)
    assert (settled.effective, settled.in_force) == (Mode.LENIENT, Strictness.OFF)
    assert settled.warning is not None
    assert settled.warning.kind == "mode_fallback"
    assert "ollama does not support citations: strict became lenient" in settled.warning.detail
    assert "STRICT SUPPORTED is not enforced" in settled.warning.detail


@pytest.mark.parametrize("strictness", Strictness)
def test_the_strictness_in_force_is_the_one_asked_for_where_one_can_cite(
    strictness: Strictness,
) -> None:
    settled = capabilities.mode_for("openai", capabilities.requested(strictness, Strictness.ON))
    mode = Mode.LENIENT if strictness is Strictness.OFF else Mode.STRICT
    assert (settled.effective, settled.in_force, settled.warning) == (mode, strictness, None)
    assert capabilities.requested(None, strictness) is strictness


@given(TOKENS, ROWS)
def test_strict_holds_exactly_for_those_who_cite_and_is_never_an_error(
    token: str, new: Capabilities
) -> None:
    settled = capabilities.mode_for(token, Strictness.ON, {token: new})
    assert (settled.effective is Mode.STRICT) == new.supports_citations
    assert (settled.warning is None) == new.supports_citations
    if settled.warning:
        assert settled.warning.kind == "mode_fallback"
        assert ascii_lower(token) in settled.warning.detail
        assert "strict" in settled.warning.detail.removeprefix(ascii_lower(token))
