"""Readers of marked-up text other than Markdown: reStructuredText, AsciiDoc, XML, subtitles."""
