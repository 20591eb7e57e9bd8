"""The embedding stage: in the end every entity has its vector, whatever happens meanwhile.

Until then an answer warns that embedding is pending.
"""

import os
import platform
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from stage import ROWS, Player, Stage
from waiting import SECONDS

import redask
from redask.core.errors import Misconfigured
from redask.core.model import Caller, Notice
from redask.core.ports import Change, EmbeddingLease, Entity
from redask.embedding import stage as embedding
from redask.embedding.embedding_text import embedding_text
from redask.embedding.models.hashed import Hashed
from redask.embedding.stage import BATCH, PAGE, EmbeddingStage
from redask.stores import entity_rows
from redask.stores.backend import EntityStore
from redask.stores.sqlite.store import SqliteStore

ME = Caller()
T = ME.tenant
MANY = 3 * BATCH + 5


class RecordingEmbedder(Hashed):
    """Records every text; the hooks in `before` are called with each batch."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.before: list[object] = []

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        for hook in self.before:
            assert callable(hook)
            hook()
        self.texts += texts
        return super().embed(texts)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EntityStore]:
    opened = SqliteStore(tmp_path)
    yield opened
    assert opened.check() == []
    opened.close()


def staged(store: EntityStore, embedder: Hashed | None = None) -> EmbeddingStage:
    return EmbeddingStage(store, embedder or Hashed(), embedding_text)


def fill(store: EntityStore, count: int) -> None:
    made = [{"id": number, "text": f"note {number}"} for number in range(count)]
    store.put(entity_rows.entities("notes", made), ME)


def vectors(store: EntityStore) -> dict[str, tuple[float, ...] | None]:
    changes: list[Change] = store.changes(T, 0, 10_000)
    return {each.urn: each.entity.vector for each in changes if each.entity}


def is_complete(store: EntityStore) -> bool:
    return all(vectors(store).values()) and store.count_unembedded(T) == 0


# --- the stage ---------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH, MANY])
def test_everything_gets_its_vector_once(store: EntityStore, count: int) -> None:
    fill(store, count)
    recording = RecordingEmbedder()
    assert staged(store, recording).finish(T) == count
    assert sorted(recording.texts) == sorted(f"note {number}" for number in range(count))
    assert is_complete(store)
    assert staged(store, recording).finish(T) == 0
    assert len(recording.texts) == count


def test_when_nothing_is_pending_nothing_is_written(store: EntityStore, tmp_path: Path) -> None:
    fill(store, BATCH)
    staged(store).finish(T)
    staged(store).finish(T)
    log = tmp_path / "redask.sqlite-wal"
    before = (log.stat().st_size, log.stat().st_mtime_ns)
    fill(store, BATCH)
    assert staged(store).finish(T) == 0
    assert (log.stat().st_size, log.stat().st_mtime_ns) == before


def test_progress_goes_up_to_the_total(store: EntityStore) -> None:
    fill(store, MANY)
    seen: list[tuple[int, int]] = []
    staged(store).finish(T, lambda done, total: seen.append((done, total)))
    assert seen == [(each, MANY) for each in (BATCH, 2 * BATCH, 3 * BATCH, MANY)]


def test_what_was_embedded_before_an_interruption_is_not_embedded_again(store: EntityStore) -> None:
    fill(store, MANY)
    broken = RecordingEmbedder()

    def interrupt() -> None:
        if broken.texts:
            raise KeyboardInterrupt

    broken.before.append(interrupt)
    with pytest.raises(KeyboardInterrupt):
        staged(store, broken).finish(T)
    rest = RecordingEmbedder()
    assert staged(store, rest).finish(T) == MANY - BATCH
    assert not set(rest.texts) & set(broken.texts)
    assert is_complete(store)


def test_a_text_that_changes_while_it_is_embedded_is_embedded_again(store: EntityStore) -> None:
    fill(store, 2)
    recording = RecordingEmbedder()
    changed = entity_rows.entities("notes", [{"id": 1, "text": "changed"}])
    recording.before.append(lambda: store.put(changed, ME))
    stage = staged(store, recording)
    stage.finish(T)
    stage.finish(T)
    assert is_complete(store)
    expected = Hashed().embed(["changed"])[0]
    assert vectors(store)["urn:reddb:row:notes/1"] == pytest.approx(expected)


def test_an_entity_without_text_is_not_pending(store: EntityStore) -> None:
    store.put(entity_rows.entities("flags", [{"id": 1, "on": True}, {"id": 2, "text": " "}]), ME)
    assert staged(store).finish(T) == 0
    assert not store.is_embedding_pending(ME, embedding_text)


def test_vectors_of_another_model_are_refused_until_everything_is_embedded_again(
    store: EntityStore,
) -> None:
    fill(store, MANY)
    staged(store, Hashed(64)).finish(T)
    fill(store, MANY + 1)
    other = staged(store, Hashed(32))
    with pytest.raises(Misconfigured, match=r"hashed-64-1, .* hashed-32-1: `redask reembed`"):
        other.finish(T)
    assert other.warnings(ME, store.view(ME))[0].kind == "embedding_pending"
    assert other.reembed(T) == MANY + 1
    assert is_complete(store)
    assert {len(vector or ()) for vector in vectors(store).values()} == {32}
    assert other.warnings(ME, store.view(ME)) == ()


def test_stopping_ends_after_the_batch_and_loses_nothing(store: EntityStore) -> None:
    fill(store, MANY)
    recording = RecordingEmbedder()
    stage = staged(store, recording)
    recording.before.append(stage.stop)
    assert stage.finish(T) == BATCH
    assert staged(store).finish(T) == MANY - BATCH
    assert is_complete(store)


# --- concurrency -------------------------------------------------------------------------


def test_two_stages_at_once_do_not_duplicate_work(store: EntityStore, tmp_path: Path) -> None:
    fill(store, MANY)
    first, second = RecordingEmbedder(), RecordingEmbedder()
    other = SqliteStore(tmp_path)
    waiting = threading.Event()

    def start() -> None:
        if not first.texts:
            thread.start()
            waiting.wait(0.3)  # the other one finds the lease taken

    thread = threading.Thread(target=lambda: staged(other, second).finish(T))
    first.before.append(start)
    staged(store, first).finish(T)
    thread.join(30)
    other.close()
    assert is_complete(store)
    # Less than a batch needs no lease, so the very last one may be done by both.
    assert len(first.texts) + len(second.texts) <= MANY + BATCH
    assert len(first.texts) >= MANY - BATCH


def test_threads_of_one_process_embed_nothing_twice(store: EntityStore) -> None:
    fill(store, BATCH - 1)
    recording = RecordingEmbedder()
    stage = staged(store, recording)
    threads = [threading.Thread(target=stage.finish, args=(T,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(recording.texts) == BATCH - 1
    assert is_complete(store)


def test_the_lease_of_a_dead_process_is_released(store: EntityStore) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    fill(store, MANY)
    store.claim_embedding(T, EmbeddingLease(f"{platform.node()}:{child.pid}:x", 1), MANY)
    assert staged(store).finish(T) == MANY


def test_the_lease_of_a_living_process_is_waited_for(
    store: EntityStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, MANY)
    stage = staged(store)
    holder = f"{platform.node()}:{os.getpid()}:x"
    store.claim_embedding(T, EmbeddingLease(holder, 1), MANY)
    release = threading.Timer(0.3, lambda: store.release_embedding(T, holder))
    release.start()
    seen: list[int] = []
    assert stage.finish(T, lambda done, _: seen.append(store.count_unembedded(T))) == MANY
    release.join()
    for elsewhere in ("other-machine:1:x", "odd", f"{platform.node()}:x:y"):
        assert not embedding._is_dead(elsewhere)


def test_a_holder_without_a_sign_of_life_loses_the_lease_by_the_clock_of_who_waits(
    store: EntityStore,
) -> None:
    """Stopped, or on a machine that is gone: whatever wall clocks say, nobody waits for longer."""
    fill(store, MANY)
    stopped = EmbeddingLease(f"{platform.node()}:{os.getpid()}:x", 1)
    store.claim_embedding(T, stopped, MANY)
    times = iter([0.0, embedding.LEASE_SECONDS - 0.1, embedding.LEASE_SECONDS] + [1e9] * MANY)
    looked: list[float] = []

    def monotonic() -> float:
        looked.append(next(times))
        return looked[-1]

    stage = staged(store)
    stage.monotonic = monotonic
    assert stage.finish(T) == MANY
    assert looked == [0.0, embedding.LEASE_SECONDS - 0.1, embedding.LEASE_SECONDS]


def test_a_holder_that_gives_signs_of_life_keeps_the_lease(store: EntityStore) -> None:
    fill(store, MANY)
    holder, beats = "other-machine:1:x", iter(range(2, 100))
    store.claim_embedding(T, EmbeddingLease(holder, 1), MANY)
    waited: list[int] = []

    def monotonic() -> float:
        """Nearly too long each time; the holder shows itself, and in the end it is done."""
        waited.append(next(beats))
        store.claim_embedding(T, EmbeddingLease(holder, waited[-1]), MANY)
        if len(waited) == 5:
            store.release_embedding(T, holder)
        return len(waited) * embedding.LEASE_SECONDS * 10

    stage = staged(store)
    stage.monotonic = monotonic
    assert stage.finish(T) == MANY
    assert len(waited) == 5


@pytest.mark.parametrize("nodes", [2, 3])
def test_several_nodes_embed_parts_that_do_not_overlap_with_the_result_of_one(
    store: EntityStore, tmp_path: Path, nodes: int
) -> None:
    """Each begins when all have a part, so that none can do it alone."""
    count = 4 * PAGE + 7
    fill(store, count)
    begun = threading.Barrier(nodes)
    recordings = [RecordingEmbedder() for _ in range(nodes)]
    done: list[int] = []

    def work(embedder: RecordingEmbedder) -> None:
        def begin() -> None:
            embedder.before.clear()
            begun.wait(SECONDS)

        embedder.before.append(begin)
        done.append(staged(store, embedder).finish(T))

    threads = [threading.Thread(target=work, args=(each,)) for each in recordings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [text for each in recordings for text in each.texts]
    assert sorted(texts) == sorted(f"note {number}" for number in range(count))
    assert all(len(each.texts) >= BATCH for each in recordings)
    assert sum(done) == count
    assert is_complete(store)
    with SqliteStore(tmp_path / "alone") as other:
        fill(other, count)
        assert staged(other).finish(T) == count
        assert vectors(other) == vectors(store)


def test_what_a_killed_node_had_leased_is_embedded_by_another_and_what_it_did_is_not(
    store: EntityStore,
) -> None:
    fill(store, MANY)
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    killed = EmbeddingLease(f"{platform.node()}:{child.pid}:x", 1)
    (lease,) = store.claim_embedding(T, killed, 100)
    first = store.unembedded(T, BATCH, lease)
    (vector,) = Hashed().embed(["note"])
    made = [Entity(each.urn, each.payload, vector=vector) for each in first]
    through = first[-1].seq
    store.set_vectors(made, T, model=Hashed().model, through=through, lease=lease)
    rest = RecordingEmbedder()
    assert staged(store, rest).finish(T) == MANY - BATCH
    assert len(rest.texts) == MANY - BATCH
    assert is_complete(store)


KILLED = """
import os, signal, sys
import redask
from redask.embedding.models.hashed import Hashed
left = int(sys.argv[2])
embed = Hashed.embed
def deadly(self, texts):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return embed(self, texts)
Hashed.embed = deadly
with redask.open(sys.argv[1], embedder="hashed") as db:
    db.embed()
