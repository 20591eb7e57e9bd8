"""Who may replay which row, and what they are shown: never more than they may read."""

import json

import pytest
from stage import ROWS, Stage

import redask
from redask.api.asynchronous import AsyncDatabase
from redask.api.sync import OpenDatabase
from redask.core.errors import BadAsk, Denied
from redask.core.model import Caller

QUESTION = "Who gets a bonus of 900?"
SECRETS = [{"id": 1, "name": "Ann", "text": "Ann gets a bonus of 900."}]
POLICY = {"read": [{"roles": ["board"]}]}


@pytest.fixture
def office(stage: Stage) -> redask.OpenDatabase:
    """Mia, of the board, asked about what only the board reads; Ada audits, Leo sells."""
    db = stage.open()
    db.put("notes", ROWS)
    db.put("bonuses", SECRETS)
    db.set_policy("bonuses", POLICY)
    for name, role in (("mia", "board"), ("ada", "auditor"), ("leo", "sales")):
        db.add_user(name, role=role)
    as_user(db, "leo").ask("When does the ferry leave?", plan="off")
    as_user(db, "mia").ask(QUESTION, plan="off", cache={"ttl": "5m"})
    return db


def as_user(db: redask.OpenDatabase, name: str) -> redask.OpenDatabase:
    return db.signed_in(db.make_token(name))


def as_caller(db: redask.OpenDatabase, caller: Caller) -> redask.OpenDatabase:
    return OpenDatabase(AsyncDatabase(db._async._app, caller, shared=True), db._loop)


def test_a_user_replays_own_rows_by_own_numbers(office: redask.OpenDatabase) -> None:
    assert as_user(office, "mia").replay(1).verdict == "equal"
    assert as_user(office, "leo").replay(1).verdict == "equal"
    for name in ("mia", "leo"):
        with pytest.raises(BadAsk, match="there is no audit row 2"):
            as_user(office, name).replay(2)
    assert office.replay(2).verdict == as_user(office, "ada").replay(2).verdict == "equal"


def test_an_auditor_sees_the_verdict_and_nothing_that_only_others_may_read(
    office: redask.OpenDatabase,
) -> None:
    [new] = office.put("bonuses", [{"id": 7, "text": "Bonus 900, 900, 900: who gets it?"}])
    office.put("bonuses", [{**SECRETS[0], "text": "Ann gets a bonus of 900, or of 950."}])
    shown = as_user(office, "ada").replay(2)
    seen = json.dumps(shown.plain())
    assert (shown.verdict, shown.hidden) == ("sources_changed", 1)
    assert {each.urn: each.change.value for each in shown.sources} == {
        "urn:reddb:row:bonuses/1": "changed"
    }
    assert new not in seen
    assert "950" not in seen
    whole = office.replay(2)
    assert new in [each.urn for each in whole.sources]
    assert "950" in json.dumps(whole.plain())  # the diff, of the answer cache's payload
    assert "950" in json.dumps(as_user(office, "mia").replay(1).plain())


def test_an_auditor_sees_new_sources_that_they_may_read(office: redask.OpenDatabase) -> None:
    [new] = office.put("notes", [{"id": 9, "text": "Bonus 900, 900, 900: who gets it?"}])
    shown = as_user(office, "ada").replay(2)
    assert (shown.hidden, [each.urn for each in shown.sources if each.change == "added"]) == (
        0,
        [new],
    )


def test_an_auditor_does_not_see_a_statement_that_is_new(office: redask.OpenDatabase) -> None:
    as_user(office, "mia").ask("How many people have a wage of 900?")
    people = [{"id": n, "name": f"n{n}", "wage": 900 + n} for n in range(4)]
    office.put("people", people)
    office.set_policy("people", POLICY)
    office.set_policy("people", None)  # so that mia reads what she did, and the data is new
    whole = office.replay(3)
    assert whole.verdict == "sources_changed"
    [statement] = [each.urn for each in whole.sources if ":query:" in each.urn]
    assert "wage" in statement
    shown = as_user(office, "ada").replay(3)
    assert (shown.verdict, shown.hidden > 0) == ("sources_changed", True)
    assert "wage" not in json.dumps(shown.plain())


