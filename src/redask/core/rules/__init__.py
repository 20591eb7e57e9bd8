"""The functional core: one file, one contract, one verb.

Plain data in, plain data out; no I/O, no clock, no randomness. Rules return verdicts;
only what reads text written by somebody else raises, and then an `errors.AskError`.
"""
