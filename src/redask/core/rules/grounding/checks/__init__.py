"""What in a claim is checked against its sources, one file for each kind of token."""
