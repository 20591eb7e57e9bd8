"""What a server does on its own, each in a thread: policies, embedding, following nodes."""
