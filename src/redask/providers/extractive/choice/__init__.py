"""Which lines belong together in an answer: steps with their code, the sides of a comparison."""
