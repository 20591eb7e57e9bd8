"""Reading everything that a store keeps: what is damaged, and what can be made again."""
