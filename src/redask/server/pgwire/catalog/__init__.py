"""`pg_catalog` and `information_schema`: what clients ask about the server."""
