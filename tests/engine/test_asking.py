"""One ASK end to end: the engine calls each rule with real values (contracts 1 to 15 and 20)."""

import json
from typing import Any

import pytest
from stage import ROWS, Player, Stage

import redask
from redask.core import errors
from redask.core.model import Answered, AnswerReset, AnswerToken, Event, Failed, SourcesFound
from redask.core.rules import determinism, fingerprint, prompt
from redask.core.rules.audit import answer_hash
from redask.core.settings import load
from redask.core.wire import frames
from redask.core.wire import json as canonical
from redask.engine.ask import NO_SOURCES
from redask.stores.relational.cached_answers import RelationalAnswerCache

FERRY = "When does the ferry leave?"


def last_row(db: redask.OpenDatabase) -> dict[str, Any]:
    return db.audit(1)[0].row


def rows(db: redask.OpenDatabase) -> int:
    return len(db.audit(1000))


def fingerprint_of(answer: redask.CitedAnswer) -> str:
    return fingerprint.of(
        (source.urn, fingerprint.content_version(source.payload)) for source in answer.sources_flat
    )


def bytes_of(answer: redask.CitedAnswer) -> bytes:
    return canonical.encode(answer.to_dict())


def test_an_answer_cites_what_was_in_the_prompt_and_leaves_one_row(harbour: Stage) -> None:
    player = Player("scripted", ["At nine [^1]."])
    db = harbour.open(player)
    answer = db.ask(FERRY)
    row = last_row(db)
    assert answer.answer == "At nine [^1]."
    assert answer.to_dict()["citations"] == [{"marker": 1, "urn": answer.sources_flat[0].urn}]
    assert rows(db) == 1
    assert row["ts"] == harbour.clock.now
    assert (row["tenant"], row["user"], row["role"]) == ("local", "local", "owner")
    assert row["question"] == FERRY
    assert row["sources_urns"] == [source.urn for source in answer.sources_flat]
    assert row["answer_hash"] == answer_hash(answer.answer)
    assert row["citations"] == [1]
    assert (row["prompt_tokens"], row["completion_tokens"]) == (100, 10)
    assert (row["validation_ok"], row["retry_count"], row["errors"]) == (True, 0, [])
    assert "answer" not in row


def test_the_provider_reads_the_assembled_prompt_and_the_settled_knobs(harbour: Stage) -> None:
    player = Player("openai", ["At nine [^1]."])
    db = harbour.open(player)
    answer = db.ask(FERRY)
    asked, knobs = player.calls[0]
    count = len(answer.sources_flat)
    system = prompt.system_part(count, count)
    assert asked == prompt.assemble(FERRY, answer.sources_flat, system)
    seed = determinism.derive_seed(FERRY, fingerprint_of(answer))
    assert (knobs.temperature, knobs.seed) == (0.0, determinism.narrow_to_signed(seed))
    assert last_row(db)["seed"] == knobs.seed
    assert db.explain(FERRY)["determinism"] == {"seed": knobs.seed, "temperature": 0.0}


def test_a_provider_without_seed_leaves_null_in_the_row_and_no_key_in_the_plan(
    harbour: Stage,
) -> None:
    player = Player("anthropic", ["At nine [^1]."])
    db = harbour.open(player)
    db.ask(FERRY, seed=7)
    assert player.calls[0][1].seed is None
    assert last_row(db)["seed"] is None
    assert db.explain(FERRY, seed=7)["determinism"] == {"temperature": 0.0}


def test_zero_is_a_value_for_seed_and_temperature(harbour: Stage) -> None:
    player = Player("openai", ["At nine [^1]."])
    db = harbour.open(player, toml="[ask]\ndefault_temperature = 0.7")
    db.ask(FERRY, seed=0, temperature=0)
    assert (last_row(db)["seed"], last_row(db)["temperature"]) == (0, 0.0)
    db.ask(FERRY)
    assert last_row(db)["temperature"] == 0.7


