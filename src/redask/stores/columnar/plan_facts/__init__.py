"""What planning asks of the typed tables: counts, keys, and the index of text values."""
