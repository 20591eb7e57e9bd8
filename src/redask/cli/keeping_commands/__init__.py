"""Commands that keep a database: back-ups, dumps, and their way back."""
