"""Attached tables, as methods of an open database."""
