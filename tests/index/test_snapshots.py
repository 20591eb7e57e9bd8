"""Snapshots of the index: a new node starts from one, or says why not and starts from the log."""

import random
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from redask.core.errors import Misconfigured, StoreFailed
from redask.core.model import Caller
from redask.core.ports import Change, Entity, Found, StoreView, Visibility
from redask.index import SearchIndex
from redask.index.snapshots import index_snapshots
from redask.index.snapshots import signed_manifest as manifest
from redask.index.snapshots.index_snapshots import IndexSnapshots
from redask.index.snapshots.signed_manifest import (
    Refused,
    SnapshotFile,
    SnapshotManifest,
    SnapshotSubject,
)
from redask.index.snapshots.snapshot_places import SnapshotPlace, place_of
from tests.index.memory_store import MemoryStore
from tests.index.texts import corpus, questions, row

CALLER, TENANT, KEY = Caller(), "local", b"of the database"
CHANCE = random.Random(3)
CONTENT = [
    Entity(each.urn, each.payload, vector=tuple(CHANCE.uniform(-1, 1) for _ in range(8)))
    for each in corpus(700)
]
LATER = [row(number, text="the pilot comes aboard at noon") for number in range(700, 720)]
QUESTIONS = questions(12)
SUBJECT = SnapshotSubject("memory", TENANT, SearchIndex.layout, None)
FOUND = SnapshotManifest(SUBJECT, 7, "7", "snapshot-1", (SnapshotFile("words/a", 3, "ab"),))


def changed(**fields: object) -> SnapshotManifest:
    subject: dict[str, object] = {
        "identity": "memory",
        "tenant": TENANT,
        "layout": SearchIndex.layout,
        "space": None,
    }
    rest: dict[str, object] = {
        "watermark": 7,
        "history": "7",
        "folder": "snapshot-1",
        "files": FOUND.files,
    }
    rest |= {name: value for name, value in fields.items() if name in rest}
    subject |= {name: value for name, value in fields.items() if name in subject}
    return SnapshotManifest(SnapshotSubject(**subject), **rest)  # type: ignore[arg-type]


def test_a_manifest_is_read_as_it_was_signed() -> None:
    assert manifest.read(FOUND.signed(KEY), KEY) == FOUND
    with_vectors = changed(space=("minilm", 8))
    assert manifest.read(with_vectors.signed(KEY), KEY) == with_vectors
    assert FOUND.size == 3
    for content in (FOUND.signed(b"another"), FOUND.signed(KEY)[:-1], b"", b"{}"):
        with pytest.raises(Refused, match="damaged, or was not written by a node of this"):
            manifest.read(content, KEY)


@pytest.mark.parametrize("path", ["../a", "a/../b", "/etc/passwd", "a//b", "", "a/"])
def test_no_file_of_a_snapshot_is_outside_of_it(path: str) -> None:
    for bad in (changed(folder=path), changed(files=(SnapshotFile(path, 1, ""),))):
        with pytest.raises(Refused, match="outside"):
            manifest.read(bad.signed(KEY), KEY)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"identity": "x"}, "it is of another database"),
        ({"tenant": "x"}, "it is of another tenant"),
        ({"layout": "5.1"}, "it is of index version 5.1, not"),
        ({"space": ("minilm", 8)}, "its vectors are of another embedding model"),
        ({"watermark": 8}, "none that the database remembers"),
        ({"history": "6"}, "none that the database remembers"),
    ],
)
def test_a_snapshot_of_something_else_is_refused(fields: dict[str, object], reason: str) -> None:
    manifest.check(FOUND, SUBJECT, 7, lambda history: history == "7")
    with pytest.raises(Refused, match=reason):
        manifest.check(changed(**fields), SUBJECT, 7, lambda history: history == "7")


def test_a_snapshot_is_due_when_there_is_none_or_a_tenth_has_changed() -> None:
    assert [manifest.is_due(at, None) for at in (0, 1)] == [False, True]
    assert [manifest.is_due(at, 100) for at in (90, 611, 612)] == [False, False, True]
    assert [manifest.is_due(at, 10_000) for at in (10_999, 11_000)] == [False, True]


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket of an S3-compatible server on loopback."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret-of-the-operator")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        boto3.client("s3").create_bucket(Bucket="snapshots")
        yield "snapshots"
    server.stop()


