"""The Postgres wire door: `psql`, drivers and BI tools can ASK, EXPLAIN ASK and SELECT.

codec          bytes ↔ messages, without I/O
scram          SCRAM-SHA-256, without I/O
server         connections: sign-in, TLS, simple and extended protocol, cancel
conversation   one caller's statements: what each returns, and its rows
catalogue      as much of `pg_catalog` and `information_schema` as clients ask for
types          values ↔ text and binary, by type
planned        the words between `server` and `conversation`
"""
