"""What a server does on its own, each in a thread: applying policies, embedding, following nodes."""
