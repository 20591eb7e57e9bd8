"""Backends on SQL databases: what those on SQLite and PostgreSQL do alike, in SQL that both read.

`sql_database` says what a database has to bring of its own. The statements are SQLite's, in the
part of it that PostgreSQL understands as well, with parameters as `?`, `?1` or `:name`; what is
left is told by `postgres.dialect`. Rules are not here, but beside this folder.
"""
