"""OpenAI's chat completions over HTTP: the database is a model; see `chat_routes`."""
