"""The backend on PostgreSQL, in a schema `redask` of its own: see docs/postgresql.md."""
