"""Several processes that are one server: their parent, and what they share through it."""
