"""One ask from top to bottom (`ask`), its state, and the shell around the rules it follows."""
