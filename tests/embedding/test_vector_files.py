"""Files of vectors: what is written is found, and what is not whole is refused."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from redask.core.errors import BadAsk
from redask.embedding.models.hashed import Hashed
from redask.embedding.taken_vectors import TRIED, TakenVectors
from redask.embedding.vector_files import Shard, VectorFile, text_hash, writing

TEXTS = [f"text number {number}" for number in range(40)]
ALL = Shard(1, 1)
WIDTH = 128


class Narrow(Hashed):
    """A model that counts what it embeds, of numbers that float32 holds."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        self.embedded += texts
        return [_vector(text, self.dimensions) for text in texts]


def _vector(text: str, dimensions: int) -> tuple[float, ...]:
    return (float(len(text)), float(sum(map(ord, text))), *[0.5] * (dimensions - 2))


def written(path: Path, texts: Sequence[str] = TEXTS, model: Hashed | None = None) -> Path:
    embedder = model or Narrow()
    with writing(path, embedder, ALL) as file:
        for text in texts:
            file.add(text_hash(text), _vector(text, embedder.dimensions))
    return path


@pytest.mark.parametrize("number", [0, 1, 40])
def test_every_vector_is_found_by_its_text_and_nothing_else_is(tmp_path: Path, number: int) -> None:
    file = VectorFile(written(tmp_path / "v", TEXTS[:number]), Narrow())
    assert file.count == number
    for text in TEXTS[:number]:
        assert file.find(text_hash(text)) == _vector(text, WIDTH)
    assert file.find(text_hash("another")) is None


def test_hashes_that_begin_alike_are_told_apart(tmp_path: Path) -> None:
    model = Narrow()
    digests = [b"12345678" + bytes([number]) * 24 for number in (3, 1, 2)]
    with writing(tmp_path / "v", model, ALL) as writer:
        for number, digest in enumerate(digests):
            writer.add(digest, (float(number), *[0.5] * (model.dimensions - 1)))
    file = VectorFile(tmp_path / "v", model)
    found = [file.find(digest) for digest in digests]
    assert [each[0] for each in found if each] == [0.0, 1.0, 2.0]
    assert file.find(b"12345678" + b"\4" * 24) is None


def test_any_changed_byte_and_any_length_but_its_own_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "v", TEXTS[:2])
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(BadAsk):
            VectorFile(path, Narrow())
    for size in (0, 1, 40, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(BadAsk):
            VectorFile(path, Narrow())
    path.write_bytes(whole + b"\0")
    with pytest.raises(BadAsk, match="damaged"):
        VectorFile(path, Narrow())
    with pytest.raises(BadAsk, match="cannot be read"):
        VectorFile(tmp_path / "none", Narrow())


def test_another_model_another_length_and_another_version_are_refused(tmp_path: Path) -> None:
    path, other = written(tmp_path / "v"), Narrow()
    other.model = "another-model"
    with pytest.raises(BadAsk, match=r"are of 'hashed-128-1' with 128 dimensions, the embedder is"):
        VectorFile(path, other)
    other = Narrow()
    other.dimensions = 64
    with pytest.raises(BadAsk, match="the embedder is hashed-128-1 with 64"):
        VectorFile(path, other)
    path.write_bytes(path.read_bytes().replace(b'"redask_vectors":1', b'"redask_vectors":2'))
    with pytest.raises(BadAsk, match="upgrade redask"):
        VectorFile(path, Narrow())
    path.write_text("[]\n")
    with pytest.raises(BadAsk, match="no file of vectors"):
        VectorFile(path, Narrow())


def test_a_file_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    def interrupted(model: Hashed) -> None:
        with writing(tmp_path / "v", model, ALL) as writer:
            writer.add(text_hash("a"), _vector("a", WIDTH))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted(Narrow())
    assert list(tmp_path.iterdir()) == []
    narrower = Narrow()
    narrower.dimensions = 3
    with pytest.raises(ValueError, match="128 dimensions"):
        interrupted(narrower)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(BadAsk, match="cannot be written"), writing(tmp_path / "a/b", Narrow(), ALL):
        pass


@pytest.mark.parametrize("count", [1, 2, 7])
def test_every_text_is_in_exactly_one_shard(count: int) -> None:
    shards = [Shard.read(f"{number}/{count}") for number in range(1, count + 1)]
    for text in TEXTS:
        assert sum(shard.holds(text_hash(text)) for shard in shards) == 1
    assert all(any(shard.holds(text_hash(text)) for text in TEXTS) for shard in shards)


@pytest.mark.parametrize("wrong", ["", "0/3", "4/3", "1/0", "1", "1/3/5", "-1/3", "1/10001", "a/b"])
def test_what_is_no_shard_is_refused(wrong: str) -> None:
    with pytest.raises(BadAsk, match="is no shard"):
        Shard.read(wrong)


def test_vectors_are_taken_from_files_and_the_first_of_each_are_tried(tmp_path: Path) -> None:
    model = Narrow()
    files = [
        VectorFile(written(tmp_path / "1", TEXTS[:20]), model),
        VectorFile(written(tmp_path / "2", TEXTS[20:30]), model),
    ]
    taken = TakenVectors(model, files)
    assert taken.embed(TEXTS) == [_vector(text, model.dimensions) for text in TEXTS]
    assert (taken.taken, taken.made) == (30, 10)
    tried = [*TEXTS[:TRIED], *TEXTS[20 : 20 + TRIED]]
    assert sorted(model.embedded) == sorted([*TEXTS[30:], *tried])
    model.embedded.clear()
    assert taken.embed(TEXTS[:20]) == [_vector(text, model.dimensions) for text in TEXTS[:20]]
    assert model.embedded == []


def test_a_vector_that_this_machine_would_not_make_is_refused(tmp_path: Path) -> None:
    model = Narrow()
    with writing(tmp_path / "v", model, ALL) as writer:
        vector = _vector("a", model.dimensions)
        writer.add(text_hash("a"), (vector[0] + 1e-4, *vector[1:]))
    taken = TakenVectors(model, [VectorFile(tmp_path / "v", model)])
    with pytest.raises(BadAsk, match="another vector of a text than this machine makes"):
        taken.embed(["a"])
