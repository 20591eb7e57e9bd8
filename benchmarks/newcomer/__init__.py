"""What a new user asks of real documentation, and whether the answer is one."""
