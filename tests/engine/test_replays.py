"""Asking again: each kind of change gives its verdict, and what did not change is equal."""

from typing import Any

import pytest
from stage import DAY_NS, ROWS, Player, Stage

import redask
from redask.core import errors
from redask.core.rules import prompt
from redask.core.rules.audit_chain import Intact
from redask.core.rules.auditing.replay_report import ReplayReport
from redask.index import SearchIndex

FERRY = "When does the ferry to Amrum leave?"
COUNT = "How many notes are there?"
FIRST = "urn:reddb:row:notes/1"
FAILURES: dict[str, tuple[list[Any], type[errors.AskError]]] = {
    "ungrounded": (["x [^9].", "x [^9]."], errors.Ungrounded),
    "refused by the provider": ([errors.ProviderRefused("scripted", "no")], errors.ProviderRefused),
}


def newest(db: redask.OpenDatabase, *, live: bool = False) -> ReplayReport:
    """The replay of the last row."""
    return db.replay(db.audit(1)[0].seq, live=live)


def told(report: ReplayReport) -> tuple[str, list[str], bool | None]:
    assert report.verdict == (report.changes[0] if report.changes else report.verdict)
    return report.verdict.value, [each.value for each in report.changes], report.same_prompt


def changes(report: ReplayReport) -> dict[str, str]:
    return {each.urn: each.change.value for each in report.sources}


EQUAL: tuple[str, list[str], bool | None] = ("equal", [], True)


@pytest.mark.parametrize(
    ("question", "options"),
    [
        (FERRY, {}),
        (FERRY, {"limit": 1, "depth": 0, "min_score": 0.01, "collection": ["notes"]}),
        (FERRY, {"strict": False, "temperature": 0.5, "seed": 7, "plan": "off"}),
        (COUNT, {}),
        (COUNT, {"plan": "only"}),
        ("How many notes are left-handed?", {}),
        ("What is the shoe size of the captain in Tokyo?", {}),
        ("xyzzy", {"min_score": 1.0}),
    ],
)
def test_an_ask_over_the_same_data_is_equal(
    harbour: Stage, question: str, options: dict[str, Any]
) -> None:
    db = harbour.open()
    db.ask(question, **options)
    assert told(newest(db)) == EQUAL
    again = harbour.open()  # another process would see the same
    assert told(newest(again, live=True)) == EQUAL
    assert newest(again).answer is None


def test_a_changed_source_is_named_and_a_deleted_one_and_a_new_one(harbour: Stage) -> None:
    db = harbour.open()
    db.ask(FERRY, plan="off")
    seq = db.audit(1)[0].seq
    assert len(db.audit(1)[0].row["sources_urns"]) > 1  # type: ignore[arg-type]
    db.put("notes", [{**ROWS[0], "text": "The ferry to Amrum leaves at ten."}])
    report = db.replay(seq)
    assert told(report) == ("sources_changed", ["sources_changed"], False)
    assert changes(report)[FIRST] == "changed"
    db.delete(FIRST)
    assert changes(db.replay(seq))[FIRST] == "gone"
    db.put("notes", ROWS)
    assert told(db.replay(seq)) == EQUAL
    [new] = db.put("notes", [{"id": 9, "text": "The ferry to Amrum leaves, the ferry to Amrum."}])
    assert changes(db.replay(seq))[new] == "added"
    db.delete(new)
    assert told(db.replay(seq)) == EQUAL


def test_a_source_that_others_pushed_out_is_left_out(harbour: Stage) -> None:
    db = harbour.open()
    db.ask(FERRY, limit=1, plan="off")
    [new] = db.put("notes", [{"id": 9, "title": "Ferry to Amrum", "text": "Ferry to Amrum"}])
    assert changes(newest(db)) == {FIRST: "left_out", new: "added"}


def test_a_write_that_touches_no_source_changes_nothing(harbour: Stage) -> None:
    db = harbour.open()
    db.ask(FERRY, plan="off")
    db.put("other", [{"id": 1, "text": "Quite another thing"}])
    assert told(newest(db)) == EQUAL


def test_a_null_that_no_prompt_shows_is_no_change_of_the_prompt(harbour: Stage) -> None:
    db = harbour.open()
    db.ask(FERRY, plan="off")
    db.put("notes", [{**ROWS[0], "remark": None}])
    assert told(newest(db)) == EQUAL


