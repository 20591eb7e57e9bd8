"""From PostgreSQL's syntax tree to typed DuckDB text: names, types and clauses resolved.

    statement      `bind(tree, schema, …)`: one statement, its columns and parameters
    queries        SELECT, VALUES, set operations, WITH
    from_clause    tables, joins, subqueries and functions in FROM
    namespace      which columns a name can mean
    expressions    one expression
    calls          functions, aggregates and windows
    overloads      which of several functions or operators is meant
    coercion       casts, and the common type of several expressions
    operator_rows, function_rows, aggregate_rows      what there is
    bound          what binding gives: text, type and what it depends on

Nothing of the caller's text gets into the text that is run, except as a quoted literal.
"""
