"""What counts as the same value in another spelling.

    quantities     numbers with units, percent, currencies; `same` allows what is a stated rounding
    moments        dates and times; `same` allows a coarser statement
    identifiers    codes, addresses, versions: exact but for case

Claim checks and the planner use it. It knows nothing of answers, sources or tables.
"""
