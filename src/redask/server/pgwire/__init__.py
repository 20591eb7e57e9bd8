"""The Postgres wire transport: `psql`, drivers and BI tools can ASK, EXPLAIN ASK and SELECT.

listener     accepts connections; cancel requests
protocol/    frontend and backend messages as bytes, SCRAM, the client connection; no SQL
session/     start-up, message loop, prepared statements and portals, run-time parameters;
             `statement_planner` plans statements: ASK, SELECT, SET and SHOW have a file each
cursors/     DECLARE, FETCH, MOVE, CLOSE
copying/     COPY … TO STDOUT
types/       OIDs, and values in text and binary form
"""
