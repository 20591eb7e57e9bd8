"""The forward index: the tokens, names and edges of every entity, by key."""
