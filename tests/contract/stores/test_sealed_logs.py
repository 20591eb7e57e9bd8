"""What every backend promises of sealing: trees that only grow, checkpoints, proofs, erasures."""

import json
from pathlib import Path

import pytest
from sealed import fault, new_key, sealing

from redask.core.errors import BadAsk
from redask.core.model import Caller
from redask.core.ports import AuditRow
from redask.core.rules.audit_chain import ChainReport, Intact
from redask.core.rules.auditing.commitments import read_opening
from redask.core.rules.auditing.exported_chain import verified
from redask.core.rules.auditing.lived_time import DAY_NS
from redask.core.rules.auditing.log_proofs import proof_fault
from redask.core.rules.auditing.merkle import root
from redask.providers.sealing.ed25519_keys import KeyFile, signature_check
from redask.stores.backend import Backend

OWNER = Caller()
NOON = 20_000 * DAY_NS


@pytest.fixture
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_key(tmp_path_factory.mktemp("keys"))


def append(backend: Backend, *times: int, tenant: str = "local", user: str = "ada") -> None:
    for ts in times:
        told = {"ts": ts, "tenant": tenant, "user": user, "question": f"Who is {user} at {ts}?"}
        backend.audit.append([AuditRow(told, build="b", understood=f"{user} at {ts}?")])


def intact(backend: Backend) -> Intact:
    verdict = backend.audit.verify()
    assert isinstance(verdict, Intact), verdict
    return verdict


def test_a_tree_has_a_leaf_a_record_and_grows_as_its_chain_does(backend: Backend) -> None:
    append(backend, NOON, NOON)
    append(backend, NOON, tenant="other")
    backend.access.append([AuditRow({"ts": NOON, "tenant": "local", "user": "ada"})])
    backend.sealed.grow()
    assert [(each.log, each.tenant, each.size) for each in backend.sealed.trees()] == [
        ("access", "local", 1),
        ("ask", "local", 2),
        ("ask", "other", 1),
    ]
    before = root(2, backend.sealed.nodes("ask", "local"))
    for _ in range(3):
        append(backend, *[NOON] * 200)
        backend.sealed.grow()
    nodes = backend.sealed.nodes("ask", "local")
    assert root(2, nodes) == before
    record = backend.sealed.record("ask", "local", 300)
    assert record is not None
    assert nodes(0, 299) == record.leaf_hash()
    intact(backend)


def test_every_row_is_proven_and_what_is_not_sealed_is_refused(backend: Backend, key: Path) -> None:
    append(backend, *range(NOON, NOON + 300))
    seals = sealing(backend.sealed, key)
    [made] = seals.seal()
    assert (made.size, made.first, made.key) == (300, 0, KeyFile(key).public)
    check = signature_check([made.key])
    for seq in (1, 2, 255, 256, 257, 300):
        assert proof_fault(seals.prove("ask", "local", seq), check) is None
    append(backend, NOON + 300)
    with pytest.raises(BadAsk, match="row 301 is not sealed yet"):
        seals.prove("ask", "local", 301)
    for seq in (0, -1):
        with pytest.raises(BadAsk, match="there is no audit row"):
            seals.prove("ask", "local", seq)
    with pytest.raises(BadAsk, match="not sealed yet"):
        seals.prove("ask", "nobody", 1)
    [newer] = seals.seal()
    assert newer.size == 301
    assert proof_fault(seals.prove_since(made, "local"), check) is None
    with pytest.raises(BadAsk, match="more rows than the newest"):
        seals.prove_since(type(made)(*newer.chain, 999, made.root, 0, made.key), None)
    with pytest.raises(BadAsk, match="none of the chains"):
        seals.prove_since(made, "other")


def test_sealing_again_signs_only_what_is_new(backend: Backend, key: Path) -> None:
    append(backend, NOON)
    append(backend, NOON, tenant="other")
    seals = sealing(backend.sealed, key)
    first = seals.seal()
    assert seals.seal() == first
    append(backend, NOON, tenant="other")
    local, other = seals.seal()
    assert local == first[0]
    assert (other.tenant, other.size) == ("other", 2)
    assert backend.sealed.checkpoints() == [local, other]


