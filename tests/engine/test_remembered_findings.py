"""What was found is remembered for one state of the data, and never for another."""

import multiprocessing
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from stage import Player, Stage

import redask
from redask.core.model import Ask, Caller, Notice, PlanChoice, Prompt, Source, Usage
from redask.core.ports import StoreView, Visibility
from redask.core.rules.auditing.provenance import DataState, SourceFacts
from redask.engine.caching import remembered_findings
from redask.engine.caching.remembered_findings import RememberedFindings
from redask.engine.findings import Findings
from redask.engine.retrieval import Hits

FERRY = "When does the ferry leave?"
MIA = Caller("local", "mia", "reader")
STATE = DataState("", 1, "1:a")


@dataclass
class Work:
    """Finds something new each time, and counts."""

    found: int = 0
    warnings: tuple[Notice, ...] = ()
    today: str = ""
    meanwhile: Callable[[], None] = field(default=lambda: None)
    find_with = search = outline = examine = at = None

    def find(self, ask: Ask, caller: Caller) -> Findings:
        self.found += 1
        self.meanwhile()
        source = Source(f"urn:reddb:row:notes/{self.found}", "{}")
        prompt = Prompt("system", "user" * 100, ask.question, (source,))
        hits = Hits((), (source,), (), (), STATE)
        facts = SourceFacts((1,), (1,), "print", "prompt", STATE)
        size = Usage(sources_bytes=2)
        return Findings(hits, (source,), facts, prompt, size, self.warnings, today=self.today)


@dataclass
class State:
    view: StoreView = field(default_factory=lambda: StoreView(1, Visibility(), None, "1:a"))

    def __call__(self, caller: Caller) -> StoreView:
        return self.view

    def seen(self, **changed: Any) -> None:
        self.view = replace(self.view, visibility=replace(self.view.visibility, **changed))


def remembering(work: Any, state: State) -> RememberedFindings:
    return RememberedFindings(work, state)


def test_the_same_question_in_the_same_state_is_searched_once() -> None:
    work, state = Work(), State()
    finder = remembering(work, state)
    first = finder.find(Ask(FERRY), MIA)
    assert finder.find(Ask(FERRY), MIA) is first
    assert work.found == 1


@pytest.mark.parametrize(
    "other",
    [
        Ask("When does the train leave?"),
        Ask(FERRY, collections=("notes",)),
        Ask(FERRY, limit=5),
        Ask(FERRY, min_score=0.5),
        Ask(FERRY, depth=1),
        Ask(FERRY, plan=PlanChoice.OFF),
        Ask(FERRY, steps=2),
    ],
)
def test_another_ask_is_searched_for_itself(other: Ask) -> None:
    work = Work()
    finder = remembering(work, State())
    finder.find(Ask(FERRY), MIA)
    finder.find(other, MIA)
    assert work.found == 2


def test_clauses_that_find_nothing_else_share_what_was_found() -> None:
    work = Work()
    finder = remembering(work, State())
    for ask in (Ask(FERRY), Ask(FERRY, using=("openai",), seed=1, nocache=True, stream=True)):
        finder.find(ask, MIA)
    assert work.found == 1


@pytest.mark.parametrize(
    "other",
    [
        Caller("other", "mia", "reader"),
        Caller("local", "zoe", "reader"),
        Caller("local", "mia", "owner"),
        Caller("local", "mia", "reader", (("region", "north"),)),
        Caller("local", "mia", "reader", (("region", ["north", "south"]),)),
    ],
)
def test_another_principal_is_never_given_it(other: Caller) -> None:
    work = Work()
    finder = remembering(work, State())
    finder.find(Ask(FERRY), MIA)
    finder.find(Ask(FERRY), other)
    assert work.found == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda state: setattr(state, "view", replace(state.view, watermark=2)),
        lambda state: setattr(state, "view", replace(state.view, history="1:b")),
        lambda state: setattr(state, "view", replace(state.view, space=("minilm", 384))),
        lambda state: state.seen(version=1),
        lambda state: state.seen(projections={"p": "c"}),
        lambda state: state.seen(denied=frozenset({"notes"})),
        lambda state: state.seen(closed=True),
        lambda state: state.seen(withheld=frozenset({("p", "notes")})),
    ],
)
def test_another_state_is_searched_anew(change: Callable[[State], None]) -> None:
    work, state = Work(), State()
    finder = remembering(work, state)
    finder.find(Ask(FERRY), MIA)
    change(state)
    finder.find(Ask(FERRY), MIA)
    assert work.found == 2
    finder.find(Ask(FERRY), MIA)
    assert work.found == 2


def test_what_was_found_while_somebody_wrote_is_not_remembered() -> None:
    state = State()
    before = state.view
    work = Work(meanwhile=lambda: setattr(state, "view", replace(state.view, history="2:b")))
    finder = remembering(work, state)
    finder.find(Ask(FERRY), MIA)
    state.view, work.meanwhile = before, lambda: None  # an older state was put back
    finder.find(Ask(FERRY), MIA)
    assert work.found == 2


