"""Statements that grow towards being slow: a grammar, mutations, and a search among them."""
