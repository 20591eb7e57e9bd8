"""Tables of somebody's own PostgreSQL, indexed and asked where they are: see docs/attach.md."""