def test_retention_takes_rows_and_leaves_their_hashes(backend: Backend, key: Path) -> None:
    seals, made = sealing(backend.sealed, key), []
    for day in range(30):
        append(backend, NOON + day * DAY_NS)
        made += seals.seal()
    backend.anchor()
    old = seals.prove("ask", "local", 3)
    backend.audit.prune(10 * DAY_NS, "ask.audit.retention_days = 10")
    [chain] = intact(backend).chains
    assert chain.head.pruned_seq == 12
    assert fault(backend.sealed, made, key) is None
    check = signature_check([KeyFile(key).public])
    assert proof_fault(old, check) is None
    made += seals.seal()
    assert proof_fault(seals.prove_since(made[4], "local"), check) is None
    assert proof_fault(seals.prove("ask", "local", 20), check) is None
    with pytest.raises(BadAsk, match="there is no audit row 3"):
        seals.prove("ask", "local", 3)
    [exported] = verified(backend.audit.exported())
    assert isinstance(exported.verdict, ChainReport)
    assert root(5, exported.nodes).hex() == made[4].root


def test_an_erased_value_is_gone_its_hash_is_not_and_it_is_on_record(
    backend: Backend, key: Path
) -> None:
    append(backend, *range(NOON, NOON + 5))
    seals = sealing(backend.sealed, key)
    made, old = seals.seal(), seals.prove("ask", "local", 3)
    backend.anchor()
    before = backend.audit.entries(OWNER, limit=9)
    erased = backend.audit.erase("local", 3, ["understood", "question"], "mia", "request 12")
    assert erased == ("question", "understood")
    entries = backend.audit.entries(OWNER, limit=9)
    assert [each.hash for each in entries] == [each.hash for each in before]
    row = entries[2]
    assert (row.row["question"], row.understood, row.build) == (None, "", "b")
    assert row.erased == erased
    assert row.readings() == {"erased": ["question", "understood"]}
    [chain] = intact(backend).chains
    assert (chain.rows, chain.erased, chain.head.seq) == (5, 1, 6)
    record = backend.sealed.record("ask", "local", 6)
    assert record is not None
    assert (record.kind, json.loads(record.row)) == (
        "erased",
        {"fields": ["question", "understood"], "reason": "request 12", "seq": 3, "user": "mia"},
    )
    check = signature_check([KeyFile(key).public])
    assert fault(backend.sealed, made, key) is None
    assert proof_fault(old, check) is None
    new = seals.prove("ask", "local", 3)
    assert f"at {NOON + 2}?" not in new
    assert proof_fault(new, check) is None
    lines = list(backend.audit.exported())
    assert not any(f"at {NOON + 2}?" in line for line in lines)
    [exported] = verified(lines)
    assert isinstance(exported.verdict, ChainReport)


def test_what_an_erasure_leaves_does_not_let_anybody_try_values(backend: Backend) -> None:
    append(backend, NOON)
    backend.audit.erase("local", 1, ["question"], "mia", "r")
    record = backend.sealed.record("ask", "local", 1)
    assert record is not None
    opening = read_opening(record.opening)
    assert opening.nonce == ""
    assert set(opening.erased) == {"question"}
    assert "question" not in opening.salts


def test_erasing_twice_changes_nothing_and_more_can_go_later(backend: Backend) -> None:
    append(backend, NOON, NOON)
    assert backend.audit.erase("local", 1, ["question"], "mia", "r") == ("question",)
    assert backend.audit.erase("local", 1, ["question"], "mia", "r") == ()
    assert intact(backend).chains[0].head.seq == 3
    assert backend.audit.erase("local", 1, ["question", "user"], "mia", "r") == ("user",)
    assert backend.audit.entries(OWNER, limit=9)[1].erased == ("question", "user")
    assert intact(backend).rows == 2


