"""The Python API: synchronous, asynchronous, administration, results."""
