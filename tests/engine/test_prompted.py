"""What a prompt says of its sources: how many of how many, the date, excerpts, and what of them."""

import hashlib
import json

import pytest
from stage import DAY_NS, Player, Stage

import redask
from redask.core.rules import fingerprint, prompt

OFF = {"plan": "off"}


def system_of(player: Player) -> str:
    return player.calls[-1][0].system.removeprefix(prompt.SYSTEM)


def test_a_prompt_says_how_many_of_how_many(harbour: Stage) -> None:
    player = Player("scripted", ["At nine [^1]."])
    db = harbour.open(player)
    db.ask("When does the ferry leave?", limit=1, **OFF)
    assert system_of(player) == "\nThe user message holds 1 of the 2 sources that were found."


def test_what_a_provider_reads_has_the_hash_it_had(harbour: Stage) -> None:
    player = Player("scripted", ["At nine [^1]."])
    harbour.open(player).ask("When does the ferry leave today?", limit=1, **OFF)
    asked = player.calls[-1][0]
    assert asked.system.startswith(prompt.SYSTEM)
    hashed = hashlib.sha256(prompt.render(asked).encode()).hexdigest()
    assert hashed == "a874dcde6a1c57baee8d1e279196b485c70be552607bff3fb675b17d3125b945"


def test_several_markers_in_one_bracket_are_rewritten_but_in_code(harbour: Stage) -> None:
    code = "```\ncells[^1, ^2]\n```\n"
    db = harbour.open(Player("scripted", [f"At nine [^1, ^2].\n\n{code}"]))
    answer = db.ask("When does the ferry leave?", **OFF)
    assert answer.answer == f"At nine [^1][^2].\n\n{code}"
    assert [note.marker for note in answer.citations] == [1, 2]
    row = db.audit(1)[0].row
    assert row["answer_hash"] == hashlib.sha256(answer.answer.encode()).hexdigest()


def test_the_date_is_told_and_recorded_only_where_the_question_depends_on_it(
    harbour: Stage,
) -> None:
    player = Player("scripted", ["x [^1]"])
    db = harbour.open(player)
    db.ask("When does the ferry leave?", **OFF)
    assert ("Today" in system_of(player), db.audit(1)[0].today) == (False, "")
    cached = {**OFF, "cache": {"ttl": "9d"}}
    db.ask("When does the ferry leave today?", **cached)
    assert system_of(player).endswith("\nToday is 2027-01-15 (UTC).")
    assert db.audit(1)[0].today == "2027-01-15"
    assert db.ask("When does the ferry leave today?", **cached).cache_hit
    harbour.clock.now += DAY_NS
    assert not db.ask("When does the ferry leave today?", **cached).cache_hit
    assert db.audit(1)[0].today == "2027-01-16"


def test_rows_of_a_result_that_are_not_all_shown_are_counted(stage: Stage) -> None:
    with redask.open(stage.directory, embedder="none") as db:
        db.put("ships", [{"id": n, "name": f"Ship {n}", "tons": n} for n in range(150)])
    player = Player("scripted", ["SELECT name FROM ships", "Ship 1 [^1]."])
    db = stage.open(player)
    db.ask("List the names of all ships", strict=False)
    assert "\nSource 1 shows 100 of the 150 rows of its result." in system_of(player)


def test_nulls_and_digests_are_in_neither_prompt_nor_answer(stage: Stage) -> None:
    digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    with redask.open(stage.directory, embedder="none") as db:
        db.put("files", [{"id": 1, "name": "ferry.pdf", "sum": digest, "owner": None}])
    player = Player("scripted", ["ferry.pdf [^1]"])
    db = stage.open(player)
    answer = db.ask("Which ferry file is there?", **OFF)
    assert [each.payload for each in answer.sources_flat] == ['{"id":1,"name":"ferry.pdf"}']
    assert '>{"id":1,"name":"ferry.pdf"}</source>' in player.calls[0][0].user
    asked = db.ask("Who is the owner of the ferry file?", **OFF)
    assert asked.sources_flat[0].payload == '{"id":1,"name":"ferry.pdf","owner":null}'
    assert digest in str(db.get("urn:reddb:row:files/1"))  # a read is a read
    seeds = [knobs.seed for _, knobs in player.calls]
    version = fingerprint.content_version('{"id":1,"name":"ferry.pdf"}')
    assert fingerprint.of([("urn:reddb:row:files/1", version)])
    assert seeds[0] != seeds[1]


@pytest.mark.parametrize("large_first", [True, False])
def test_a_large_source_is_excerpted_and_drops_none_below_it(
    stage: Stage, large_first: bool
) -> None:
    filler = "Nothing of note was written here. " * 4000
    text = f"{filler}The zebra crossing opened in 1951. {filler}"
    small = [{"id": n, "text": f"A zebra crossing note, {n}."} for n in range(2, 12)]
    with redask.open(stage.directory, embedder="none") as db:
        db.put("notes", [{"id": 1, "text": "zebra crossing opened " * 9 + text}, *small])
    player = Player("scripted", ["In 1951 [^1]."])
    db = stage.open(player, toml="" if large_first else "[ask]\nmax_sources_bytes = 20000")
    answer = db.ask("When did the zebra crossing open?", strict=False, **OFF)
    assert len(answer.sources_flat) == 11
    [warning] = [each for each in answer.validation.warnings if each.kind == "sources_trimmed"]
    assert warning.detail == "11 of 11 sources fit into the limits, 1 of them in an excerpt"
    large = next(each for each in answer.sources_flat if each.urn.endswith("/1"))
    assert "zebra crossing opened" in json.loads(large.payload)["text"]
    assert sum(len(each.payload.encode()) for each in answer.sources_flat) <= 262_144
    assert db.explain("When did the zebra crossing open?", **OFF)["sources"][-1]["rank"] == 11
