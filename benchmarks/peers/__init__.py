"""`make bench-peers`: redask compared with alternatives, and with raw engines.

    __main__        the run: options, stages in processes, what is kept, the page
    environments    a virtual environment for each contestant
    material        the passages, vectors and questions that all of them get
    contest         what a contestant must do; what it is given
    worker          one stage of one contestant, in a process of its own
    figures         percentiles, ratios, the table
    NAME.py         one contestant: `build` a database, `open` it, `ask`, `insert`

A contestant's module may not import anything of ours but `contest` (redask and raw excepted): it
runs in an environment where only its own packages are.
"""
