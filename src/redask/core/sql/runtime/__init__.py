"""PostgreSQL's functions in Python, for where no DuckDB expression gives the same result."""
