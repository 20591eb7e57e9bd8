"""Questions of a few fixed forms, for which the words need no reading."""
