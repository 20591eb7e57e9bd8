"""The parts of the audit log's chain: what a record's hash is made of, its time, its partner.

commitments      the content of a record as one hash that tells nothing of it
lived_time       the log's own time, which a clock that jumps cannot move far
pairing          whether a log and a store belong together
merkle           the tree over the entries of a chain; `tree_tiles`, `tree_check`: as it is kept
checkpoints      what is signed of a tree; `log_proofs`: what leaves the log to prove something
exported_chain   a chain in a file, to be verified elsewhere
first_chain      the chain of logs that were written before
provenance       what made an answer, as it is kept beside its row
replay_verdict   what came of asking again
"""
