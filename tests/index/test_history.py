"""Equal content gives byte-equal results, whatever its history."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from redask.core.model import Caller
from redask.core.ports import Entity, Found
from redask.index import SearchIndex
from redask.stores.sqlite.store import SqliteStore
from tests.index.memory_store import MemoryStore
from tests.index.texts import corpus, questions, row

CALLER = Caller()
CONTENT = corpus(10_000)
QUESTIONS = questions(200)
URNS = [entity.urn for entity in CONTENT]

History = Callable[[MemoryStore, SearchIndex], None]


def answers(index: SearchIndex) -> list[tuple[Found, ...]]:
    return [index.search(question, CALLER) for question in QUESTIONS]


def put(store: MemoryStore, index: SearchIndex, entities: list[Entity], step: int) -> None:
    """Write in steps, with a search after each, so that the index follows in small pieces."""
    for start in range(0, len(entities), step):
        store.put(entities[start : start + step], CALLER)
        index.search(QUESTIONS[0], CALLER)


def shuffled(store: MemoryStore, index: SearchIndex) -> None:
    entities = random.Random(2).sample(CONTENT, len(CONTENT))
    put(store, index, entities[:9_000], 1_500)
    put(store, index, entities[9_000:], 37)


def half_deleted_and_inserted_again(store: MemoryStore, index: SearchIndex) -> None:
    put(store, index, CONTENT, 5_000)
    half = random.Random(3).sample(range(len(CONTENT)), 5_000)
    for start in range(0, 5_000, 1_000):
        store.delete([URNS[number] for number in half[start : start + 1_000]], CALLER)
        index.search(QUESTIONS[0], CALLER)
    put(store, index, [CONTENT[number] for number in half[:4_800]], 2_400)
    put(store, index, [CONTENT[number] for number in half[4_800:]], 10)


def updated(store: MemoryStore, index: SearchIndex) -> None:
    others = [Entity(urn, other.payload) for urn, other in zip(URNS, CONTENT[::-1], strict=True)]
    put(store, index, others, 5_000)
    put(store, index, CONTENT[:9_900], 3_000)
    put(store, index, CONTENT[9_900:], 20)


def among_others_that_went(store: MemoryStore, index: SearchIndex) -> None:
    more = [row(number, "gone", text="baba " * 50) for number in range(3_000)]
    put(store, index, more + CONTENT, 4_000)
    store.delete([entity.urn for entity in more], CALLER)


def rebuilt(store: MemoryStore, index: SearchIndex) -> None:
    half_deleted_and_inserted_again(store, index)
    index.rebuild(CALLER.tenant)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[Found, ...]]]:
    store = MemoryStore()
    store.put(CONTENT, CALLER)
    index = SearchIndex(tmp_path_factory.mktemp("straight"), store)
    yield answers(index)
    index.close()


@pytest.mark.parametrize(
    "history",
    [shuffled, half_deleted_and_inserted_again, updated, among_others_that_went, rebuilt],
)
def test_results_and_scores_do_not_depend_on_history(
    history: History, expected: list[tuple[Found, ...]], tmp_path: Path
) -> None:
    store = MemoryStore()
    index = SearchIndex(tmp_path, store)
    history(store, index)
    assert answers(index) == expected
    index.close()


def test_two_processes_that_alternate_give_equal_results(
    expected: list[tuple[Found, ...]], tmp_path: Path
) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, str(Path(__file__).with_name("second_process.py")), str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(root)}
    entities = random.Random(4).sample(CONTENT, len(CONTENT))
    with (
        SqliteStore(tmp_path) as store,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        ) as other,
    ):
        assert other.stdin
        assert other.stdout
        index = SearchIndex(tmp_path / "index", store)
        for number, start in enumerate(range(0, len(entities), 400)):
            store.put(entities[start : start + 400], CALLER)
            other.stdin.write(f"{number}\n")
            other.stdin.flush()
            if number % 3:
                index.search(QUESTIONS[number], CALLER)
            other.stdout.readline()
        other.stdin.write("answers\n")
        other.stdin.flush()
        reported = json.loads(other.stdout.readline())
        other.stdin.close()
        assert answers(index) == expected
        index.close()
    plain = [[asdict(bucket) for bucket in found] for found in expected]
    assert reported == json.loads(json.dumps(plain))


def test_the_questions_find_something_and_tie(expected: list[tuple[Found, ...]]) -> None:
    scores = [[score for _, score in found[0].candidates] for found in expected]
    assert all(scores)
    assert sum(len(some) > len(set(some)) for some in scores) > 100
