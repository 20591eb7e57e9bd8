"""COPY … TO STDOUT: its options, its three formats, the statement."""