def test_a_diff_is_shown_where_the_answer_cache_keeps_the_payload_of_then(harbour: Stage) -> None:
    db = harbour.open()
    db.ask(FERRY, plan="off", cache={"ttl": "5m"})
    seq = db.audit(1)[0].seq
    db.put("notes", [{**ROWS[0], "text": "The ferry to Amrum leaves at ten."}])
    [changed] = [each for each in db.replay(seq).sources if each.urn == FIRST]
    assert '- "text": "The ferry to Amrum leaves at nine.' in changed.diff
    assert '+ "text": "The ferry to Amrum leaves at ten.' in changed.diff
    live = db.replay(seq, live=True).answer
    assert live is not None
    assert "-[Ferry timetable] The ferry to Amrum leaves at nine." in live.diff


def test_another_policy_role_or_attribute_is_a_changed_policy(harbour: Stage) -> None:
    db = harbour.open()
    db.add_user("mia", role="support", attributes={"most": 2})
    db.set_policy("notes", {"read": [{"roles": ["support", "sales"], "rows": "id <= :user.most"}]})
    mia = db.signed_in(db.make_token("mia"))
    mia.ask(FERRY, plan="off")
    seq = db.audit(1)[0].seq
    policy = ("policy_changed", ["policy_changed"], True)
    assert told(db.replay(seq)) == told(mia.replay(1)) == EQUAL
    db.set_user("mia", role="sales")
    assert told(db.replay(seq)) == told(mia.replay(1)) == policy
    assert db.replay(seq).reasons == ("mia had the role support, and has sales",)
    db.set_user("mia", role="support", attributes={"most": 3})
    assert db.replay(seq).verdict == "policy_changed"
    db.set_user("mia", attributes={"most": 2})
    assert told(db.replay(seq)) == EQUAL
    db.set_policy("notes", {"read": [{"roles": ["support"], "rows": "id <= 1"}]})
    report = db.replay(seq)
    assert report.changes == ("policy_changed", "sources_changed")
    assert set(changes(report).values()) == {"gone"}
    db.set_policy("notes", {"read": [{"roles": ["support"], "hide": ["text"]}]})
    assert db.replay(seq).verdict == "policy_changed"
    db.set_policy("notes", {"read": [{"roles": ["sales"]}]})
    mia.ask(FERRY, plan="off")
    assert db.replay(seq).verdict == "policy_changed"
    db.remove_user("mia")
    assert db.replay(seq).reasons == ("there is no user mia any more",)


def test_a_rule_for_another_role_changes_nothing(harbour: Stage) -> None:
    db = harbour.open()
    db.add_user("mia", role="support")
    db.set_policy("notes", {"read": [{"roles": ["support"], "rows": "id <= 2"}]})
    db.signed_in(db.make_token("mia")).ask(FERRY, plan="off")
    db.ask(FERRY, plan="off")
    rules = [{"roles": ["support"], "rows": "id <= 2"}, {"roles": ["sales"], "rows": "id = 3"}]
    db.set_policy("notes", {"read": rules})
    db.set_policy("secrets", {"read": [{"roles": ["board"]}]})
    assert told(db.replay(2)) == EQUAL  # the owner reads all
    assert (
        db.replay(1).verdict == "policy_changed"
    )  # secrets are closed to mia, which they were not
    db.set_policy("secrets", None)
    assert told(db.replay(1)) == EQUAL


def test_a_collection_that_was_closed_since_is_a_changed_policy(harbour: Stage) -> None:
    db = harbour.open()
    db.add_user("mia", role="support")
    db.signed_in(db.make_token("mia")).ask(FERRY, collection=["notes"], plan="off")
    db.set_policy("notes", {"read": [{"roles": ["board"]}]})
    report = db.replay(1)
    assert report.verdict == "policy_changed"
    assert "not open to the role support" in report.reasons[0]


