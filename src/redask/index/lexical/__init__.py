"""The bucket bm25: candidates from tantivy, scored exactly."""
