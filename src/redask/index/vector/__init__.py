"""The bucket vector: nearest neighbours by cosine, exact and independent of history."""
