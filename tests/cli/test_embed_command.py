"""Embedding that is interrupted says what is left, and the next command goes on."""

import signal
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from waiting import SECONDS

import redask
from redask.cli import main
from redask.cli.rendering import EmbeddingLine
from redask.embedding.models.hashed import Hashed
from redask.embedding.stage import BATCH, EmbeddingStage

LINES = BATCH + 6


@pytest.fixture(autouse=True)
def hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDASK_EMBEDDER_NAME", "hashed")


def run(db: Path, *words: object) -> Result:
    return CliRunner().invoke(main, ["--db", str(db), *map(str, words)])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = "".join(f'{{"id": {n}, "text": "the ferry number {n}"}}\n' for n in range(LINES))
    (tmp_path / "lines.jsonl").write_text(rows)
    return tmp_path / "lines.jsonl"


def pending(db: Path) -> int:
    with redask.open(db) as opened:
        left: int = opened.doctor()["embedding"]["pending"]
        return left


def ctrl_c(monkeypatch: pytest.MonkeyPatch, *, told: bool) -> None:
    """Ctrl-C in the first batch, or when it was told that this is done; then others stop, too."""
    stopped, stop = threading.Event(), EmbeddingStage.stop
    shown, embed = EmbeddingLine.__call__, Hashed.embed

    def press() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        assert stopped.wait(SECONDS)

    def stopping(self: EmbeddingStage) -> None:
        stop(self)
        stopped.set()

    def after_a_batch(self: EmbeddingLine, done: int, total: int) -> None:
        shown(self, done, total)
        press()

    def within_a_batch(self: Hashed, texts: Sequence[str]) -> list[tuple[float, ...]]:
        press()
        return embed(self, texts)

    monkeypatch.setattr(EmbeddingStage, "stop", stopping)
    if told:
        monkeypatch.setattr(EmbeddingLine, "__call__", after_a_batch)
    else:
        monkeypatch.setattr(Hashed, "embed", within_a_batch)


@pytest.mark.parametrize("again", [("embed",), ("ingest",)])
def test_ctrl_c_while_an_ingest_embeds_says_what_is_left_and_loses_nothing(
    tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch, again: tuple[str, ...]
) -> None:
    db = tmp_path / "db"
    with monkeypatch.context() as patch:
        ctrl_c(patch, told=True)
        done = run(db, "ingest", table)
    assert done.exit_code == 130
    assert f"{LINES} entities written" in done.stdout
    assert "searchable by words and links now" in done.stderr
    assert f"6 of {LINES} are not embedded yet; what is done stays." in done.stderr
    assert "`redask embed` goes on" in done.stderr
    assert pending(db) == 6
    with redask.open(db) as opened:
        answer = opened.ask("Which ferry has number 69?")
        assert "embedding_pending" in {each.kind for each in answer.validation.warnings}
    assert run(db, *again, *([table] if again == ("ingest",) else [])).exit_code == 0
    assert pending(db) == 0


def test_ctrl_c_within_a_batch_keeps_it(
    tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "db", "ingest", "--no-wait", table)
    with monkeypatch.context() as patch:
        ctrl_c(patch, told=False)
        done = run(tmp_path / "db", "embed")
    assert (done.exit_code, pending(tmp_path / "db")) == (130, LINES - BATCH)
    assert f"6 of {LINES} are not embedded yet; what is done stays." in done.stderr
    assert run(tmp_path / "db", "embed").output == f"{LINES - BATCH} embedded\n"


def test_ctrl_c_before_anything_is_known_says_no_number(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended, EmbeddingLine().interruptible():
        raise KeyboardInterrupt
    assert ended.value.code == 130
    assert "not everything is embedded yet; what is done stays." in capsys.readouterr().err
