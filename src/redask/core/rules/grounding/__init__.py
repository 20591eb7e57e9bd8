"""Claims of an answer, and whether the sources they cite support them."""
