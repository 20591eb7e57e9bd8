"""Statements that a model writes: good, bad, hostile, empty; each ends as promised."""

import json
from pathlib import Path
from typing import Any

import pytest
from stage import Player, Stage

import redask
from redask.core.errors import Failure, LimitExceeded, ProviderFailed, ProvidersExhausted

CUSTOMERS = [
    {"id": 1, "name": "Ada", "country": "Brazil", "credit": 100},
    {"id": 2, "name": "Bo", "country": "Brazil", "credit": 250},
    {"id": 3, "name": "Cleo", "country": "Norway", "credit": 70},
]
UNCLEAR = "How many customers are generously financed?"
GOOD = "```sql\nSELECT count(*) FROM customers WHERE credit > 90\n```"
SAID = "There are 2 such customers [^1]."


@pytest.fixture
def shop(stage: Stage) -> Stage:
    with redask.open(stage.directory, embedder="none") as db:
        db.put("customers", CUSTOMERS)
    return stage


def result(answer: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer.sources_flat[0].payload)
    return found


def test_a_model_writes_the_statement_and_answers_from_its_result(shop: Stage) -> None:
    player = Player("scripted", [GOOD, SAID])
    db = shop.open(player)
    answer = db.ask(UNCLEAR)
    assert answer.answer == SAID
    assert result(answer)["rows"] == [[2]]
    assert result(answer)["sql"] == "SELECT count(*) FROM customers WHERE credit > 90"
    assert (answer.prompt_tokens, answer.completion_tokens) == (200, 20)
    asked = player.calls[0][0].user
    assert '"credit"' in asked
    assert "3 rows" in asked


def test_the_deterministic_plan_wins_where_it_is_certain(shop: Stage) -> None:
    player = Player("scripted", ["There are 2 customers [^1]."])
    shop.open(player).ask("How many customers live in Brazil?")
    assert len(player.calls) == 1


def test_a_statement_that_fails_is_refined_once_with_its_problem(shop: Stage) -> None:
    player = Player("scripted", ["SELECT count(*) FROM customers WHERE kredit > 9", GOOD, SAID])
    answer = shop.open(player).ask(UNCLEAR)
    assert answer.answer == SAID
    assert "column &quot;kredit&quot; does not exist" in player.calls[1][0].user.replace(
        '"', "&quot;"
    )


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT nothing FROM customers", "does not exist"),
        ("DELETE FROM customers", ""),
        ("SELECT * FROM red_ask_audit", "red_ask_audit"),
        ("SELECT relname FROM pg_catalog.pg_class", "pg_class"),
        ("SELECT count(*) FROM customers WHERE now() > '2020-01-01'", "clock"),
        ("SELECT 1; SELECT 2", ""),
        ("SELECT count(*) FROM customers WHERE credit > $1", "parameters"),
        ("SELECT * FROM read_csv('/etc/passwd')", "read_csv"),
        ("I would rather not.", ""),
        ("EXPLAIN SELECT name FROM customers", ""),
        ("VALUES (1)", "no SELECT"),
        ("SELECT 2", "reads no table"),
        ("SELECT set_config('a', 'b', false) FROM customers", "set_config"),
        ("WITH x AS (DELETE FROM customers RETURNING *) SELECT * FROM x", "data-modifying"),
        ("SELECT 1; DROP TABLE customers", "multiple commands"),
        ("SELECT a.id FROM customers a, generate_series(1, 9999999) b", "more than 10000 rows"),
        ("\x00", ""),
    ],
)
def test_a_statement_that_may_not_run_is_refused_after_one_more_try(
    shop: Stage, sql: str, problem: str
) -> None:
    player = Player("scripted", [sql])
    db = shop.open(player)
    answer = db.ask(UNCLEAR)
    assert len(player.calls) == 2
    (warning,) = answer.validation.warnings
    assert warning.kind == "refused"
    assert problem in warning.detail
    assert result(answer)["rows"] == []
    assert answer.citations == ()
    assert [row["id"] for row in db.select("SELECT id FROM customers")] == [1, 2, 3]


