"""Text to tokens: the analyzer, its vocabulary, and the languages it knows."""
