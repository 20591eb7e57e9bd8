"""PostgreSQL's patterns: read, checked, and written for RE2 and LIKE."""
