"""Readers of what people said: e-mail and subtitles."""
