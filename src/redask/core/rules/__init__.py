"""The functional core: one file, one contract, one verb.

Plain data in, plain data out; no I/O, no clock, no randomness. Rules return values; only parsers
of external text raise, and then an `errors.AskError`.
"""
