"""PostgreSQL's types: OIDs, text and binary encoding."""