def test_changing_one_row_changes_fingerprint_seed_and_cache_key(harbour: Stage) -> None:
    player = Player("openai", ["At nine [^1]."])
    db = harbour.open(player)
    before = db.ask(FERRY, cache={"ttl": "1h"})
    db.put("notes", [{**ROWS[0], "text": "The ferry to Amrum leaves at ten."}])
    after = db.ask(FERRY, cache={"ttl": "1h"})
    assert fingerprint_of(before) != fingerprint_of(after)
    assert player.calls[0][1].seed != player.calls[1][1].seed
    assert not after.cache_hit


def test_the_same_question_over_the_same_data_is_the_same_to_the_byte(harbour: Stage) -> None:
    first = harbour.open(Player("scripted", ["At nine [^1]."]))
    second = harbour.open(Player("scripted", ["At nine [^1]."]))
    assert bytes_of(first.ask(FERRY)) == bytes_of(second.ask(FERRY))


def test_strict_with_a_provider_that_cannot_cite_falls_back_with_one_warning(
    harbour: Stage,
) -> None:
    db = harbour.open(Player("ollama", ["At nine [^9]."]))
    answer = db.ask(FERRY)
    assert answer.mode is redask.Mode.LENIENT
    assert [notice.kind for notice in answer.validation.warnings] == [
        "mode_fallback",
        "out_of_range",
        "uncited_claim",
    ]
    assert (last_row(db)["mode"], last_row(db)["citations"]) == ("lenient", [9])
    assert answer.to_dict()["citations"] == []
    assert db.explain(FERRY)["mode"] == "lenient"


def test_a_capability_override_makes_a_provider_cite(harbour: Stage) -> None:
    flags = ("citations", "seed", "temperature_zero", "streaming")
    table = "".join(f"supports_{flag} = true\n" for flag in flags)
    db = harbour.open(
        Player("ollama", ["At nine [^1]."]), toml=f"[ask.capabilities.ollama]\n{table}"
    )
    assert db.ask(FERRY).mode is redask.Mode.STRICT


def test_a_wrong_citation_is_retried_once_with_a_hint_before_the_same_prompt(
    harbour: Stage,
) -> None:
    player = Player("scripted", ["At nine [^9].", "At nine [^1]."])
    db = harbour.open(player)
    answer = db.ask(FERRY)
    (first, knobs), (second, knobs_again) = player.calls
    assert second.user.endswith(first.user)
    assert "- [out_of_range] [^9] points beyond" in second.user
    assert second.system == first.system
    assert knobs == knobs_again
    assert (answer.retry_count, answer.validation.ok) == (1, True)
    row = last_row(db)
    assert (row["retry_count"], row["errors"], row["prompt_tokens"]) == (1, [], 200)


def test_a_second_wrong_answer_is_refused_and_its_text_is_hashed_but_not_shown(
    harbour: Stage,
) -> None:
    db = harbour.open(Player("scripted", ["[^0] a", "[^7] secret"]))
    with pytest.raises(errors.Ungrounded) as caught:
        db.ask(FERRY)
    assert [notice.kind for notice in caught.value.errors] == ["out_of_range"]
    assert "secret" not in caught.value.message + caught.value.detail
    row = last_row(db)
    assert row["answer_hash"] == answer_hash("[^7] secret")
    assert (row["validation_ok"], row["retry_count"], row["citations"]) == (False, 1, [7])
    assert [error["kind"] for error in row["errors"]] == ["out_of_range"]


@pytest.mark.parametrize("text", ["[^0] a", "[^abc] a", "[^99] a"])
def test_every_kind_of_invented_marker_is_given_up_in_strict_and_warned_of_in_lenient(
    harbour: Stage, text: str
) -> None:
    db = harbour.open(Player("scripted", [text]))
    with pytest.raises(errors.Ungrounded):
        db.ask(FERRY)
    assert db.ask(FERRY, strict=False).validation.warnings


