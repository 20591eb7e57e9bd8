"""PostgreSQL's messages and authentication; no SQL."""
