"""What of the sources a prompt shows, and what it says of them. See the modules."""
