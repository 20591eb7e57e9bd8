"""Embeddings of texts: the stage that computes them after a write, and the models."""