def test_the_retry_belongs_to_the_ask_a_later_provider_gets_the_plain_prompt(
    harbour: Stage,
) -> None:
    down = errors.ProviderFailed("openai", errors.Failure.SERVER, "down")
    first = Player("openai", ["[^9]", down])
    second = Player("groq", ["[^8]"])
    db = harbour.open(first, second)
    with pytest.raises(errors.Ungrounded):
        db.ask(FERRY)
    assert second.calls[0][0] == first.calls[0][0]
    kinds = [error["kind"] for error in last_row(db)["errors"]]
    assert kinds == ["provider_failed", "out_of_range"]


@pytest.mark.parametrize("failure", ["transport", "5xx", "timeout"])
def test_transport_server_and_time_failures_move_on_and_leave_a_trail(
    harbour: Stage, failure: str
) -> None:
    error = errors.ProviderFailed("openai", errors.Failure(failure), "gone")
    db = harbour.open(Player("openai", [error]), Player("groq", ["At nine [^1]."]))
    answer = db.ask(FERRY)
    assert answer.provider == "groq"
    assert last_row(db)["errors"] == [
        {"detail": f"openai: {failure}: gone", "kind": "provider_failed"}
    ]


def test_a_refusal_stops_the_walk_at_once(harbour: Stage) -> None:
    refused = errors.ProviderRefused("openai", "bad key")
    second = Player("groq", ["At nine [^1]."])
    db = harbour.open(Player("openai", [refused]), second)
    with pytest.raises(errors.ProviderRefused):
        db.ask(FERRY)
    assert second.calls == []
    row = last_row(db)
    assert [error["kind"] for error in row["errors"]] == ["provider_refused"]
    assert (row["provider"], row["answer_hash"]) == ("openai", answer_hash(""))


def test_when_all_providers_fail_every_attempt_is_listed(harbour: Stage) -> None:
    players = [
        Player(name, [errors.ProviderFailed(name, errors.Failure.TRANSPORT, "no route")])
        for name in ("openai", "groq")
    ]
    db = harbour.open(*players)
    with pytest.raises(errors.ProvidersExhausted) as caught:
        db.ask(FERRY)
    assert [attempt.provider for attempt in caught.value.attempts] == ["openai", "groq"]
    assert [error["kind"] for error in last_row(db)["errors"]] == ["provider_failed"] * 2


def test_using_chooses_the_providers_and_an_unknown_one_was_never_asked(harbour: Stage) -> None:
    first, second = Player("openai", ["a [^1]"]), Player("groq", ["b [^1]"])
    db = harbour.open(first, second)
    assert db.ask(FERRY, using="GROQ").provider == "groq"
    before = rows(db)
    with pytest.raises(errors.BadAsk):
        db.ask(FERRY, using="nobody")
    assert rows(db) == before


def test_an_unknown_provider_in_the_settings_is_misconfigured_and_audited(harbour: Stage) -> None:
    db = harbour.open(toml='[ask.providers]\ndefault = "nobody"')
    with pytest.raises(errors.Misconfigured):
        db.ask(FERRY)
    assert [error["kind"] for error in last_row(db)["errors"]] == ["misconfigured"]


