"""Types whose values are kept as PostgreSQL writes them: one spelling for each value.

No column has one of them: their values are constants, parameters and what is made of those.
"""
