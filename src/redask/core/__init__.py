"""The functional core: nouns, errors, ports, settings, every decision. No I/O, no clock."""
