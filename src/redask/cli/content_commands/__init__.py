"""Commands about what is in a database: one file a command."""