def test_a_user_whose_name_was_erased_does_not_find_the_row(backend: Backend) -> None:
    append(backend, NOON, NOON)
    backend.audit.erase("local", 1, ["user"], "mia", "r")
    ada = Caller("local", "ada", "analyst")
    assert [each.seq for each in backend.audit.entries(ada, limit=9)] == [2]
    assert backend.audit.entries(OWNER, limit=9)[1].row["user"] is None
    append(backend, NOON)
    assert [each.seq for each in backend.audit.entries(ada, limit=9)] == [3, 2]
    intact(backend)


@pytest.mark.parametrize("name", ["ts", "tenant", "cost_usd", "nothing", ""])
def test_what_cannot_be_erased_is_refused_and_nothing_is_written(
    backend: Backend, name: str
) -> None:
    append(backend, NOON)
    with pytest.raises(BadAsk, match="cannot be erased from row 1: build, question, understood"):
        backend.audit.erase("local", 1, ["question", name], "mia", "r")
    assert backend.audit.entries(OWNER, limit=9)[0].erased == ()
    assert intact(backend).chains[0].head.seq == 1


def test_only_rows_of_the_tenant_are_erased(backend: Backend) -> None:
    append(backend, NOON)
    append(backend, NOON, NOON, tenant="other")
    backend.audit.erase("local", 1, ["question"], "mia", "r")
    for tenant, seq in (("local", 2), ("local", 9), ("nobody", 1)):
        with pytest.raises(BadAsk, match=f"there is no audit row {seq}"):
            backend.audit.erase(tenant, seq, ["question"], "mia", "r")


def test_a_head_that_was_told_before_is_found_until_its_row_is_pruned(backend: Backend) -> None:
    append(backend, NOON, NOON)
    told = backend.audit.entries(OWNER, limit=2)[1].hash
    assert backend.audit.holds(told)
    assert backend.audit.holds(told, "local")
    assert not backend.audit.holds(told, "other")
    assert not backend.access.holds(told)
    assert not backend.audit.holds("00" * 32)


def test_sinks_get_each_checkpoint_once_and_their_faults_are_kept(
    backend: Backend, key: Path
) -> None:
    append(backend, NOON)
    sealed = backend.sealed
    [made] = sealing(sealed, key).seal()
    assert sealed.undelivered("file a") == sealed.undelivered("url b") == [made]
    sealed.delivered("file a", [made])
    assert sealed.undelivered("file a") == []
    assert sealed.undelivered("url b") == [made]
    sealed.failed("url b", 5, "no connection")
    sealed.failed("url b", 6, "HTTP 500")
    assert [(each.sink, each.since, each.fault) for each in sealed.faults()] == [
        ("url b", 5, "HTTP 500")
    ]
    sealed.delivered("url b", [made])
    assert sealed.faults() == []
    append(backend, NOON)
    [newer] = sealing(sealed, key).seal()
    assert sealed.undelivered("file a") == [newer]


def test_a_proof_tells_nothing_of_a_neighbours_question(backend: Backend, key: Path) -> None:
    """The attack on the first edition, by who has a proof: try likely rows against its hashes."""
    append(backend, NOON, user="ada")
    append(backend, NOON + 1, user="bob")
    seals = sealing(backend.sealed, key)
    seals.seal()
    [sibling] = json.loads(seals.prove("ask", "local", 2))["path"]
    neighbour = backend.sealed.record("ask", "local", 1)
    assert neighbour is not None
    assert neighbour.leaf_hash().hex() == sibling
    guesses = [
        type(neighbour)(1, "row", neighbour.at, neighbour.row, neighbour.beside, nonce).leaf_hash()
        for nonce in ("", "00" * 32, backend.audit.entries(OWNER, limit=1)[0].hash)
        if nonce
    ]
    assert sibling not in {each.hex() for each in guesses}
