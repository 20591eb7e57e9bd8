"""Random statements that PostgreSQL mostly accepts, and whose result it decides: `statements`."""
