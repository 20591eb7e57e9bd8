"""SELECT in worker processes, which can be ended."""