@pytest.fixture(params=["directory", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> SnapshotPlace:
    if request.param == "directory":
        return place_of(str(tmp_path / "place"))
    return place_of(f"s3://{request.getfixturevalue('bucket')}/{tmp_path.name}")


class SpacedStore(MemoryStore):
    """Has vectors of one space."""

    space = ("minilm", 8)

    def view(self, caller: Caller) -> StoreView:
        return StoreView(self._seq, Visibility(), self.space, self.history(caller.tenant))


Open = Callable[..., tuple[SearchIndex, IndexSnapshots]]


@pytest.fixture
def store() -> SpacedStore:
    made = SpacedStore()
    made.put(CONTENT, CALLER)
    return made


@pytest.fixture
def node(tmp_path: Path, store: SpacedStore, place: SnapshotPlace) -> Iterator[Open]:
    """Opens the index of one more node."""
    opened: list[SearchIndex] = []

    def make(key: bytes = KEY, of: MemoryStore = store) -> tuple[SearchIndex, IndexSnapshots]:
        index = SearchIndex(tmp_path / f"node{len(opened)}", of)
        opened.append(index)
        return index, IndexSnapshots(index, of, key, place)

    yield make
    for each in opened:
        each.close()


def answers(index: SearchIndex) -> list[tuple[Found, ...]]:
    return [index.search(each, CALLER) for each in QUESTIONS]


def written(node: Open) -> SearchIndex:
    """A node that has written a snapshot."""
    index, snapshots = node()
    answers(index)
    assert snapshots.keep(TENANT)
    return index


def test_a_node_starts_from_a_snapshot_and_catches_up_from_the_log(
    node: Open, store: SpacedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = written(node)
    store.put(LATER, CALLER)
    store.delete([CONTENT[5].urn, CONTENT[6].urn], CALLER)
    read: list[int] = []
    changes = store.changes

    def noticed(tenant: str, after: int, most: int) -> list[Change]:
        read.append(after)
        return changes(tenant, after, most)

    monkeypatch.setattr(store, "changes", noticed)
    new, snapshots = node()
    assert snapshots.start_from(TENANT)
    assert new.health(TENANT).watermark == len(CONTENT)
    assert new.verify(TENANT) == ""
    assert answers(new) == answers(old)
    assert min(read) >= len(CONTENT)  # the log was read from there on
    zero, _ = node()
    assert answers(zero) == answers(new)
    assert not snapshots.start_from(TENANT)  # it has an index by now
    left = new.directory_of(TENANT).glob("snapshot-*")
    assert list(left) == []


def refused(node: Open, caplog: pytest.LogCaptureFixture, key: bytes = KEY) -> str:
    """Why a new node does not start from the snapshot; its answers are the log's."""
    index, snapshots = node(key)
    caplog.clear()
    assert not snapshots.start_from(TENANT)
    assert not index.has_files(TENANT)
    zero, _ = node()
    assert answers(index) == answers(zero)
    return said(caplog)


def said(caplog: pytest.LogCaptureFixture) -> str:
    """What the operator reads of snapshots."""
    return " ".join(each.getMessage() for each in caplog.records if each.name == "redask.snapshots")


def test_where_there_is_no_snapshot_the_log_is_read_and_nothing_is_said(
    node: Open, caplog: pytest.LogCaptureFixture
) -> None:
    assert refused(node, caplog) == ""


def test_a_snapshot_of_a_database_with_another_key_is_left_alone(
    node: Open, caplog: pytest.LogCaptureFixture
) -> None:
    written(node)
    assert "made from the log: its manifest is damaged, or was" in refused(node, caplog, b"x")


def test_a_snapshot_that_the_log_does_not_know_is_left_alone(
    node: Open,
    store: SpacedStore,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written(node)
    with monkeypatch.context() as patch:
        patch.setattr(store, "follows", lambda *_: False)
        assert not node()[1].start_from(TENANT)
    assert "none that the database remembers" in said(caplog)
    monkeypatch.setattr(store, "space", ("another", 8))
    assert "another embedding model" in refused(node, caplog)


def test_a_snapshot_that_was_never_finished_is_none(
    node: Open,
    place: SnapshotPlace,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index, snapshots = node()
    answers(index)
    sent: list[str] = []
    send = place.send

    def fails(path: Path, name: str) -> None:
        if len(sent) == 3:
            raise StoreFailed("the network is cut")
        sent.append(name)
        send(path, name)

    with monkeypatch.context() as patch:
        patch.setattr(place, "send", fails)
        with pytest.raises(StoreFailed):
            snapshots.keep(TENANT)
    assert refused(node, caplog) == ""
    assert snapshots.keep(TENANT)  # it is tried again
    assert node()[1].start_from(TENANT)


def test_a_file_that_is_gone_is_no_reason_to_fail(
    node: Open, place: SnapshotPlace, caplog: pytest.LogCaptureFixture
) -> None:
    _, snapshots = written(node), node()[1]
    found = snapshots._usable(TENANT)
    assert found is not None
    place.remove(f"{snapshots._name(TENANT)}/{found.folder}/words")
    assert "cannot be used" in refused(node, caplog)


def test_what_is_old_and_named_by_no_manifest_is_removed(
    node: Open, place: SnapshotPlace, store: SpacedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, snapshots = node()
    answers(index)
    for _ in range(3):
        snapshots.write(TENANT)
    name = snapshots._name(TENANT)
    assert len(place.folders(name)) == 3  # they are young: somebody may be at work
    monkeypatch.setattr(index_snapshots, "_DAY", -1.0)
    last = snapshots._usable(TENANT)
    snapshots.write(TENANT)
    newest = snapshots._usable(TENANT)
    assert last is not None
    assert newest is not None
    assert set(place.folders(name)) == {last.folder, newest.folder}
    assert not snapshots.keep(TENANT)
    store.put([row(number, text="fog") for number in range(1000, 1600)], CALLER)
    assert not snapshots.keep(TENANT)  # this node's index has none of it yet
    answers(index)
    assert snapshots.keep(TENANT)


def test_the_index_is_not_begun_anew_with_one_that_came_meanwhile(
    node: Open, place: SnapshotPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, (new, snapshots) = written(node), node()
    fetch = place.fetch

    def slow(name: str, path: Path) -> None:
        if not new.has_files(TENANT):
            answers(new)
        fetch(name, path)

    monkeypatch.setattr(place, "fetch", slow)
    snapshots.start_from(TENANT)
    assert answers(new) == answers(old)


# --- a directory, and its files ----------------------------------------------------------------


in_a_directory = pytest.mark.parametrize("place", ["directory"], indirect=True)


@pytest.fixture
def folder(tmp_path: Path, node: Open) -> Path:
    """The files of a snapshot in a directory."""
    written(node)
    (found,) = (tmp_path / "place").glob("*/*/*/snapshot-*")
    return found


@in_a_directory
def test_nobody_else_may_read_a_snapshot(folder: Path, tmp_path: Path) -> None:
    for path in [tmp_path / "place", *(tmp_path / "place").rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


@in_a_directory
@pytest.mark.parametrize("name", ["forward.sqlite", "words/meta.json", "vectors/8/manifest.json"])
@pytest.mark.parametrize("how", ["changed", "shortened", "gone"])
def test_a_tampered_snapshot_is_left_alone(
    folder: Path, node: Open, caplog: pytest.LogCaptureFixture, name: str, how: str
) -> None:
    path = folder / name
    content = path.read_bytes()
    if how == "gone":
        path.unlink()
        assert "cannot be used: No such file" in refused(node, caplog)
    else:
        path.write_bytes(content[:-1] + (b"x" if how == "changed" else b""))
        assert "a file of it is not what was written" in refused(node, caplog)


@in_a_directory
@pytest.mark.parametrize(
    "files",
    [
        *("words/*.idx", "words/*.store", "columns-*", "forward.sqlite"),
        *("vectors/8/floats-*", "vectors/8/journal-*"),  # which are not folded yet
    ],
)
def test_an_index_that_was_corrupt_when_it_was_copied_is_left_alone(
    folder: Path, node: Open, caplog: pytest.LogCaptureFixture, files: str
) -> None:
    """Its hashes are right, and its own checksums are not."""
    index, snapshots = node()
    answers(index)
    copied = index.copy_to

    def corrupted(tenant: str, into: Path) -> object:
        found = copied(tenant, into)
        rotten = max(into.glob(files), key=lambda path: path.stat().st_size)
        with open(rotten, "r+b") as file:  # where nothing is read when an index is opened
            file.seek(rotten.stat().st_size // 10)
            file.write(b"rot")
        return found

    index.copy_to = corrupted  # type: ignore[assignment,method-assign]
    snapshots.write(TENANT)
    assert "the index is corrupt" in refused(node, caplog)


@in_a_directory
def test_a_disk_without_room_takes_none(
    folder: Path, node: Open, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(index_snapshots, "_SPARE_BYTES", 2**60)
        assert not node()[1].start_from(TENANT)
    assert "there is no room for it" in said(caplog)


def test_a_place_is_a_directory_or_a_bucket() -> None:
    for location in ("https://example.org/a", "s3://", "s3://key:secret@bucket/a", "s3://a/b?c"):
        with pytest.raises(Misconfigured, match="s3://bucket/prefix"):
            place_of(location)


def test_an_object_store_that_cannot_be_reached_is_said_without_its_secrets(
    bucket: str, tmp_path: Path, store: SpacedStore, caplog: pytest.LogCaptureFixture
) -> None:
    index = SearchIndex(tmp_path / "index", store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        gone = place_of("s3://snapshots/x")
    for place in (gone, place_of("s3://no-such-bucket/x")):
        snapshots = IndexSnapshots(index, store, KEY, place)
        assert not snapshots.start_from(TENANT)
        with pytest.raises(StoreFailed, match="object store of snapshots cannot be used"):
            place.replace("a", b"")
    assert "EndpointConnectionError" in said(caplog)
    assert "NoSuchBucket" in said(caplog)
    assert "a-secret" not in caplog.text
    index.close()
