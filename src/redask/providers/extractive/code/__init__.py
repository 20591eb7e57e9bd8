"""Lines of code that are quoted: entries of help texts, words and settings."""
