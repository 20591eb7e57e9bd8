"""Rows of the logs as every backend keeps them: chained, salted, with what made an answer."""
