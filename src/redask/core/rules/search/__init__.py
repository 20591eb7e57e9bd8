"""Rules of a search: what each bucket weighs."""
