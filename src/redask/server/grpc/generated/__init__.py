"""Written by `make proto` from redask.proto; not by hand."""
