"""Who comes in, and what is written down of it."""
