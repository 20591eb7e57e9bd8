"""As whom a database is open, and how the web page finds that out."""
