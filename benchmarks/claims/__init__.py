"""Claims with one thing changed: how many of them the check of claims sees."""
