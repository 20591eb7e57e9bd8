"""The lock of an index: one holder among threads and processes, and none that is dead."""

import ast
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from waiting import SECONDS, until

import redask
from redask.core.errors import StoreFailed
from redask.index.file_lock import FileLock

HOLDER = """
import sys, threading
from pathlib import Path
from redask.index.file_lock import FileLock
with FileLock(Path(sys.argv[1]), 60):
    print("held", flush=True)
    threading.Event().wait()
"""
OF_ONE_PLATFORM = {"fcntl", "grp", "msvcrt", "pty", "pwd", "resource", "termios", "winreg"}


def test_threads_take_it_one_after_another(tmp_path: Path) -> None:
    inside, most, turns = 0, 0, []

    def work(number: int) -> None:
        nonlocal inside, most
        for _ in range(20):
            with FileLock(tmp_path / "lock", SECONDS):
                inside += 1
                most = max(most, inside)
                turns.append(number)
                inside -= 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert (most, len(turns)) == (1, 80)


def test_who_waits_gets_it_when_the_holder_is_done(tmp_path: Path) -> None:
    taken, begun = threading.Event(), threading.Event()

    def wait() -> None:
        lock = FileLock(tmp_path / "lock", SECONDS)
        begun.set()
        with lock:
            taken.set()

    with FileLock(tmp_path / "lock", SECONDS):
        thread = threading.Thread(target=wait)
        thread.start()
        assert begun.wait(SECONDS)
        assert not taken.wait(0.05)
    assert taken.wait(SECONDS)
    thread.join()


def test_a_process_that_is_killed_lets_go(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        taken = threading.Event()

        def wait() -> None:
            with FileLock(tmp_path / "lock", SECONDS):
                taken.set()

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        assert not taken.wait(0.05)
        holder.send_signal(signal.SIGKILL)
        assert until(taken.is_set)


def test_an_error_inside_lets_go(tmp_path: Path) -> None:
    with pytest.raises(KeyError), FileLock(tmp_path / "lock", SECONDS):
        raise KeyError
    with FileLock(tmp_path / "lock", SECONDS):
        pass


def test_a_process_that_is_stopped_is_named_when_the_time_is_over(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        holder.send_signal(signal.SIGSTOP)
        with pytest.raises(StoreFailed) as told, FileLock(tmp_path / "lock", 0.05):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert told.value.message == (
        f"lock was not free for 0.05 s: process {holder.pid} holds it; "
        "try again, or end that process if it is stuck"
    )
    with FileLock(tmp_path / "lock", 0.05):
        pass


def test_a_thread_of_the_same_process_is_named_so(tmp_path: Path) -> None:
    with (
        FileLock(tmp_path / "lock", SECONDS),
        pytest.raises(StoreFailed, match=rf"this process \({os.getpid()}\) holds it"),
        FileLock(tmp_path / "lock", 0.01),
    ):
        pass


def test_a_holder_that_left_no_number_is_another_process(tmp_path: Path) -> None:
    with FileLock(tmp_path / "lock", SECONDS):
        (tmp_path / "lock").write_bytes(b"\0some garbage")
        with (
            pytest.raises(StoreFailed, match="another process holds it"),
            FileLock(tmp_path / "lock", 0.01),
        ):
            pass


def test_where_there_is_no_flock_the_first_byte_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []

    def locking(file: int, mode: int, size: int) -> None:
        asked.append((mode, size))
        if len(asked) < 3:
            raise OSError("permission denied")

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    with FileLock(tmp_path / "lock", SECONDS):
        assert asked == [(2, 1)] * 3
    monkeypatch.setitem(sys.modules, "fcntl", None)
    asked.clear()
    with pytest.raises(StoreFailed, match="was not free for 0 s"), FileLock(tmp_path / "lock", 0):
        pass


def test_no_module_needs_one_platform_to_be_imported() -> None:
    found = []
    for path in Path(redask.__file__).parent.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            found += [(path.name, name) for name in names if name in OF_ONE_PLATFORM]
    assert found == []
