"""An immutable build of the tables: made, kept in files, opened."""
