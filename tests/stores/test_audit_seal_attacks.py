"""Attacks on a log whose owner re-makes everything: chain, tree, store. Checkpoints find them."""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sealed import fault, new_key, sealing
from tampered_logs import Edit, TamperedLog, remembered_hashes, statements, then_forge

from redask.core.ports import AuditRow, SealedLogs
from redask.core.rules.audit_chain import Broken, Intact
from redask.core.rules.auditing.checkpoints import Checkpoint
from redask.core.rules.auditing.log_proofs import consistency_text, proof_fault
from redask.core.rules.auditing.merkle import root
from redask.providers.sealing.ed25519_keys import KeyFile, signature_check
from redask.stores.sqlite.sqlite_backend import SqliteBackend

MINE = "chain = (SELECT id FROM audit_chains WHERE tenant = 'local')"


class SealedWorld:
    """A log that was sealed in four steps, and whoever kept the checkpoints."""

    def __init__(self, directory: Path, rows: int) -> None:
        self.key = new_key(directory)
        self.attackers = new_key(directory, "attacker.pem")
        self.checkpoints: list[Checkpoint] = []
        data = directory / "data"
        with SqliteBackend(data) as backend:
            for part in range(4):
                numbers = range(part * rows // 4 + 1, (part + 1) * rows // 4 + 1)
                backend.audit.append([_row(number) for number in numbers])
                self.checkpoints += sealing(backend.sealed, self.key).seal()
        self.log = TamperedLog(data)

    def around(self, number: int) -> tuple[int, int]:
        """The first and last row between the checkpoints around a row."""
        sizes = [0, *(each.size for each in self.checkpoints)]
        return max(each + 1 for each in sizes if each < number), min(
            each for each in sizes if each >= number
        )


def _row(number: int) -> AuditRow:
    return AuditRow({"ts": number, "tenant": "local", "user": "ada", "question": f"q {number}?"})


@pytest.fixture(scope="module")
def rows(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--audit-rows"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, rows: int) -> Iterator[SealedWorld]:
    made = SealedWorld(tmp_path_factory.mktemp("sealed"), rows)
    with remembered_hashes():
        yield made


def changed(n: int, what: str) -> str:
    return f"UPDATE audit_records SET {what} WHERE {MINE} AND seq = {n}"


def inserted(n: int) -> list[str]:
    copied = "chain, kind, at, user, own, row, beside, opening, leaf, hash"
    return [
        f"UPDATE audit_records SET seq = -seq - 1 WHERE {MINE} AND seq >= {n}",
        f"UPDATE audit_records SET seq = -seq WHERE {MINE} AND seq < 0",
        f"INSERT INTO audit_records (seq, {copied}) SELECT {n}, {copied} FROM audit_records"
        f" WHERE {MINE} AND seq = {n + 1 if n == 1 else 1}",
    ]


def swapped(n: int) -> list[str]:
    return [
        changed(n, "seq = -1"),
        changed(n + 1, f"seq = {n}"),
        f"UPDATE audit_records SET seq = {n + 1} WHERE {MINE} AND seq = -1",
    ]


ATTACKS: dict[str, Callable[[int], Edit]] = {
    "flip": lambda n: then_forge(changed(n, "row = replace(row, 'q ', 'r ')")),
    "drop": lambda n: then_forge(f"DELETE FROM audit_records WHERE {MINE} AND seq = {n}"),
    "insert": lambda n: then_forge(*inserted(n)),
    "reorder": lambda n: then_forge(*swapped(n)),
    "truncate": lambda n: then_forge(f"DELETE FROM audit_records WHERE {MINE} AND seq >= {n}"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_log_that_was_made_anew_as_a_whole_is_found_by_any_checkpoint(
    world: SealedWorld, attack: str, rows: int
) -> None:
    """The chain holds in itself: only the checkpoints tell, and name the rows between two."""
    for number in range(1, rows + (attack != "reorder")):
        if attack == "truncate" and number == 1:
            continue  # nothing would be left to call a log
        with world.log.sealed(ATTACKS[attack](number)) as (verdict, logs):
            assert isinstance(verdict, Intact), (attack, number, verdict)
            found = fault(logs, world.checkpoints, world.key)
            assert found is not None, (attack, number)
            first, last = world.around(number)
            assert found.seq == first, (attack, number, found)
            for each in world.checkpoints:
                if each.size >= number:  # each that covers the row finds it alone
                    alone = fault(logs, [each], world.key)
                    assert alone is not None, (attack, number, each.size)
            assert f"one of the rows {first} to {last} is" in found.reason, (attack, number, found)


def re_signed(logs: SealedLogs, world: SealedWorld, key: Path) -> Checkpoint:
    """A checkpoint of the forged log, with a key that the attacker has."""
    [tree] = [each for each in logs.trees() if each.tenant == "local"]
    signer = KeyFile(key)
    whole = root(tree.size, logs.nodes("ask", "local")).hex()
    made = Checkpoint(tree.identity, "ask", "local", tree.first, tree.size, whole, 9, signer.public)
    return replace(made, signature=signer.sign(made.signed_bytes()).hex())


@pytest.mark.parametrize("attack", ["flip", "drop", "insert"])
def test_signing_the_forged_log_anew_gains_nothing(
    world: SealedWorld, attack: str, rows: int
) -> None:
    trusted = signature_check([KeyFile(world.key).public])
    for number in range(1, rows + 1):
        with world.log.sealed(ATTACKS[attack](number)) as (_, logs):
            own = re_signed(logs, world, world.attackers)
            found = fault(logs, [own], world.key)
            assert found is not None
            assert "is not trusted" in found.reason
            lying = replace(own, key=KeyFile(world.key).public)
            found = fault(logs, [lying], world.key)
            assert found is not None
            assert "is not as it was signed" in found.reason
            stolen = re_signed(logs, world, world.key)  # with the operator's own key
            assert fault(logs, [stolen], world.key) is None
            assert fault(logs, [*world.checkpoints, stolen], world.key) is not None
            old = next(each for each in world.checkpoints if each.size >= number)
            if old.size <= stolen.size:
                nodes = logs.nodes("ask", "local")
                assert proof_fault(consistency_text(old, stolen, nodes), trusted) is not None


def test_a_checkpoint_with_any_value_changed_is_not_as_it_was_signed(world: SealedWorld) -> None:
    check, made = signature_check([KeyFile(world.key).public]), world.checkpoints[1]
    assert check(made) is None
    changes: list[dict[str, object]] = [
        {"size": made.size - 1},
        {"root": "00" * 32},
        {"tenant": "other"},
        {"log": "access"},
        {"identity": "x"},
        {"first": 1},
        {"ts": 0},
        {"signature": made.signature[::-1]},
    ]
    for change in changes:
        assert check(replace(made, **change)) is not None, change  # type: ignore[arg-type]


def test_a_tree_whose_tiles_are_gone_or_begin_elsewhere_is_not_the_one_that_was_sealed(
    world: SealedWorld,
) -> None:
    gone = statements("DELETE FROM audit_tiles", "DELETE FROM audit_trees")
    with world.log.sealed(gone) as (_, logs):
        found = fault(logs, world.checkpoints, world.key)
        assert found == Broken(
            0, "the chain that was sealed is not there: the log is another", "local"
        )
    moved = statements("UPDATE audit_trees SET first = first + 1, size = size - 1")
    with world.log.sealed(moved) as (verdict, logs):
        assert isinstance(verdict, Broken)
        assert fault(logs, world.checkpoints, world.key) is not None


def test_a_tile_that_is_changed_is_found_without_any_checkpoint(
    world: SealedWorld, rows: int
) -> None:
    for number in (1, rows // 2, rows):
        verdict = world.log.verdict(with_other_leaf(*divmod(number - 1, 256)))
        assert isinstance(verdict, Broken)
        assert verdict.seq == number


def with_other_leaf(tile: int, place: int) -> Edit:
    def edit(copy: sqlite3.Connection) -> None:
        [(hashes,)] = copy.execute(
            "SELECT hashes FROM audit_tiles WHERE level = 0 AND number = ?", (tile,)
        ).fetchall()
        other = hashes[: place * 32] + bytes(32) + hashes[place * 32 + 32 :]
        copy.execute(
            "UPDATE audit_tiles SET hashes = ? WHERE level = 0 AND number = ?", (other, tile)
        )

    return edit
