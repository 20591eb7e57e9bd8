"""`redask replay`, and `redask audit stale`."""
