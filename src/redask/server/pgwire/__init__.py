"""The Postgres wire transport: `psql`, drivers and BI tools can ASK, EXPLAIN ASK and SELECT.

listener     accepts connections, and cancels what runs
protocol/    frontend and backend messages as bytes, SCRAM, the client connection; no SQL
session/     start-up, message loop, prepared statements and portals; then the statements:
             `dispatch` says what each returns; ASK, SELECT, SET and SHOW have a file each
catalog/     as much of `pg_catalog` and `information_schema` as clients ask for
types/       OIDs, and values in text and binary form
"""
