"""The identity provider that signs users in: its keys, and the signatures they make."""
