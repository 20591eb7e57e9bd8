"""Statements of an ASK: what a model is asked for, what it may not do, and the result as a source."""
