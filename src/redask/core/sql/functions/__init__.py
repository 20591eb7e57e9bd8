"""What there is to call: operators, functions and aggregates as rows, and how each is written.

    operator_rows, function_rows, aggregate_rows      the tables
    text_, datetime_, array_, json_, session_functions, set_functions      rows by subject
    numeric_rules      arithmetic of numerics, where DECIMAL is not enough
    runtime_calls      calls of our own Python functions

A new function is one row.
"""
