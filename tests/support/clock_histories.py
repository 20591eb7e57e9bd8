"""Random histories under a clock that jumps: `play_clock(seed, steps, directory)`.

Two databases live side by side. Time passes in steps of up to a day; the clock that they see jumps
beside it: back a day, ahead by 91 days or by twelve years, an hour for DST, and is set right again.

    ask         rows in the log; one question is asked with the cache on, and its answer compared
                with that of a database of the same content that knows no clock but one
    write       a row of data
    keep, copy  a copy of closed files; one database becomes a copy of the other: both go on
    put back    a kept copy, in whole, or the store or the log of it alone
    restore     by `db.backup` and `redask.restore`
    fork        a child process asks, and is refused
    tamper      rows are taken out of a log: its end, its middle, its beginning as if by retention,
                or all of it

After each: the log holds what was written to it, but for rows at its old end that really are older
than they are kept; `verify` approves it if nothing happened to the files, and never if the store
remembers a row that is missing.
"""

import os
import random
import shutil
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from store_histories import replace as replace_files

import redask
from redask.core.rules.audit_chain import Broken
from redask.core.rules.auditing.lived_time import DAY_NS
from redask.core.settings import Settings

KEPT_DAYS = 3
SETTINGS = Settings(audit_retention_days=KEPT_DAYS)
HOUR_NS = DAY_NS // 24
QUESTION = "When does the ferry leave?"
JUMPS = (-DAY_NS, 91 * DAY_NS, 12 * 365 * DAY_NS, HOUR_NS, -HOUR_NS, -3 * DAY_NS)
_FORWARDS = 5  # jumps in a row; see `lived_time`
_START = 20_000 * DAY_NS
STORE, LOG = "redask.sqlite", "calls.sqlite"


@dataclass(frozen=True)
class Written:
    """What is known of a directory: rows of its log, what its store remembers, of which moments.

    `rows` are numbers with the time at which they really were written.
    """

    rows: tuple[tuple[int, int], ...] = ()
    remembered: frozenset[int] = frozenset()
    store_moment: int = 0
    log_moment: int = 0
    content: tuple[int, ...] = ()


