"""The hashes of the audit chain as they were first written, literally.

Logs on disk were sealed with them: another order, separator or encoding would call every one of
them broken. The values were made by `sha256sum`, not by this code.
"""

from redask.core.rules.auditing import first_chain
from redask.core.rules.auditing.first_chain import FirstHead, FirstRow

ROWS = ('{"a":1}', '{"b":"ä"}')
FIRST = "e6bf9d86ec642a7e8c509f6b817576f259c67909e8923820e764e0379adcce7c"
SECOND = "9defc448bbf9f63e533d34c13539d0ee01d4e6fb9e0950f38cb2f452ae7cea12"
EMPTY_SEAL = "e0972db5539d799cc8a055ef0389cada4a4a7cbfd911b5c76fb21182de994bf0"
WHOLE_SEAL = "53271e38a272cbc24a2fa38ce8b492898b064c7461b2cb0595d0e1bc74ae481b"
PRUNED_SEAL = "8f6be7034eeec34758395f83a8e0d3bfbd2afa12bf02d0faad8dfe86b19b4bdd"


def test_a_link_has_the_hash_it_always_had() -> None:
    assert first_chain.GENESIS == "0" * 64
    assert first_chain.link(first_chain.GENESIS, 1, ROWS[0]) == FIRST
    assert first_chain.link(FIRST, 2, ROWS[1]) == SECOND
    far = "47819962b178e85bed89e3ebc99b24d6d53418d30904c9456deb74b68e74c328"
    assert first_chain.link(SECOND, 258, "") == far


def test_a_seal_has_the_hash_it_always_had() -> None:
    assert first_chain.seal(FirstHead()) == EMPTY_SEAL
    assert first_chain.seal(FirstHead(2, SECOND)) == WHOLE_SEAL
    assert first_chain.seal(FirstHead(2, SECOND, 1, FIRST)) == PRUNED_SEAL


def test_a_chain_of_old_still_verifies_whole_and_after_retention() -> None:
    links = [FirstRow(1, ROWS[0], FIRST), FirstRow(2, ROWS[1], SECOND)]
    whole, pruned = FirstHead(2, SECOND), FirstHead(2, SECOND, 1, FIRST)
    assert first_chain.first_fault([], FirstHead(), EMPTY_SEAL) is None
    assert first_chain.first_fault(links, whole, WHOLE_SEAL) is None
    assert first_chain.first_fault(links[1:], pruned, PRUNED_SEAL) is None
