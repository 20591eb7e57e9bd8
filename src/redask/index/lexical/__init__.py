"""The bucket bm25: tantivy proposes, we score."""