def test_a_table_that_is_not_the_callers_is_a_refusal_and_not_an_error(shop: Stage) -> None:
    with redask.open(shop.directory, embedder="none") as owner:
        owner.put("secrets", [{"id": 1, "text": "xyzzy"}])
        owner.set_policy("secrets", {"read": [{"roles": ["spy"]}]})
        owner.add_user("mia", role="reader")
        token = owner.make_token("mia")
    player = Player("scripted", ["SELECT text FROM secrets"])
    answer = shop.open(player).signed_in(token).ask(UNCLEAR)
    assert answer.validation.warnings[0].detail == (
        "not_computable: it reads a table that is not in the schema"
    )
    assert len(player.calls) == 2
    assert "secrets" not in player.calls[0][0].user


@pytest.mark.parametrize("comment", ["/* ; DROP TABLE customers */", "-- EXPLAIN"])
def test_a_comment_is_left_out_of_the_statement(shop: Stage, comment: str) -> None:
    player = Player("scripted", [f"{comment}\nSELECT count(*) FROM customers {comment}", "3 [^1]"])
    assert result(shop.open(player).ask(UNCLEAR))["sql"] == "SELECT count(*) FROM customers"


def test_an_endless_statement_ends_at_its_deadline(shop: Stage) -> None:
    sql = (
        "SELECT count(*) FROM customers a, customers b, customers c, customers d, customers e,"
        " customers f, customers g, customers h, customers i, customers j, customers k,"
        " customers l, customers m, customers n, customers o, customers p, customers q,"
        " customers r, customers s, customers t, customers u"
    )
    player = Player("scripted", [sql])
    answer = shop.open(player, toml="[select]\ntimeout_ms = 300\n").ask(UNCLEAR)
    assert answer.validation.warnings[0].kind == "refused"


def test_an_empty_result_is_tried_once_more_and_then_stands(shop: Stage) -> None:
    empty = "SELECT name FROM customers WHERE credit > 999"
    player = Player("scripted", [empty, empty, "Nobody is [^1]."])
    answer = shop.open(player).ask(UNCLEAR)
    assert result(answer)["row_count"] == 0
    assert answer.answer == "Nobody is [^1]."
    assert len(player.calls) == 3


def test_none_means_search_as_ever(shop: Stage) -> None:
    player = Player("scripted", ["NONE", "Ada is a customer [^1]."])
    answer = shop.open(player).ask(UNCLEAR)
    assert all(source.urn.startswith("urn:reddb:row:") for source in answer.sources_flat)


def test_a_second_statement_is_written_only_where_steps_allow_it(shop: Stage) -> None:
    second = "SELECT name FROM customers WHERE credit > 90 ORDER BY credit DESC LIMIT 1"
    player = Player("scripted", [GOOD, second, "There are 2 [^1], first Bo [^2]."])
    answer = shop.open(player).ask(UNCLEAR, steps=2)
    told = [json.loads(source.payload) for source in answer.sources_flat]
    assert [each["rows"] for each in told] == [[[2]], [["Bo"]]]
    assert told[1]["sql"].endswith("FETCH FIRST 1 ROWS WITH TIES")
    assert "&lt;" not in player.calls[0][0].user
    assert '"row_count":1' in player.calls[1][0].user


def test_explain_says_that_a_model_would_write_it_and_calls_nobody(shop: Stage) -> None:
    player = Player("scripted", [GOOD, SAID])
    plan = shop.open(player).explain(UNCLEAR)
    assert plan["query"] == {"coverage": 0.0, "intent": "a statement by a model", "sql": None}
    assert player.calls == []


def test_a_reply_is_kept_in_the_answer_cache(shop: Stage) -> None:
    player = Player("scripted", [GOOD, SAID])
    db = shop.open(player)
    db.ask(UNCLEAR, cache={"ttl": "5m"})
    again = db.ask(UNCLEAR, cache={"ttl": "5m"})
    assert again.cache_hit
    assert len(player.calls) == 2


