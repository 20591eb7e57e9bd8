"""Statements of an ASK: what a model is asked for, what it may do, the result as a source."""
