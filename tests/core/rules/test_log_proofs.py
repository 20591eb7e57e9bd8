"""rules.auditing.log_proofs: a proof holds as it was made, and not with one digit changed."""

import json
import re
from dataclasses import replace

import pytest

from redask.core.rules.auditing.checkpoints import Checkpoint
from redask.core.rules.auditing.commitments import Opening, read_opening, values_of, without
from redask.core.rules.auditing.log_proofs import (
    ProofSubject,
    ProvableRecord,
    UnreadableProof,
    consistency_text,
    inclusion_text,
    proof_fault,
    proof_subject,
)
from redask.core.rules.auditing.merkle import nodes_of, root

ROW = '{"question":"Who is Zoë?","ts":5,"user":"ada"}'
RECORDS = [
    ProvableRecord(seq, "row", 10 * seq, ROW, '{"build":"b"}', f"{seq:064x}")
    for seq in range(3, 14)
]
NODES = nodes_of([each.leaf_hash() for each in RECORDS])


def sealed(size: int) -> Checkpoint:
    whole = root(size, NODES).hex()
    return Checkpoint("file", "ask", "local", 2, size, whole, 1, "cd" * 32, "ef" * 64)


def trusted(checkpoint: Checkpoint) -> str | None:
    return None if checkpoint.ts == 1 else "not signed"


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: str(record.seq))
def test_a_record_is_proven_and_any_changed_digit_is_noticed(record: ProvableRecord) -> None:
    proof = inclusion_text(record, sealed(11), NODES)
    assert proof_fault(proof, trusted) is None
    assert json.loads(proof)["record"]["row"] == json.loads(ROW)
    wrong = f"row {record.seq} as the proof has it is not in the log that was sealed"
    assert proof_fault(proof.replace("Zoë", "Zoe"), trusted) == wrong
    assert proof_fault(proof.replace('"build":"b"', '"build":"c"'), trusted) == wrong
    assert proof_fault(re.sub(r'"at":\d+', '"at":1', proof), trusted) == wrong
    changed = proof.replace(f'"seq":{record.seq}', '"seq":99')
    assert proof_fault(changed, trusted) == wrong.replace(str(record.seq), "99", 1)


def test_after_an_erasure_the_old_proof_and_a_new_one_hold() -> None:
    record = RECORDS[4]
    old = inclusion_text(record, sealed(11), NODES)
    left, opening = without(
        {**values_of(record.row), **values_of(record.beside)},
        read_opening(record.opening),
        {"question"},
    )
    assert isinstance(opening, Opening)
    assert "question" not in left
    row = '{"ts":5,"user":"ada"}'
    erased = replace(record, row=row, opening=opening.stored())
    new = inclusion_text(erased, sealed(11), NODES)
    assert "Zoë" not in new
    assert proof_fault(new, trusted) is None
    assert proof_fault(old, trusted) is None
    assert proof_fault(new.replace('"user":"ada"', '"user":"eve"'), trusted) is not None


def test_a_log_that_grew_is_proven_and_no_other_begins_with_the_old_one() -> None:
    old, new = sealed(4), sealed(11)
    proof = consistency_text(old, new, NODES)
    assert proof_fault(proof, trusted) is None
    other = replace(old, root="00" * 32)
    wrong = "the log of 11 rows does not begin with the log of 4 rows"
    assert proof_fault(consistency_text(other, new, NODES), trusted) == wrong
    of_another = consistency_text(replace(old, tenant="b"), new, NODES)
    assert proof_fault(of_another, trusted) == "the checkpoints are of two chains"


def test_a_checkpoint_that_is_not_signed_proves_nothing() -> None:
    fake = replace(sealed(11), ts=2)
    assert proof_fault(inclusion_text(RECORDS[0], fake, NODES), trusted) == "not signed"
    assert proof_fault(consistency_text(fake, sealed(11), NODES), trusted) == "not signed"
    assert proof_fault(consistency_text(sealed(4), fake, NODES), trusted) == "not signed"


GOOD = inclusion_text(RECORDS[0], sealed(11), NODES)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "no proof"),
        ("[]", "no proof"),
        ("{" * 100_000, "no proof"),
        (GOOD[:-1], "no proof"),
        (GOOD.replace('"path":[', '"path":["x",'), "no proof"),
        (GOOD.replace('"path":[', '"path":[1,'), "no proof"),
        (re.sub('"opening":"[0-9a-f]*"', '"opening":{"erased":{},"salts":{}}', GOOD), "no proof"),
        (re.sub('"opening":"[0-9a-f]*"', '"opening":{"erased":1,"salts":2}', GOOD), "no proof"),
        (GOOD.replace('"seq":3', '"seq":"3"'), "no proof"),
        (GOOD.replace('"size":11', '"size":-1'), "its checkpoint cannot be read: its size"),
        (GOOD.replace("inclusion proof 1", "inclusion proof 2"), "its format is neither"),
    ],
)
def test_what_is_no_proof_is_refused(text: str, fault: str) -> None:
    with pytest.raises(UnreadableProof, match=fault):
        proof_fault(text, trusted)


def test_a_proof_says_what_it_is_about() -> None:
    assert proof_subject(GOOD) == ProofSubject(sealed(11), seq=RECORDS[0].seq)
    grown = consistency_text(sealed(4), sealed(11), NODES)
    assert proof_subject(grown) == ProofSubject(sealed(11), old=sealed(4))
