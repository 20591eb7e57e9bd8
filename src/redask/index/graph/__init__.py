"""The bucket graph: traversal along edges and mentions of names."""
