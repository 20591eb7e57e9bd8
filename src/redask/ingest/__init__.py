"""Files to entities and edges: `pipeline.run` does the work; `readers` has a row per file type."""