def test_another_embedder_or_layout_of_the_index_is_told(
    harbour: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = '[embedder]\nname = "hashed"'
    db = harbour.open(toml=hashed)
    db.embed(anew=True)
    db.ask(FERRY, plan="off")
    db.ask(COUNT)
    assert told(db.replay(1)) == EQUAL
    with monkeypatch.context() as changed:
        changed.setattr(SearchIndex, "layout", "99.1")
        assert told(db.replay(1)) == ("index_changed", ["index_changed"], True)
    db.close()
    without = harbour.open()
    report = without.replay(1)
    assert report.verdict == "index_changed"
    assert "hashed" in report.reasons[0]
    assert told(without.replay(2)) == EQUAL  # computed, so nothing was searched


def test_another_template_is_a_changed_prompt(
    harbour: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    harbour.open().ask(FERRY, plan="off")
    monkeypatch.setattr(prompt, "SYSTEM", "Answer well.")
    prompt.template_version.cache_clear()
    try:
        assert told(newest(harbour.open())) == ("prompt_changed", ["prompt_changed"], False)
    finally:
        prompt.template_version.cache_clear()


def test_another_setting_is_named(harbour: Stage) -> None:
    harbour.open().ask(FERRY, plan="off")
    db = harbour.open(toml="[ask]\nmax_sources_bytes = 90\n")
    report = newest(db)
    assert report.changes == ("settings_changed", "sources_changed")
    assert report.reasons[0] == "not as they were: ask.max_sources_bytes"
    timed = harbour.open(toml="[ask]\ntimeout_ms = 60000\n")  # which no prompt depends on
    assert told(newest(timed)) == EQUAL


def test_a_model_that_answers_otherwise_has_drifted_and_the_call_is_audited(
    harbour: Stage,
) -> None:
    player = Player("scripted", ["At nine [^1].", "At nine [^1].", "Nine o'clock [^1]."], cost=0.5)
    db = harbour.open(player, toml="[ask.audit]\ninclude_answer = true\n")
    db.ask(FERRY, plan="off")
    assert told(db.replay(1)) == EQUAL
    assert len(player.calls) == 1
    assert told(db.replay(1, live=True)) == EQUAL
    report = db.replay(1, live=True)
    assert told(report) == ("model_drifted", ["model_drifted"], True)
    assert report.answer is not None
    assert report.answer.diff.splitlines()[-2:] == ["-At nine [^1].", "+Nine o'clock [^1]."]
    assert player.calls[0] == player.calls[2]  # prompt and knobs
    assert [each.row["cost_usd"] for each in db.audit()] == [0.5, 0.5, 0.5]
    assert told(db.replay(3)) == EQUAL  # a replay is an ask, too
    assert isinstance(db.verify_audit(), Intact)


def test_a_live_replay_is_within_the_limits(harbour: Stage) -> None:
    player = Player("scripted", ["At nine [^1]."], cost=0.5)
    db = harbour.open(player, toml="[ask]\ndaily_cost_cap_usd = 0.7\n")
    db.ask(FERRY, plan="off")
    with pytest.raises(errors.LimitExceeded):
        db.replay(1, live=True)
    assert db.audit(1)[0].row["validation_ok"] is False


def test_another_answer_over_changed_sources_is_no_drift(harbour: Stage) -> None:
    player = Player("scripted", ["At nine [^1].", "At ten [^1]."])
    db = harbour.open(player)
    db.ask(FERRY, plan="off")
    db.put("notes", [{**ROWS[0], "text": "The ferry to Amrum leaves at ten."}])
    report = db.replay(1, live=True)
    assert report.changes == ("sources_changed",)
    assert (report.answer and report.answer.same, report.answer and report.answer.text) == (
        False,
        "At ten [^1].",
    )


def test_a_computed_answer_is_computed_again(harbour: Stage) -> None:
    db = harbour.open()
    db.ask(COUNT)
    assert told(newest(db)) == EQUAL
    db.put("notes", [{"id": 4, "title": "Tide", "text": "High at noon."}])
    report = newest(db)
    assert told(report) == ("sources_changed", ["sources_changed"], False)
    assert "changed" in changes(report).values()
    assert db.stale_answers().answers[0].seq == 1


def test_a_statement_by_a_model_is_run_again_and_not_written_anew(harbour: Stage) -> None:
    sql = "SELECT count(*) FROM notes WHERE length(text) > 3"
    player = Player("scripted", [sql, "There are 3 [^1]."])
    db = harbour.open(player)
    db.ask("How many notes are generously worded?")
    assert told(newest(db)) == EQUAL
    assert told(newest(db, live=True)) == EQUAL
    assert told(newest(db)) == EQUAL  # the row of the live one
    assert len(player.calls) == 3
    db.put("notes", [{"id": 4, "text": "High at noon."}])
    assert told(db.replay(1)) == ("sources_changed", ["sources_changed"], False)
    db.delete(*(f"urn:reddb:row:notes/{number}" for number in (1, 2, 3, 4)))
    report = db.replay(1)
    assert report.verdict == "sources_changed"


@pytest.mark.parametrize("replies", [["NONE", "At nine [^1]."], ["SELECT no", "SELECT no"]])
def test_a_model_that_wrote_no_statement_is_not_asked_again(
    harbour: Stage, replies: list[str]
) -> None:
    player = Player("scripted", replies)
    db = harbour.open(player)
    db.ask("How many notes are generously worded?")
    called = len(player.calls)
    assert told(newest(db)) == EQUAL
    assert len(player.calls) == called


def test_a_follow_up_is_replayed_as_it_was_understood(harbour: Stage) -> None:
    db = harbour.open(Player("scripted", ["14 euros [^1]."]))
    talk = [{"question": FERRY, "answer": "At nine. [^1]"}]
    db.ask("And its price?", history=talk, plan="off")
    assert told(newest(db)) == EQUAL
    assert told(newest(db, live=True)) == EQUAL
    live = db.audit(1)[0]
    assert (live.row["question"], live.understood) == ("And its price?", db.audit(2)[1].understood)


def test_the_date_that_a_prompt_told_is_the_one_of_then(harbour: Stage) -> None:
    db = harbour.open()
    db.ask("Which ferry leaves today?", plan="off")
    assert db.audit(1)[0].today
    harbour.clock.now += 40 * DAY_NS
    assert told(newest(db)) == EQUAL


def test_a_hit_of_the_cache_is_replayed_like_any_answer(harbour: Stage) -> None:
    player = Player("scripted", ["At nine [^1].", "Otherwise [^1]."])
    db = harbour.open(player)
    for _ in range(2):
        db.ask(FERRY, plan="off", cache={"ttl": "5m"})
    assert db.audit(1)[0].row["cache_hit"] is True
    assert told(newest(db)) == EQUAL
    report = newest(db, live=True)
    assert report.verdict == "model_drifted"  # the provider was asked, not the cache
    assert report.answer is not None
    assert "-At nine [^1]." in report.answer.diff


@pytest.mark.parametrize("kind", FAILURES)
def test_a_failed_ask_whose_prompt_was_made_is_replayed_and_has_no_answer(
    harbour: Stage, kind: str
) -> None:
    replies, failure = FAILURES[kind]
    player = Player("scripted", replies)
    db = harbour.open(player)
    with pytest.raises(failure):
        db.ask(FERRY, plan="off")
    assert told(newest(db)) == EQUAL
    called = len(player.calls)
    report = newest(db, live=True)
    assert (told(report), report.answer, len(player.calls)) == (EQUAL, None, called)
    assert report.reasons == ("there was no answer to compare one with",)


def test_an_ask_that_failed_before_cannot_be_replayed(harbour: Stage) -> None:
    db = harbour.open()
    with pytest.raises(errors.Denied):
        db.ask(FERRY, collection=["red_ask_audit"])
    report = newest(db)
    assert report.verdict == "not_replayable"
    assert report.reasons == ("it ended before its sources were found: denied",)


def test_a_question_that_is_kept_as_a_hash_cannot_be_replayed(harbour: Stage) -> None:
    db = harbour.open(toml='[ask.audit]\nquestion = "hash"')
    db.ask(FERRY, plan="off")
    report = newest(db)
    assert (report.verdict, report.same_prompt) == ("not_replayable", None)
    assert "hash" in report.reasons[0]
    db.put("notes", [{**ROWS[0], "text": "The ferry to Amrum leaves at ten."}])
    assert [each.seq for each in db.stale_answers().answers] == [1]  # which needs no question


def test_a_question_that_looks_like_a_hash_is_replayed(harbour: Stage) -> None:
    db = harbour.open()
    db.ask(f"sha256:{'a' * 64}", plan="off")
    assert told(newest(db)) == EQUAL


@pytest.mark.parametrize("seq", [0, -1, 99, True, "1"])
def test_a_row_that_is_not_there_is_told(harbour: Stage, seq: Any) -> None:
    with pytest.raises(errors.BadAsk):
        harbour.open().replay(seq)


def test_synonyms_are_settings_of_an_answer(harbour: Stage) -> None:
    harbour.open().ask(COUNT)
    (harbour.directory / "synonyms.toml").write_text('[tables]\nnotes = ["slips"]\n')
    report = newest(harbour.open())
    assert report.reasons == ("not as they were: synonyms.toml",)


def test_a_replay_is_in_the_access_log(harbour: Stage) -> None:
    db = harbour.open(toml="[access_log]\nsearch = false\nselect = false\n")
    db.ask(FERRY, plan="off")
    db.replay(1)
    row = db.audit(1, log="access")[0].row
    assert (row["action"], row["subject"], row["outcome"]) == ("replay", "row 1", "ok")