def test_numbers_that_are_no_cells_are_sent_back_and_then_refused(shop: Stage) -> None:
    player = Player("scripted", [GOOD, "There are 3 such customers [^1].", SAID])
    answer = shop.open(player).ask(UNCLEAR)
    assert answer.answer == SAID
    assert answer.retry_count == 1
    assert "3" in player.calls[2][0].user.partition("<sources>")[0]
    stubborn = Player("scripted", [GOOD, "There are 3 such customers [^1]."])
    with pytest.raises(redask.AskError) as refused:
        shop.open(stubborn).ask(UNCLEAR)
    assert refused.value.kind == "ungrounded"


def test_a_number_without_a_marker_must_be_a_cell_as_well(shop: Stage) -> None:
    player = Player("scripted", [GOOD, "There are 3 such customers.", SAID])
    answer = shop.open(player).ask(UNCLEAR)
    assert (answer.answer, answer.retry_count) == (SAID, 1)
    assert "3 is not in the result" in player.calls[2][0].user.partition("<sources>")[0]


def test_numbers_that_are_no_cells_are_a_warning_in_lenient_mode(shop: Stage) -> None:
    player = Player("scripted", [GOOD, "There are 3 such customers [^1]."])
    answer = shop.open(player).ask(UNCLEAR, strict=False)
    assert "unsupported_claim" in [warning.kind for warning in answer.validation.warnings]


def test_the_next_provider_writes_it_when_the_first_fails(shop: Stage) -> None:
    down = ProviderFailed("openai", Failure.SERVER, "down")
    first, second = Player("openai", [down]), Player("scripted", [GOOD, SAID])
    db = shop.open(first, second)
    answer = db.ask(UNCLEAR)
    assert answer.answer == SAID
    assert "provider_failed" in str(db.audit(1)[0].row["errors"])


def test_when_every_provider_fails_the_ask_fails(shop: Stage) -> None:
    down = ProviderFailed("scripted", Failure.SERVER, "down")
    with pytest.raises(ProvidersExhausted):
        shop.open(Player("scripted", [down])).ask(UNCLEAR)


def test_writing_counts_against_the_daily_cap(shop: Stage) -> None:
    player = Player("scripted", [GOOD, SAID], cost=0.6)
    db = shop.open(player, toml="[ask]\ndaily_cost_cap_usd = 1.0\n")
    with pytest.raises(LimitExceeded):
        db.ask(UNCLEAR)
    assert db.audit(1)[0].row["cost_usd"] == 0.6


def test_a_planner_of_its_own_may_be_set(shop: Stage) -> None:
    writer, teller = Player("scripted", [GOOD]), Player("openai", [SAID])
    db = shop.open(teller, writer, toml='[ask.plan]\nprovider = "scripted"\n')
    answer = db.ask(UNCLEAR, using="openai")
    assert (answer.provider, answer.answer) == ("openai", SAID)
    assert (len(writer.calls), len(teller.calls)) == (1, 1)


def test_a_stream_shows_the_answer_and_never_the_statement(shop: Stage) -> None:
    db = shop.open(Player("scripted", [GOOD, SAID]))
    tokens = [event.text for event in db.stream(UNCLEAR) if hasattr(event, "text")]
    assert "".join(tokens) == SAID


def test_a_restricted_user_is_not_told_of_a_hidden_column(shop: Stage, tmp_path: Path) -> None:
    player = Player("scripted", [GOOD])
    db = shop.open(player)
    db.add_user("mia", role="clerk")
    db.set_policy("customers", {"read": [{"roles": ["clerk"], "hide": ["credit"]}]})
    mia = db.signed_in(db.make_token("mia"))
    answer = mia.ask(UNCLEAR)
    assert answer.validation.warnings[0].kind == "refused"
    assert all("credit" not in call[0].user.partition("<question>")[0] for call in player.calls[:1])
