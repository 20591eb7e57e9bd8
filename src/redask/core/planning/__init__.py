"""From a question to a PostgreSQL SELECT over what its caller may read, or what was unclear."""
