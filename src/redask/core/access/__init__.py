"""Who may read what: principals, policies, and what they come to. Pure but for `credentials`."""
