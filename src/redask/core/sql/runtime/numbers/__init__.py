"""PostgreSQL's numeric and float: arithmetic, aggregates and to_char of numbers."""
