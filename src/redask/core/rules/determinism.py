"""Same question, same data, same sampling: `settle` the knobs of one provider call.

    temperature   None if the provider lacks `supports_temperature_zero`, even when overridden;
                  else the override (0.0 is real), else the default of the settings
    seed (u64)    None if the provider lacks `supports_seed`, even when overridden;
                  else the override (0 is real), else `derive_seed`

Dropping a knob is silent: the null in the audit row shows it. A derived seed is the first
8 bytes, little-endian, of SHA-256(question ‖ 0x1f ‖ fingerprint). Half of all u64 seeds are
more than real APIs accept: an adapter narrows them with one of the two functions below, and
what was *sent* is what the audit row and EXPLAIN show.
"""

import hashlib
from collections.abc import Callable, Mapping

from redask.core.model import Capabilities, Knobs
from redask.core.provider_table import SeedRange

_I64_MAX = (1 << 63) - 1
_U32_MAX = (1 << 32) - 1


def effective_knobs(
    question: str,
    fingerprint: str,
    capabilities: Capabilities,
    *,
    temperature: float | None = None,
    seed: int | None = None,
    default_temperature: float = 0.0,
) -> Knobs:
    """The temperature and the u64 seed for a provider with these capabilities."""
    if not capabilities.supports_temperature_zero:
        temperature = None
    elif temperature is None:
        temperature = default_temperature
    if not capabilities.supports_seed:
        seed = None
    elif seed is None:
        seed = derive_seed(question, fingerprint)
    return Knobs(None if temperature is None else float(temperature) + 0.0, seed)


def derive_seed(question: str, fingerprint: str) -> int:
    """The u64 seed of a question over the sources with this fingerprint."""
    digest = hashlib.sha256(f"{question}\x1f{fingerprint}".encode()).digest()
    return int.from_bytes(digest[:8], "little")


def narrow_to_signed(seed: int) -> int:
    """For wires with signed 64-bit integers: OpenAI and compatible hosts."""
    return seed & _I64_MAX


def narrow_to_32_bits(seed: int) -> int:
    """For llama.cpp and ollama, where 2^32-1 means "random"."""
    return seed % _U32_MAX


NARROWING: Mapping[SeedRange, Callable[[int], int]] = {
    SeedRange.SIGNED_64: narrow_to_signed,
    SeedRange.BITS_32: narrow_to_32_bits,
}