def test_a_key_for_a_provider_that_is_not_installed_changes_nothing(
    harbour: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redask.providers.registry.find_spec", lambda _: None)
    keys = {"OPENAI_API_KEY": "sk-x", "GROQ_API_KEY": "x"}
    settings = load("", {**keys, "REDASK_EMBEDDER_NAME": "none"})
    with redask.open(harbour.directory, settings=settings) as db:
        assert db.ask(FERRY).provider == "extractive"
    with redask.open(
        harbour.directory, settings=settings, providers={"groq": Player("groq", ["a [^1]"])}
    ) as db:
        assert db.ask(FERRY).provider == "groq"


def test_without_sources_nobody_is_called_and_the_answer_says_so(stage: Stage) -> None:
    player = Player("scripted", ["never"])
    db = stage.open(player)
    answer = db.ask("Anything at all?")
    assert (answer.answer, player.calls) == (NO_SOURCES, [])
    assert [notice.kind for notice in answer.validation.warnings] == ["no_sources"]
    row = last_row(db)
    assert (row["validation_ok"], row["sources_urns"], row["cost_usd"]) == (True, [], 0.0)
    assert (row["provider"], row["model"], row["seed"]) == ("scripted", "player-1", None)


def test_sources_that_do_not_fit_are_dropped_from_the_tail_with_a_warning(harbour: Stage) -> None:
    player = Player("scripted", ["At nine [^1]."])
    whole = harbour.open(player).ask(FERRY)
    first = whole.sources_flat[0]
    limit = len(first.payload.encode()) + 1
    small = harbour.open(player, toml=f"[ask]\nmax_sources_bytes = {limit}").ask(FERRY)
    assert small.sources_flat == (first,)
    assert "sources_trimmed" in [notice.kind for notice in small.validation.warnings]
    assert player.calls[0][1].seed != player.calls[1][1].seed


@pytest.mark.parametrize("limit", ["max_sources_bytes", "max_prompt_tokens"])
def test_a_question_that_does_not_fit_with_its_first_source_is_refused(
    harbour: Stage, limit: str
) -> None:
    player = Player("scripted", ["never"])
    db = harbour.open(player, toml=f"[ask]\n{limit} = 5")
    with pytest.raises(errors.LimitExceeded) as caught:
        db.ask(FERRY)
    assert (caught.value.limit, player.calls) == (limit, [])
    assert [error["kind"] for error in last_row(db)["errors"]] == [limit]


def test_a_completion_that_is_too_long_is_refused(harbour: Stage) -> None:
    player = Player("scripted", ["At nine [^1]."], usage=(10, 5000))
    db = harbour.open(player)
    with pytest.raises(errors.LimitExceeded) as caught:
        db.ask(FERRY)
    assert caught.value.limit == "max_completion_tokens"
    assert last_row(db)["completion_tokens"] == 5000


def test_usage_that_nobody_reports_is_estimated_with_a_warning(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", ["At nine [^1]."], usage=(None, None)))
    answer = db.ask(FERRY)
    assert "usage_estimated" in [notice.kind for notice in answer.validation.warnings]
    assert answer.completion_tokens > 0
    assert answer.prompt_tokens == db.explain(FERRY)["estimated_cost"]["prompt_tokens"]


def test_explain_calls_nobody_and_writes_no_row(harbour: Stage) -> None:
    player = Player("scripted", ["never"])
    db = harbour.open(player, toml="[ask]\nmax_prompt_tokens = 1")
    plan = db.explain(FERRY, limit=2, min_score=0.01, depth=1)
    assert (player.calls, rows(db)) == ([], 0)
    assert plan["question"] == FERRY
    assert [step["bucket"] for step in plan["retrieval"]] == ["bm25", "vector", "graph"]
    assert {step["min_score"] for step in plan["retrieval"]} == {0.01}
    assert [source["rank"] for source in plan["sources"]] == [1]
    assert (plan["fusion"]["limit"], plan["depth"]) == (2, 1)


def test_a_system_collection_is_denied_and_audited(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", ["never"]))
    with pytest.raises(errors.Denied):
        db.ask(FERRY, collection="red_ask_audit")
    assert [error["kind"] for error in last_row(db)["errors"]] == ["denied"]


def test_a_bug_is_reported_without_its_text_and_audited_as_internal(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", [RuntimeError("password=hunter2")]))
    with pytest.raises(errors.AskError) as caught:
        db.ask(FERRY)
    assert caught.value.kind == "internal"
    assert caught.value.__cause__ is None
    assert "hunter2" not in json.dumps([caught.value.message, last_row(db)])
    assert [error["kind"] for error in last_row(db)["errors"]] == ["internal"]


def test_the_answer_is_in_the_row_only_when_the_settings_say_so(harbour: Stage) -> None:
    toml = '[ask.audit]\ninclude_answer = true\nquestion = "hash"'
    db = harbour.open(Player("scripted", ["At nine [^1]."]), toml=toml)
    db.ask(FERRY)
    row = last_row(db)
    assert (row["answer"], len(row)) == ("At nine [^1].", 21)
    assert row["question"] == f"sha256:{answer_hash(FERRY)}"


# --- the cache ---------------------------------------------------------------------------


def test_a_cached_answer_is_the_same_but_free_and_audited(harbour: Stage) -> None:
    player = Player("openai", ["At nine [^1]."], cost=0.25)
    db = harbour.open(player)
    first = db.ask(FERRY, cache={"ttl": "1h"})
    second = db.ask(FERRY, cache={"ttl": "1h"})
    free = {"cache_hit": True, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
    assert second.to_dict() == {**first.to_dict(), **free}
    assert len(player.calls) == 1
    row = last_row(db)
    assert (row["cache_hit"], row["cost_usd"], row["citations"]) == (True, 0.0, [1])
    assert row["seed"] == determinism.derive_seed(FERRY, fingerprint_of(first))
    assert row["sources_urns"] == [source.urn for source in first.sources_flat]


@pytest.mark.parametrize("method", ["get", "put"])
def test_a_cache_that_fails_costs_the_answer_nothing(
    harbour: Stage, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def fail(*_: object) -> None:
        raise errors.StoreFailed("the disk is gone")

    monkeypatch.setattr(RelationalAnswerCache, method, fail)
    player = Player("openai", ["At nine [^1]."] * 2)
    db = harbour.open(player)
    for asked in (1, 2):
        assert not db.ask(FERRY, cache={"ttl": "1h"}).cache_hit
        assert len(player.calls) == asked
        assert last_row(db)["errors"] == []


def test_a_cached_answer_expires_at_its_ttl(harbour: Stage) -> None:
    player = Player("openai", ["At nine [^1]."])
    db = harbour.open(player)
    db.ask(FERRY, cache={"ttl": "60s"})
    harbour.clock.now += 60 * 10**9 - 1
    assert db.ask(FERRY, cache={"ttl": "1s"}).cache_hit
    harbour.clock.now += 1
    assert not db.ask(FERRY, cache={"ttl": "1d"}).cache_hit


def test_nocache_and_the_default_bypass_the_cache(harbour: Stage) -> None:
    player = Player("openai", ["At nine [^1]."])
    db = harbour.open(player, toml='[ask.cache]\nenabled = true\ndefault_ttl = "1h"')
    db.ask(FERRY)
    assert db.ask(FERRY).cache_hit
    assert not db.ask(FERRY, nocache=True).cache_hit
    plain = harbour.open(player)
    assert not plain.ask(FERRY).cache_hit


def test_a_lenient_answer_with_bad_markers_is_no_hit_for_a_strict_ask(harbour: Stage) -> None:
    player = Player("scripted", ["bad [^9]", "good [^1]"])
    db = harbour.open(player)
    db.ask(FERRY, strict=False, cache={"ttl": "1h"})
    answer = db.ask(FERRY, cache={"ttl": "1h"})
    assert (answer.cache_hit, answer.answer) == (False, "good [^1]")


def test_failures_and_empty_findings_are_not_cached(harbour: Stage) -> None:
    player = Player("scripted", ["[^9]"])
    db = harbour.open(player)
    for _ in range(2):
        with pytest.raises(errors.Ungrounded):
            db.ask(FERRY, cache={"ttl": "1h"})
        assert not db.ask("zzzz qqqq", cache={"ttl": "1h"}).cache_hit
    assert len(player.calls) == 4


# --- money -------------------------------------------------------------------------------


def test_the_daily_cap_counts_what_was_spent_today_and_forgets_tomorrow(harbour: Stage) -> None:
    player = Player("openai", ["At nine [^1]."], cost=0.4)
    db = harbour.open(player, toml="[ask]\ndaily_cost_cap_usd = 1.0")
    assert db.ask(FERRY).cost_usd == 0.4
    db.ask(FERRY)
    with pytest.raises(errors.LimitExceeded) as caught:
        db.ask(FERRY)
    assert caught.value.limit == "daily_cost_cap_usd"
    assert last_row(db)["cost_usd"] == 0.0
    harbour.clock.now += 86_400 * 10**9
    assert db.ask(FERRY).cost_usd == 0.4


def test_with_a_cap_an_unknown_price_is_refused(harbour: Stage) -> None:
    player = Player("openai", ["At nine [^1]."], cost=None)
    db = harbour.open(player, toml="[ask]\ndaily_cost_cap_usd = 1.0")
    with pytest.raises(errors.LimitExceeded) as caught:
        db.ask(FERRY)
    assert (caught.value.limit, player.calls) == ("daily_cost_cap_usd", [])


# --- streams -----------------------------------------------------------------------------


def stream(db: redask.OpenDatabase, **options: object) -> list[Event]:
    return list(db.stream(FERRY, **options))


def test_a_stream_is_sources_tokens_and_the_verdict(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", [["At ", "nine ", "[^1]."]]))
    events = stream(db)
    assert [type(event) for event in events] == [SourcesFound, *[AnswerToken] * 3, Answered]


def test_a_folded_stream_is_the_envelope_to_the_byte_also_after_a_retry(harbour: Stage) -> None:
    pieces = [["At ", "ten [^9]."], ["At ", "nine [^1]."]]
    db = harbour.open(Player("scripted", pieces))
    events = stream(db)
    assert [event.reason for event in events if isinstance(event, AnswerReset)] == ["retry"]
    plain = harbour.open(Player("scripted", pieces)).ask(FERRY)
    folded = frames.fold(map(frames.of, events))
    assert canonical.encode(folded) == bytes_of(plain)


def test_a_provider_that_fails_after_tokens_is_followed_by_a_reset(harbour: Stage) -> None:
    lost = errors.ProviderFailed("openai", errors.Failure.TRANSPORT, "lost")
    db = harbour.open(Player("openai", [["At ", lost]]), Player("groq", ["At nine [^1]."]))
    events = stream(db)
    assert [event.reason for event in events if isinstance(event, AnswerReset)] == ["failover"]
    assert frames.fold(map(frames.of, events))["answer"] == "At nine [^1]."


def test_without_streaming_the_answer_is_one_token(harbour: Stage) -> None:
    db = harbour.open(Player("huggingface", [["At ", "nine."]]))
    texts = [event.text for event in stream(db) if isinstance(event, AnswerToken)]
    assert texts == ["At nine."]


def test_a_cache_hit_streams_sources_one_token_and_the_verdict(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", [["At ", "nine [^1]."]]))
    stream(db, cache={"ttl": "1h"})
    events = stream(db, cache={"ttl": "1h"})
    assert [type(event) for event in events] == [SourcesFound, AnswerToken, Answered]


def test_a_failure_after_the_first_event_ends_the_stream_in_failed(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", ["[^9]"]))
    last = stream(db)[-1]
    assert isinstance(last, Failed)
    assert frames.of(last).payload["code"] == 422


def test_a_failure_before_the_first_event_is_raised(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", ["never"]))
    with pytest.raises(errors.Denied):
        stream(db, collection="red_x")


def test_an_endless_stream_is_cut_at_the_completion_limit(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", [["word "] * 5000]))
    events = stream(db)
    assert isinstance(events[-1], Failed)
    assert len(events) < 1100
    assert [error["kind"] for error in last_row(db)["errors"]] == ["max_completion_tokens"]
    assert last_row(db)["answer_hash"] == answer_hash("")


def test_the_row_exists_before_the_last_event(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", ["At nine [^1]."]))
    counts = [(type(event), rows(db)) for event in db.stream(FERRY)]
    assert counts[-1] == (Answered, 1)