def test_only_the_owner_and_who_asked_may_ask_the_provider_again(
    office: redask.OpenDatabase,
) -> None:
    with pytest.raises(Denied):
        as_user(office, "ada").replay(2, live=True)
    rows = len(office.audit())
    for who, seq in ((office, 2), (as_user(office, "mia"), 1)):
        assert who.replay(seq, live=True).verdict == "equal"
    users = [each.row["user"] for each in office.audit()]
    assert (len(users) - rows, users[:2]) == (2, ["mia", "local"])


def test_what_a_policy_hides_now_is_in_no_diff(office: redask.OpenDatabase) -> None:
    office.put("bonuses", [{**SECRETS[0], "text": "Ann gets a bonus of 950, not of 900."}])
    mia = as_user(office, "mia")
    assert "-" in mia.replay(1).sources[0].diff
    office.set_policy("bonuses", {"read": [{"roles": ["board"], "hide": ["name"]}]})
    report = mia.replay(1)
    assert report.verdict == "policy_changed"
    assert all(not each.diff for each in report.sources)


def test_what_is_kept_is_shown_to_nobody(office: redask.OpenDatabase) -> None:
    for who in (office, as_user(office, "ada"), as_user(office, "mia")):
        [entry] = who.audit(1)
        shown = repr(entry)
        assert "fingerprint" not in shown
        assert "provenance" not in shown


def test_an_auditor_finds_stale_answers_and_a_user_own_ones(office: redask.OpenDatabase) -> None:
    assert office.stale_answers().answers == ()
    office.put("bonuses", [{**SECRETS[0], "text": "Ann gets a bonus of 950."}])
    for who, seq in ((office, 2), (as_user(office, "ada"), 2), (as_user(office, "mia"), 1)):
        [stale] = who.stale_answers().answers
        assert (stale.seq, stale.sources) == (seq, (("urn:reddb:row:bonuses/1", "changed"),))
    assert as_user(office, "leo").stale_answers().answers == ()


def test_a_source_that_its_reader_may_not_read_any_more_is_gone(
    office: redask.OpenDatabase,
) -> None:
    office.set_user("mia", role="sales")
    [stale] = office.stale_answers().answers
    assert stale.sources == (("urn:reddb:row:bonuses/1", "gone"),)
    office.set_user("mia", role="board")
    assert office.stale_answers().answers == ()
    office.remove_user("mia")
    assert office.stale_answers().answers == ()  # nothing of it changed
    office.delete("urn:reddb:row:bonuses/1")
    [stale] = office.stale_answers().answers
    assert stale.sources == (("urn:reddb:row:bonuses/1", "gone"),)


def test_a_user_of_an_identity_provider_is_replayed_with_what_it_said_then(
    office: redask.OpenDatabase,
) -> None:
    rule = {"roles": ["board"], "rows": "id = :user.only"}
    office.set_policy("bonuses", {"read": [rule]})
    zoe = Caller("local", "zoe", "board", (("only", 1), ("teams", ("a", "b"))))
    as_caller(office, zoe).ask(QUESTION, plan="off")
    assert office.replay(3).verdict == "equal"
    assert as_caller(office, zoe).replay(1).verdict == "equal"
    moved = Caller("local", "zoe", "board", (("only", 2), ("teams", ("a", "b"))))
    assert as_caller(office, moved).replay(1).verdict == "policy_changed"
    assert office.replay(3).verdict == "equal"  # nobody here knows what is said of zoe now


def test_tenants_replay_their_own_rows_only(office: redask.OpenDatabase) -> None:
    other = as_caller(office, Caller("acme", "local", "owner"))
    with pytest.raises(BadAsk):
        other.replay(1)
    other.ask(QUESTION)
    assert other.replay(1).verdict == "equal"
    assert other.stale_answers().rows == 1


def test_stale_answers_are_looked_for_page_by_page(office: redask.OpenDatabase) -> None:
    office.put("bonuses", [{**SECRETS[0], "text": "Ann gets a bonus of 950."}])
    first = office.stale_answers(limit=1)
    assert (first.rows, len(first.answers), first.next) == (1, 1, 2)
    second = office.stale_answers(limit=1, before=first.next)
    assert (second.rows, second.answers, second.next) == (1, (), 1)
    assert office.stale_answers(before=1).rows == 0
    for limit in (0, 1001, True):
        with pytest.raises(BadAsk):
            office.stale_answers(limit=limit)
