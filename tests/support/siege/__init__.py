"""A server under attack: what attacks there are, who asks honestly meanwhile, and the verdict."""