"""


@pytest.mark.parametrize("batches", [0, 1, 2])
def test_after_a_kill_the_next_stage_continues_at_once(tmp_path: Path, batches: int) -> None:
    notes = [{"id": number, "text": f"note {number}"} for number in range(MANY)]
    with redask.open(tmp_path / "a", embedder="hashed") as db:
        db.put("notes", notes, wait=False)
    with redask.open(tmp_path / "b", embedder="hashed") as db:
        db.put("notes", notes)
        expected = db.search("note 7").to_dict()
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "a"), str(batches)],
        check=False,
        capture_output=True,
    )
    assert killed.returncode == -signal.SIGKILL
    with redask.open(tmp_path / "a", embedder="hashed") as db:
        assert db.doctor()["embedding"]["pending"] == MANY - batches * BATCH
        assert db.embed() == MANY - batches * BATCH
        assert db.search("note 7").to_dict() == expected
        assert db.doctor()["problems"] == []


# --- what is embedded --------------------------------------------------------------------


def test_the_title_comes_first_and_ids_and_hidden_columns_are_left_out() -> None:
    payload = '{"id":"FDD-1","path":["sea","quay"],"salary":9,"text":"Body.","title":"Head"}'
    assert embedding_text(payload, frozenset()) == "Head\nsea\nquay\nBody."
    assert embedding_text(payload, frozenset({"path", "title"})) == "Body."
    assert embedding_text('{"id":1,"on":true,"text":" "}', frozenset()) == ""


# --- warnings ----------------------------------------------------------------------------

PENDING = "embedding_pending"
HASHED = 'embedder.name = "hashed"'


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    for db in made.opened:
        db.close()


def warned(notices: Sequence[Notice]) -> list[str]:
    return [each.kind for each in notices]


def test_an_answer_warns_while_embedding_is_pending(stage: Stage) -> None:
    db = stage.open(Player("openai", ["Nine. [^1]"]), toml=HASHED)
    db.put("notes", ROWS)
    assert warned(db.ask("When does the ferry leave?").validation.warnings) == []
    db.put("notes", [{"id": 4, "text": "The ferry is late."}], wait=False)
    assert warned(db.ask("When does the ferry leave?").validation.warnings) == [PENDING]
    assert db.search("ferry").notes[0].startswith(PENDING)
    assert db.doctor()["embedding"]["pending"] == 1
    db.embed()
    assert warned(db.ask("When does the ferry leave?").validation.warnings) == []
    assert db.doctor()["embedding"] == {
        "embedder": "hashed-128-1",
        "model": "hashed-128-1",
        "pending": 0,
    }


def test_an_answer_without_sources_warns_too(stage: Stage) -> None:
    db = stage.open(Player("openai", ["Nine. [^1]"]), toml=HASHED)
    db.put("notes", [{"id": 4, "text": "The ferry is late."}], wait=False)
    found = db.ask("zzzz qqqq").validation.warnings
    assert warned(found) == [PENDING, "no_sources"]


def test_without_an_embedder_nothing_is_pending(stage: Stage) -> None:
    db = stage.open(Player("openai", ["Nine. [^1]"]))
    db.put("notes", ROWS)
    assert warned(db.ask("When does the ferry leave?").validation.warnings) == []
    assert db.embed() == 0
    assert db.doctor()["embedding"] == {"embedder": "none", "model": "none", "pending": 0}


def test_a_new_row_is_found_by_its_vector_as_soon_as_put_returns(stage: Stage) -> None:
    db = stage.open(toml=HASHED)
    db.put("notes", ROWS)
    buckets = {each.bucket: each.candidates for each in db.search("ferries").buckets}
    assert len(buckets["vector"]) == len(ROWS)


def test_vectors_of_another_model_are_not_compared(stage: Stage) -> None:
    with redask.open(stage.directory, embedder="hashed") as db:
        db.put("notes", ROWS)
    with redask.open(stage.directory, embedder="minilm") as db:
        found = db.search("ferry")
        assert [each.candidates for each in found.buckets if each.bucket == "vector"] == [()]
        assert warned(found.warnings) == [PENDING]
        with pytest.raises(Misconfigured, match="redask reembed"):
            db.put("notes", [{"id": 4, "text": "late"}])
        assert db.get("urn:reddb:row:notes/4") is not None
        assert db.embed(anew=True) == len(ROWS) + 1
        assert warned(db.search("ferry").warnings) == []


def test_vectors_of_another_model_with_equal_dimensions_are_not_compared(stage: Stage) -> None:
    with redask.open(stage.directory, embedder="hashed") as db:
        db.put("notes", ROWS)
        embedding_stage = db._async._app.retriever.embedding
        assert embedding_stage is not None
        embedding_stage.embedder.model = "hashed-128-2"
        found = db.search("ferry")
        assert [each.candidates for each in found.buckets if each.bucket == "vector"] == [()]
        assert warned(found.warnings) == [PENDING]


GERMAN = [
    {"id": 1, "text": "Die Fähre nach Amrum fährt um neun Uhr von der Insel ab, und das ist früh."},
    {"id": 2, "text": "Der Leuchtturm ist am Sonntag für alle geöffnet, aber nicht im Winter."},
]


def test_outside_the_embedders_languages_the_vector_bucket_is_left_out(stage: Stage) -> None:
    with redask.open(stage.directory, embedder="minilm") as db:
        db.put("notes", ROWS)
        english = {each.bucket: each for each in db.search("When does the boat go?").buckets}
        german = {each.bucket: each for each in db.search("Wann fährt die Fähre ab?").buckets}
        assert english["vector"].candidates
        assert (english["vector"].left_out, german["vector"].candidates) == ("", ())
        assert "the question is in de" in german["vector"].left_out
    with redask.open(stage.directory / "german", embedder="minilm") as db:
        db.put("notes", GERMAN)
        found = {each.bucket: each for each in db.search("Amrum").buckets}
        assert found["bm25"].candidates
        assert "the data is in de" in found["vector"].left_out
        assert db.search("Amrum").notes == (f"vector {found['vector'].left_out}",)


# --- policies ----------------------------------------------------------------------------

HIDING = {"read": [{"roles": ["client"], "hide": ["salary"]}]}
PAID = [{"id": 1, "text": "harbour master", "salary": "ninety thousand"}]


def embedded(text: str) -> tuple[float, ...]:
    return Hashed().embed([text])[0]


def test_a_column_that_a_policy_hides_is_embedded_for_nobody(store: EntityStore) -> None:
    store.put(entity_rows.entities("people", PAID), ME)
    staged(store).finish(T)
    assert vectors(store)["urn:reddb:row:people/1"] == pytest.approx(
        embedded("ninety thousand\nharbour master"), abs=1e-6
    )
    store.set_policy("people", HIDING, ME)
    assert vectors(store)["urn:reddb:row:people/1"] is None
    staged(store).finish(T)
    assert vectors(store)["urn:reddb:row:people/1"] == pytest.approx(
        embedded("harbour master"), abs=1e-6
    )


def test_a_policy_that_comes_while_it_is_embedded_is_not_forgotten(store: EntityStore) -> None:
    store.put(entity_rows.entities("people", PAID), ME)
    recording = RecordingEmbedder()
    recording.before.append(lambda: store.set_policy("people", HIDING, ME))
    staged(store, recording).finish(T)
    assert recording.texts == ["ninety thousand\nharbour master"]
    assert vectors(store)["urn:reddb:row:people/1"] is None
    assert store.count_unembedded(T) == 1
    staged(store).finish(T)
    assert vectors(store)["urn:reddb:row:people/1"] == pytest.approx(
        embedded("harbour master"), abs=1e-6
    )


def test_whether_embedding_is_pending_depends_on_what_a_caller_may_read_now(
    store: EntityStore,
) -> None:
    client = Caller(T, "gil", "client")
    store.put(entity_rows.entities("people", PAID), ME)
    stage = staged(store)
    assert stage.warnings(client, store.view(client))
    store.set_policy("people", {"read": [{"roles": ["support"]}]}, ME)
    assert not stage.warnings(client, store.view(client))
    store.set_policy("people", {"read": [{"roles": ["client"]}]}, ME)
    assert stage.warnings(client, store.view(client))
