"""Who may spend what: which roles use which providers, and how much."""
