"""Where data lives: what every backend shares, and the backends.

backend            what a backend is: `Backend` and its parts, as Protocols
backends           the rows by URL scheme: a new backend is one folder and one row
visibility         policies, principal and policy classes → what a caller may see
policy_classes     which class an entity has, and what a change of policy moves
write_rules        what may be written, and what a write does
manifest_rules     which files may bring what, what is swept
catalogues         collections and columns as a caller may see them
audit_rows         the chain of the audit log, retention, who sees which rows
entity_rows, payloads, canonical_urns, vector_encoding, answer_encoding     forms of data
sqlite/            the backend in a directory; only SQL. `select/` is the SELECT beside it
selectors          SELECT by URL scheme
"""
