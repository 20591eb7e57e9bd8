"""`redask chat`: a conversation in the terminal."""
