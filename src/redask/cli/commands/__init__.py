"""Commands that ask, search, read and look after data. One file a command."""
