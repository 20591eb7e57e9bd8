"""Contract 2: same question, same data, same parameters, in every call and process."""

import hashlib
import math
import os
import struct
import subprocess
import sys
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Capabilities, Knobs
from redask.core.rules import determinism

VECTORS = [
    ("what is the meaning of life?", "abc123", 12181976676831968970),
    ("question", "fp", 12835725541210128429),
    ("question", "fp1", 1965194308609323775),
    ("question", "fp2", 16849210781210340188),
    ("ab", "c", 5061339222934624150),
    ("a", "bc", 15751235427318910050),
    ("caf\u00e9", "fp", 5863629368324607819),
    ("", "", 13156453238544393983),
]
U64 = st.integers(0, 2**64 - 1)
TEXT = st.text()
BOTH = Capabilities(False, True, True, False)
DERIVED = 12835725541210128429  # of "question", "fp"


def settled(
    capabilities: Capabilities,
    temperature: float | None = None,
    seed: int | None = None,
    default: float = 0.0,
) -> Knobs:
    return determinism.effective_knobs(
        "question",
        "fp",
        capabilities,
        temperature=temperature,
        seed=seed,
        default_temperature=default,
    )


@pytest.mark.parametrize(("question", "fingerprint", "seed"), VECTORS)
def test_a_seed_is_derived_as_in_the_table(question: str, fingerprint: str, seed: int) -> None:
    assert determinism.derive_seed(question, fingerprint) == seed
    assert determinism.effective_knobs(question, fingerprint, BOTH) == Knobs(0.0, seed)


@given(TEXT, TEXT)
def test_a_seed_is_eight_little_endian_bytes_of_sha_256(question: str, fingerprint: str) -> None:
    hashed = hashlib.sha256(question.encode() + b"\x1f" + fingerprint.encode())
    assert (
        determinism.derive_seed(question, fingerprint)
        == struct.unpack_from("<Q", hashed.digest())[0]
    )


def test_another_process_derives_the_same_seed() -> None:
    program = (
        "from redask.core.rules.determinism import derive_seed as d; print(d('question', 'fp'))"
    )
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True
        )
        assert int(done.stdout) == DERIVED


@pytest.mark.parametrize(
    ("override", "default", "expected"),
    [
        (None, 0.0, 0.0),
        (None, 0.7, 0.7),
        (None, 2.0, 2.0),
        (0.0, 0.7, 0.0),  # zero is real, never "missing"
        (-0.0, 0.7, 0.0),
        (0.3, 0.7, 0.3),
        (1, 0.7, 1.0),
        (None, 1, 1.0),
    ],
)
def test_temperature_is_the_override_else_the_default_always_a_double(
    override: float | None, default: float, expected: float
) -> None:
    temperature = settled(BOTH, temperature=override, default=default).temperature
    assert temperature == expected
    assert isinstance(temperature, float)
    assert math.copysign(1, temperature) == 1


def test_the_default_temperature_is_zero() -> None:
    assert determinism.effective_knobs("q", "f", BOTH).temperature == 0.0


@pytest.mark.parametrize(
    ("override", "expected"), [(None, DERIVED), (0, 0), (1, 1), (2**64 - 1, 2**64 - 1)]
)
def test_the_seed_is_the_override_else_derived(override: int | None, expected: int) -> None:
    assert settled(BOTH, seed=override).seed == expected


@pytest.mark.parametrize("flags", list(product([True, False], repeat=4)))
@pytest.mark.parametrize("temperature", [None, 0.0, 0.5])
@pytest.mark.parametrize("seed", [None, 0, 7])
def test_a_knob_the_provider_lacks_is_dropped_even_when_overridden(
    flags: tuple[bool, bool, bool, bool], temperature: float | None, seed: int | None
) -> None:
    _, takes_seed, takes_temperature, _ = flags
    knobs = settled(Capabilities(*flags), temperature, seed, default=1.5)
    wanted = 1.5 if temperature is None else temperature
    assert knobs.temperature == (wanted if takes_temperature else None)
    assert knobs.seed == ((DERIVED if seed is None else seed) if takes_seed else None)


@given(TEXT, TEXT, st.none() | st.floats(0, 2), st.none() | U64, st.floats(0, 2))
def test_equal_input_settles_equally(
    question: str, fingerprint: str, temperature: float | None, seed: int | None, default: float
) -> None:
    first, second = (
        determinism.effective_knobs(
            question,
            fingerprint,
            BOTH,
            temperature=temperature,
            seed=seed,
            default_temperature=default,
        )
        for _ in range(2)
    )
    assert first == second
    assert first.seed is not None
    assert 0 <= first.seed < 2**64


def test_narrowing_gives_what_real_apis_accept() -> None:
    assert determinism.narrow_to_signed(12181976676831968970) == 2958604639977193162
    assert determinism.narrow_to_32_bits(12181976676831968970) == 1303958025


@pytest.mark.parametrize(
    ("seed", "signed", "short"),
    [
        (0, 0, 0),
        (2**32 - 2, 2**32 - 2, 2**32 - 2),
        (2**32 - 1, 2**32 - 1, 0),
        (2**32, 2**32, 1),
        (2**63 - 1, 2**63 - 1, 2**31 - 1),
        (2**63, 0, 2**31),
        (2**64 - 1, 2**63 - 1, 0),
    ],
)
def test_narrowing_at_its_edges(seed: int, signed: int, short: int) -> None:
    assert determinism.narrow_to_signed(seed) == signed
    assert determinism.narrow_to_32_bits(seed) == short


@given(U64)
def test_a_narrowed_seed_always_fits_its_wire(seed: int) -> None:
    struct.pack("<q", determinism.narrow_to_signed(seed))
    assert determinism.narrow_to_signed(seed) >= 0
    assert 0 <= determinism.narrow_to_32_bits(seed) < 2**32 - 1  # 2^32-1 means "random"
