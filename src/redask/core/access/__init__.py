"""Access control: principals, policies, grants and redaction. Pure but for `credentials`."""