@pytest.mark.parametrize("kind", ["embedding_pending", "embedder_denied"])
def test_what_may_change_without_a_write_is_not_remembered(kind: str) -> None:
    work = Work(warnings=(Notice("taken_for", "x"), Notice(kind, "x")))
    finder = remembering(work, State())
    finder.find(Ask(FERRY), MIA)
    finder.find(Ask(FERRY), MIA)
    assert work.found == 2


def test_what_has_the_date_in_its_prompt_is_not_remembered() -> None:
    work = Work(today="2026-05-04")
    finder = remembering(work, State())
    finder.find(Ask("What left today?"), MIA)
    finder.find(Ask("What left today?"), MIA)
    assert work.found == 2


def test_what_was_used_least_recently_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered_findings, "MOST", 2)
    work = Work()
    finder = remembering(work, State())
    for question in ("one", "two", "one", "three", "one", "two"):
        finder.find(Ask(question), MIA)
    assert work.found == 4  # two was forgotten


def test_the_bytes_of_all_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    each = 2 + len("system") + len("user" * 100)
    monkeypatch.setattr(remembered_findings, "MOST_BYTES", 3 * each)
    work = Work()
    finder = remembering(work, State())
    for number in (*range(10), 9, 8, 7):
        finder.find(Ask(f"question {number}"), MIA)
    assert work.found == 10
    finder.find(Ask("question 6"), MIA)
    assert work.found == 11


# --- the real thing ----------------------------------------------------------------------


class Searches:
    """Counts the searches of an open database."""

    def __init__(self, db: redask.OpenDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        index = db._async._app.retriever.index
        search = index.search

        def counting(*given: Any) -> Any:
            self.count += 1
            return search(*given)

        monkeypatch.setattr(index, "search", counting)


def test_an_ask_that_was_asked_before_does_not_search_and_answers_the_same(
    harbour: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = Player("scripted", ["At nine [^1]."] * 4)
    db = harbour.open(player)
    searches = Searches(db, monkeypatch)
    first = db.ask(FERRY)
    assert searches.count == 1
    assert db.ask(FERRY).to_dict() == first.to_dict()
    assert searches.count == 1
    plan = db.explain(FERRY)
    assert [each["urn"] for each in plan["sources"]] == [each.urn for each in first.sources_flat]
    assert searches.count == 1
    db.put("notes", [{"id": 77, "text": "The ferry leaves at ten now."}])
    assert any(source.urn.endswith("/77") for source in db.ask(FERRY).sources_flat)
    assert searches.count == 2


def _put_elsewhere(directory: Path) -> None:
    with redask.open(directory, embedder="none") as db:
        db.put("notes", [{"id": 9, "text": "The ferry to Sylt leaves at eleven."}])


def test_a_write_of_another_process_is_seen(tmp_path: Path) -> None:
    with redask.open(tmp_path, embedder="none") as db:
        db.put("notes", [{"id": 1, "text": "The ferry to Amrum leaves at nine."}])
        before = db.ask(FERRY)
        other = multiprocessing.get_context("spawn").Process(
            target=_put_elsewhere, args=(tmp_path,)
        )
        other.start()
        other.join(60)
        after = db.ask(FERRY)
    assert len(before.sources_flat) == 1
    assert len(after.sources_flat) == 2


QUESTIONS = (
    FERRY,
    "How many notes are there?",
    "How many notes have a price above 4?",
    "What does the kiosk sell?",
    "Who pays for the island?",
)


WORDS = ("ferry", "leaves", "kiosk", "sells", "island", "pays", "nine", "ten", "Amrum")
POLICIES: tuple[object, ...] = (
    None,
    {"read": [{"roles": ["*"], "rows": "who = :user.name"}]},
    {"read": [{"roles": ["*"], "hide": ["price"]}]},
)


def change(db: redask.OpenDatabase, chance: random.Random) -> None:
    """One of all things that may change what is found."""
    ident = chance.randrange(12)
    text = " ".join(chance.choices(WORDS, k=6))
    who, price = chance.choice(["mia", "zoe"]), chance.choice([3, 5, 7])
    match chance.randrange(6):
        case 0 | 1:
            row = {"id": ident, "text": text, "price": price, "who": who}
            db.put("notes", [row], wait=chance.random() < 0.5)
        case 2:
            db.delete(f"urn:reddb:row:notes/{ident}")
        case 3:
            db.set_policy("notes", chance.choice(POLICIES))
        case 4:
            db.embed()
        case _:
            db.fix_type("notes.price", chance.choice(["text", None]))


@pytest.mark.parametrize("seed", range(3))
def test_among_random_changes_what_is_remembered_equals_what_a_search_finds(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    with redask.open(tmp_path, embedder="hashed") as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine.", "price": 3, "who": "mia"}])
        db.add_user("mia", role="reader", attributes={"region": "n"})
        finder: Any = db._async._app.engine.finder
        assert isinstance(finder, RememberedFindings)
        remembered = 0
        for _ in range(40):
            if chance.random() < 0.5:
                change(db, chance)
            for caller in (Caller(), MIA):
                ask = Ask(chance.choice(QUESTIONS), limit=chance.choice([3, 20]))
                before = dict(finder._known)
                given = finder.find(ask, caller)
                remembered += any(given is each for _, each in before.values())
                assert given == finder._work.find(ask, caller)
        assert remembered
