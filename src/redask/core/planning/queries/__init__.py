"""Statements that a model writes for an ASK: what it is asked, and what it may not do."""
