"""The Postgres wire door: `psql`, drivers and BI tools can ASK, EXPLAIN ASK and SELECT.

the protocol
codec              bytes ↔ messages, without I/O; spoken: what the server says
scram              SCRAM-SHA-256, without I/O
server             connections; welcome signs in, line reads and writes, dialogue answers
portals            prepared statements and portals of one connection
planned            the words between `dialogue` and `conversation`

the statements
conversation       one caller's statements: what each returns, and its rows
asks, selects      ASK and EXPLAIN ASK; SELECT on collections, in PostgreSQL's `spelling`
commands           SET, SHOW, BEGIN …, with `session_settings`; splitting: where they end
catalogue          as much of `pg_catalog` and `information_schema` as clients ask for
types              values ↔ text and binary, by type; oids: the types that are announced
"""
