"""SELECT with PostgreSQL's meaning: from PostgreSQL's syntax tree to typed SQL for DuckDB.

    types         PostgreSQL's types: names, OIDs, categories, what each is in DuckDB
    literals      text to a value, by PostgreSQL's input rules
    …             see each module

Everything here is pure: a tree and the caller's tables come in, a bound statement goes out.
"""
