"""What a session sees of itself and of the other sessions of its user, and what it can end."""
