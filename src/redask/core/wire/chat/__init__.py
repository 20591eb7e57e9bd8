"""Asks and answers in the shape of OpenAI's chat completions, which every chat program knows."""