class ClockHistory:
    """One history; `wrong` says what it found."""

    def __init__(self, seed: int, directory: Path) -> None:
        self.chance = random.Random(seed)
        self.directory = directory
        self.time, self.ahead, self.forwards = _START, 0, 0
        self.known = {"a": Written(), "b": Written()}
        self.kept: list[tuple[Path, Written]] = []
        self.answers: dict[tuple[int, ...], str] = {}
        self.numbers = iter(range(1, 10**9))
        self.moments = iter(range(1, 10**9))
        self.wrong: list[str] = []
        self.log: list[str] = []
        self.pruned = self.broken = self.jumps = 0

    def clock(self) -> int:
        return self.time + self.ahead

    def step(self) -> None:
        """Let time pass, let the clock jump now and then, do one thing, look at it."""
        self.time += self.chance.choice((60 * 10**9, 9 * HOUR_NS, 23 * HOUR_NS, 23 * HOUR_NS))
        if self.chance.random() < 0.08:  # more of them, and the log's own time hardly goes on
            self.jump()
        place = self.chance.choice(("a", "b"))
        acts = (self.ask, self.write, self.keep, self.copy)
        rare = (self.put_back, self.restore, self.fork, self.tamper)
        act = self.chance.choices((*acts, *rare), (9, 3, 2, 1, 2, 1, 1, 2))[0]
        self.log.append(f"{act.__name__} {place}")
        act(place)
        self.check(place)

    def jump(self) -> None:
        back = self.forwards >= _FORWARDS or self.chance.random() < 0.4
        by = self.chance.choice([each for each in JUMPS if not back or each < 0])
        if back and self.chance.random() < 0.5:
            by = -self.ahead  # it is set right
        self.ahead += by
        self.jumps += 1
        if abs(by) > DAY_NS:
            self.forwards = self.forwards + 1 if by > 0 else 0
        self.log.append(f"clock {by // HOUR_NS:+} h")

    # --- what can happen --------------------------------------------------------------------------

    def ask(self, place: str) -> None:
        known = self.known[place]
        with self.opened(place) as db:
            for _ in range(self.chance.randrange(1, 4)):
                number = next(self.numbers)
                db.ask(f"What is row {number}?")
                known = replace(known, rows=(*known.rows, (number, self.time)))
            if known.content:
                number = next(self.numbers)
                answer = db.ask(QUESTION, cache={"ttl": "1d"})
                known = replace(known, rows=(*known.rows, (number, self.time)))
                self.compare(known.content, str(answer.to_dict()["answer"]))
        self.closed(place, known)

    def compare(self, content: tuple[int, ...], answer: str) -> None:
        if content not in self.answers:
            fresh = self.directory / "fresh"
            shutil.rmtree(fresh, ignore_errors=True)
            with redask.open(fresh, embedder="none", clock=lambda: _START) as db:
                for each in content:
                    db.put("notes", [row(each)])
                self.answers[content] = str(db.ask(QUESTION).to_dict()["answer"])
        if answer != self.answers[content]:
            self.tell(f"answered {answer!r}, not {self.answers[content]!r}")

    def write(self, place: str) -> None:
        known = self.known[place]
        number = self.chance.randrange(4)
        with self.opened(place) as db:
            db.put("notes", [row(number)])
        self.closed(place, replace(known, content=tuple(sorted({*known.content, number}))))

    def keep(self, place: str) -> None:
        if self.at(place).exists():
            copy = self.directory / f"kept-{len(self.kept)}"
            shutil.copytree(self.at(place), copy)
            self.kept.append((copy, self.known[place]))

    def copy(self, place: str) -> None:
        other = "b" if place == "a" else "a"
        if self.at(other).exists():
            replace_files(self.at(other), self.at(place))
            self.known[place] = self.known[other]

    def put_back(self, place: str) -> None:
        if not self.kept:
            return
        source, then = self.chance.choice(self.kept)
        now, part = self.known[place], self.chance.choice(("all", STORE, LOG))
        if part == "all" or not self.at(place).exists():
            replace_files(source, self.at(place))
            self.known[place] = then
            return
        self.log[-1] += f" {part}"
        replace_files(source / part, self.at(place) / part)
        if part == LOG:
            self.known[place] = replace(now, rows=then.rows, log_moment=then.log_moment)
        else:
            self.known[place] = replace(
                then, rows=now.rows, log_moment=now.log_moment, content=then.content
            )
        self.settle(place)

    def restore(self, place: str) -> None:
        target = self.chance.choice(("a", "b"))
        if not self.at(place).exists():
            return
        with self.opened(place) as db:
            db.backup(self.directory / "backup")
        redask.restore(self.directory / "backup", to=self.at(target), overwrite=True)
        for old in self.directory.glob("*.before-*"):
            shutil.rmtree(old)
        self.known[target] = self.known[place]
        self.check(target)

    def fork(self, place: str) -> None:
        with self.opened(place) as db, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that forking with threads is a bad idea is the point
            child = os.fork()
            if child == 0:
                try:
                    db.ask("What is of the child?")
                except redask.AskError:
                    os._exit(0)
                finally:
                    os._exit(1)
            _, status = os.waitpid(child, 0)
            if status:
                self.tell("a fork was answered")
        self.closed(place, self.known[place])

    def tamper(self, place: str) -> None:
        """Take something out of the log, see that it is found, and put it back."""
        known = self.known[place]
        if not known.rows:
            return
        with closing(sqlite3.connect(self.at(place) / LOG)) as calls:
            found = self._records(calls)
        if len(found) < 2 or not {each for each, _ in known.rows} <= known.remembered:
            return
        before = self.directory / "before-tampering"
        replace_files(self.at(place), before)
        how = self.chance.choice(("end", "middle", "beginning", "all"))
        self.log[-1] += f" {how}"
        if how == "all":
            (self.at(place) / LOG).unlink()
        else:
            with closing(sqlite3.connect(self.at(place) / LOG)) as calls, calls:
                self._take(calls, how, found)
        with self.opened(place) as db:
            if not isinstance(db.verify_audit(), Broken):
                self.tell(f"the {how} of a log was taken, and it verifies")
            self.broken += 1
        replace_files(before, self.at(place))

    def _records(self, calls: sqlite3.Connection) -> list[tuple[int, int, str]]:
        return calls.execute(
            "SELECT chain, audit_records.seq, audit_records.hash FROM audit_records"
            " JOIN audit_chains ON id = chain WHERE log = 'ask' AND tenant = 'local'"
            " ORDER BY audit_records.seq"
        ).fetchall()

    def _take(self, calls: sqlite3.Connection, how: str, found: list[tuple[int, int, str]]) -> None:
        chain = found[0][0]
        if how == "end":
            (_, seq, digest), last = found[-2], found[-1][1]
            calls.execute("DELETE FROM audit_records WHERE chain = ? AND seq = ?", (chain, last))
            calls.execute(
                "UPDATE audit_chains SET seq = ?, hash = ? WHERE id = ?", (seq, digest, chain)
            )
        elif how == "middle":
            taken = self.chance.choice(found)[1]
            calls.execute("DELETE FROM audit_records WHERE chain = ? AND seq = ?", (chain, taken))
        else:
            _, seq, digest = found[0]
            calls.execute("DELETE FROM audit_records WHERE chain = ? AND seq = ?", (chain, seq))
            calls.execute(
                "UPDATE audit_chains SET pruned_seq = ?, pruned_hash = ? WHERE id = ?",
                (seq, digest, chain),
            )

    # --- looking at it ----------------------------------------------------------------------------

    def settle(self, place: str) -> None:
        """Files that are not of one moment: what is missing is found; then they are accepted."""
        known = self.known[place]
        missing = known.remembered - {number for number, _ in known.rows}
        with self.opened(place) as db:
            verdict = db.verify_audit()
            if missing and not isinstance(verdict, Broken):
                self.tell(f"{len(missing)} rows are missing, and the log verifies")
            self.broken += isinstance(verdict, Broken)
            db.accept_logs("put back")
        self.closed(place, known)

    def check(self, place: str) -> None:
        """Compare the log with what was written to it, and see it verified."""
        if not self.at(place).exists():
            return
        known = self.known[place]
        with self.opened(place) as db:
            verdict = db.verify_audit()
            there = len(db.audit(100_000))
        if known.store_moment == known.log_moment and isinstance(verdict, Broken):
            self.tell(f"nothing happened to it, and it does not verify: {verdict.reason}")
        gone = known.rows[: len(known.rows) - there]
        if there > len(known.rows):
            self.tell(f"{there} rows of {len(known.rows)}")
        young = [at for _, at in gone if self.time - at <= KEPT_DAYS * DAY_NS]
        if young:
            self.tell(f"{len(young)} rows were pruned that are not old enough")
        self.pruned = max(self.pruned, len(gone))

    def tell(self, what: str) -> None:
        self.wrong.append(f"after {len(self.log)} steps ({' · '.join(self.log[-10:])}): {what}")

    def closed(self, place: str, known: Written) -> None:
        """The store remembers what the log holds, once it was closed."""
        moment = next(self.moments)
        remembered = frozenset(number for number, _ in known.rows)
        self.known[place] = replace(
            known, remembered=remembered, store_moment=moment, log_moment=moment
        )

    def at(self, place: str) -> Path:
        return self.directory / place

    @contextmanager
    def opened(self, place: str) -> Iterator[redask.OpenDatabase]:
        place_of = self.at(place)
        with redask.open(place_of, settings=SETTINGS, embedder="none", clock=self.clock) as db:
            yield db


def row(number: int) -> dict[str, object]:
    return {"id": number, "text": f"The ferry of line {number} leaves at {number + 6} o'clock."}


def play_clock(seed: int, steps: int, directory: Path) -> ClockHistory:
    """Play a history."""
    history = ClockHistory(seed, directory)
    for _ in range(steps):
        history.step()
    return history
