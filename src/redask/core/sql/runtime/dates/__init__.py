"""PostgreSQL's dates, times and intervals: input, arithmetic, parts, formats and time zones."""
