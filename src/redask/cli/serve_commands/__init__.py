"""Commands that serve the database. One file a command."""
