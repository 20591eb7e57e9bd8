"""Vectors of texts: the stage that makes them after a write, and the models that compute them."""
