"""Casts between types, one value at a time."""
