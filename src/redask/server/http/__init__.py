"""HTTP: JSON, server-sent events, OpenAPI."""
