"""Commands about attached tables: one file a command."""
