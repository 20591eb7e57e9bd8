"""One SELECT on the projection: parsed, bound, checked once more, run within bounds.

parsing             PostgreSQL's parser
generated_text      the second check: what DuckDB reads in the text that we generated
runtime_functions   our Python functions, registered in DuckDB when a statement calls them
parameter_values    values of parameters, as the types that were inferred
result_values       values of rows, as Python's types
error_classes       DuckDB's errors in PostgreSQL's words
execution           the steps in order
"""
