"""Writing to the logs: group commit, and what a log needs beside its rows."""
