"""The same statement here and on a real PostgreSQL, over the same tables: `make test-sql`."""
