"""Whether what would be quoted answers the question, and what to say if not."""
