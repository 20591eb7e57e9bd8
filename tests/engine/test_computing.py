"""Questions that need computing are computed, proved and refused when that is not certain."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stage import Player, Stage

import redask
from redask.core.errors import BadAsk, Denied, SqlError

CUSTOMERS = [
    {"id": 1, "name": "Ada", "country": "Brazil", "region": "south", "credit": 100},
    {"id": 2, "name": "Bo", "country": "Brazil", "region": "north", "credit": 250},
    {"id": 3, "name": "Cleo", "country": "Norway", "region": "north", "credit": 70},
]
HOW_MANY = "How many customers live in Brazil?"
SQL = "SELECT count(*) FROM customers WHERE country = 'Brazil'"
POLICY = {"read": [{"roles": ["clerk"], "rows": "region = 'north'", "hide": ["credit"]}]}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[redask.OpenDatabase]:
    with redask.open(tmp_path / "db", embedder="none") as db:
        db.put("customers", CUSTOMERS)
        yield db


def payload(answer: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer.sources_flat[0].payload)
    return found


def test_a_count_is_computed_and_cited_with_rows_behind_it(shop: redask.OpenDatabase) -> None:
    answer = shop.ask(HOW_MANY)
    assert "2 [^1], for example [^2][^3]" in answer.answer
    assert [source.urn for source in answer.sources_flat[1:]] == [
        "urn:reddb:row:customers/1",
        "urn:reddb:row:customers/2",
    ]
    assert payload(answer)["sql"] == SQL
    assert payload(answer)["rows"] == [[2]]
    assert payload(answer)["result_hash"] == hashlib.sha256(b"[[2]]").hexdigest()
    assert answer.validation.ok
    assert answer.validation.warnings == ()


def test_the_same_question_over_the_same_data_gives_the_same_bytes(tmp_path: Path) -> None:
    envelopes = []
    for name, rows in (("a", CUSTOMERS), ("b", CUSTOMERS[::-1])):
        with redask.open(tmp_path / name, embedder="none") as db:
            db.put("customers", rows)
            envelopes.append(db.ask(HOW_MANY).to_dict())
    assert envelopes[0] == envelopes[1]


@pytest.mark.parametrize("strict", [True, "supported"])
def test_a_list_that_is_too_long_to_show_says_so_and_passes(
    shop: redask.OpenDatabase, strict: Any
) -> None:
    shop.put("towns", [{"id": n, "name": f"Town {n}"} for n in range(60)])
    answer = shop.ask("List all towns", strict=strict)
    assert answer.answer.startswith("The first 50 of 60 ")
    assert answer.validation.warnings == ()


def test_a_row_is_named_by_its_table_and_key_and_cited_itself(shop: redask.OpenDatabase) -> None:
    notes = ("Urgent. Call back.", "Late.")
    shop.put(
        "tickets",
        [{"code": f"T-{1043 + n}", "customer_id": 2, "note": text} for n, text in enumerate(notes)],
    )
    answer = shop.ask("ticket T-1043", strict="supported")
    assert [source.urn.split(":")[2] for source in answer.sources_flat] == ["query", "row"]
    assert "| Bo | Urgent. Call back. |" in answer.answer
    assert [citation.marker for citation in answer.citations] == [1, 2]
    assert shop.ask("What is the credit of customer 2?").answer == "credit: 250 [^1]"
    assert shop.explain("customer 2")["query"]["intent"] == "row"


def test_rows_that_hold_a_word_are_counted(shop: redask.OpenDatabase) -> None:
    notes = ("Refunds are slow", "No refund.", "A refundable thing", "Else")
    shop.put("tickets", [{"code": f"T-{n}", "note": note} for n, note in enumerate(notes)])
    answer = shop.ask("How many tickets mention refunds?")
    assert answer.answer == "count: 2 [^1], for example [^2][^3]"
    assert shop.explain("How many tickets mention refunds?")["query"]["intent"] == "mixed"


def test_the_audit_row_names_the_query_and_the_rows(shop: redask.OpenDatabase) -> None:
    answer = shop.ask(HOW_MANY)
    row = shop.audit(1)[0].row
    assert row["sources_urns"] == [source.urn for source in answer.sources_flat]
    assert row["citations"] == [1, 2, 3]


def test_plan_off_never_computes(shop: redask.OpenDatabase) -> None:
    answer = shop.ask(HOW_MANY, plan="off")
    assert all(source.urn.startswith("urn:reddb:row:") for source in answer.sources_flat)
    assert "query" not in shop.explain(HOW_MANY, plan="off")


def test_plan_only_shows_the_statement_and_runs_nothing(shop: redask.OpenDatabase) -> None:
    answer = shop.execute(f"ASK '{HOW_MANY}' PLAN ONLY")[0]
    (source,) = answer["sources_flat"]
    told = json.loads(source["payload"])
    assert (told["sql"], told["rows"], told["row_count"], told["columns"]) == (SQL, [], 0, [])
    assert answer["validation"]["warnings"] == [
        {"kind": "refused", "detail": "not_computable: PLAN ONLY"}
    ]
    assert answer["citations"] == []
    assert shop.audit(1)[0].row["validation_ok"] is True


def test_explain_shows_the_statement_and_leaves_no_row(shop: redask.OpenDatabase) -> None:
    plan = shop.explain(HOW_MANY)
    assert plan["query"] == {"coverage": 1.0, "intent": "count", "sql": SQL}
    assert [source["urn"] for source in plan["sources"]] == [
        source.urn for source in shop.ask(HOW_MANY).sources_flat
    ]
    assert len(shop.audit(9)) == 1


def test_a_question_without_computing_keeps_the_keys_of_the_plan(shop: redask.OpenDatabase) -> None:
    assert "query" not in shop.explain("Tell me about Ada")


def test_what_cannot_be_planned_with_certainty_is_refused_by_name(
    shop: redask.OpenDatabase,
) -> None:
    answer = shop.ask("How many customers are left-handed?")
    (warning,) = answer.validation.warnings
    assert warning.kind == "refused"
    assert warning.detail.startswith("not_computable")
    assert answer.citations == ()
    assert "I cannot compute this with certainty" in answer.answer
    assert shop.audit(1)[0].row["validation_ok"] is True


def test_a_document_that_answers_is_quoted_instead_of_a_refusal(shop: redask.OpenDatabase) -> None:
    text = "Eleven left-handed customers came to the harbour."
    shop.put("notes", [{"id": 1, "text": text}], kind="document")
    assert text in shop.ask("How many left-handed customers came to the harbour?").answer


def test_a_count_of_what_no_table_names_is_refused_unless_a_document_tells(
    shop: redask.OpenDatabase,
) -> None:
    question = "How many lighthouses stand on the island?"
    refused = shop.ask(question)
    assert [each.kind for each in refused.validation.warnings] == ["refused"]
    assert "lighthouses" in refused.validation.warnings[0].detail
    text = "Three lighthouses stand on Amrum."
    shop.put("notes", [{"id": 1, "text": text}], kind="document")
    assert text in shop.ask(question).answer


def test_a_number_of_any_length_is_refused_by_name(shop: redask.OpenDatabase) -> None:
    with pytest.raises(SqlError, match="400 digits"):
        shop.select(f"SELECT {'9' * 4400}")


def test_one_word_in_two_is_no_misspelt_word(shop: redask.OpenDatabase) -> None:
    text = "The data of the base station is kept, and received again."
    shop.put("notes", [{"id": 1, "text": text}], kind="document")
    found = [each.detail for each in shop.search("database recieved").warnings]
    assert len(found) == 1
    assert "'recieved': it was taken for 'received'" in found[0]


def test_whoever_may_read_the_tables_can_open_the_query_and_gets_their_own_result(
    shop: redask.OpenDatabase,
) -> None:
    urn = shop.ask(HOW_MANY).sources_flat[0].urn
    assert json.loads(shop.get(urn) or "")["rows"] == [[2]]
    clerk = clerk_of(shop)
    assert json.loads(clerk.get(urn) or "")["rows"] == [[1]]


def test_a_restricted_user_counts_their_own_rows(shop: redask.OpenDatabase) -> None:
    clerk = clerk_of(shop)
    answer = clerk.ask(HOW_MANY)
    assert payload(answer)["rows"] == [[1]]
    assert [source.urn for source in answer.sources_flat[1:]] == ["urn:reddb:row:customers/2"]
    assert "credit" not in json.dumps(answer.to_dict())
    refused = clerk.ask("What is the average credit of customers?")
    assert refused.validation.warnings[0].kind in ("refused", "no_sources")
    assert "avg(" not in json.dumps(refused.to_dict())


def test_a_collection_that_is_not_open_is_denied_before_anything_is_planned(
    shop: redask.OpenDatabase,
) -> None:
    shop.put("secrets", [{"id": 1, "country": "Brazil"}])
    shop.set_policy("secrets", {"read": [{"roles": ["auditor"]}]})
    clerk = clerk_of(shop)
    with pytest.raises(Denied):
        clerk.ask("How many secrets are there?", collection="secrets")


def test_only_the_tables_that_the_ask_names_are_computed_from(shop: redask.OpenDatabase) -> None:
    shop.put("orders", [{"id": 1, "total": 5}])
    answer = shop.ask("How many orders are there?", collection="customers")
    assert not any(source.urn.startswith("urn:reddb:query:") for source in answer.sources_flat)


def test_a_result_is_no_entity_to_store(shop: redask.OpenDatabase) -> None:
    with pytest.raises(BadAsk, match="is the result of a statement"):
        shop.put("postgresql", [{"id": "SELECT 1"}], kind="query")


def test_query_plan_shows_the_statement_or_what_is_unclear(shop: redask.OpenDatabase) -> None:
    plan = shop.query_plan(HOW_MANY)
    assert (plan["sql"], plan["intent"], plan["reason"]) == (SQL, "count", None)
    unclear = shop.query_plan("How many customers are left-handed?")
    assert unclear["sql"] is None
    assert unclear["reason"] == "not_computable"
    assert shop.query_plan("Tell me about Ada")["intent"] == "lookup"
    assert shop.audit(9) == []


def test_a_changed_row_is_never_answered_from_the_cache(shop: redask.OpenDatabase) -> None:
    first = shop.ask(HOW_MANY, cache={"ttl": "5m"})
    assert shop.ask(HOW_MANY, cache={"ttl": "5m"}).cache_hit
    shop.put("customers", [{"id": 4, "name": "Di", "country": "Brazil"}])
    again = shop.ask(HOW_MANY, cache={"ttl": "5m"})
    assert not again.cache_hit
    assert (payload(first)["rows"], payload(again)["rows"]) == ([[2]], [[3]])


def clerk_of(shop: redask.OpenDatabase) -> redask.OpenDatabase:
    """A clerk of the north, who does not see the credit."""
    shop.add_user("mia", role="clerk")
    shop.set_policy("customers", POLICY)
    return shop.signed_in(shop.make_token("mia"))


def test_a_model_is_given_the_result_as_its_first_source(stage: Stage) -> None:
    with redask.open(stage.directory, embedder="none") as db:
        db.put("customers", CUSTOMERS)
    player = Player("scripted", ["There are 2 customers [^1]."])
    db = stage.open(player)
    answer = db.ask(HOW_MANY)
    assert answer.answer == "There are 2 customers [^1]."
    assert '"row_count":1' in player.calls[0][0].user
