"""Planning: a question and what the caller may read of the schema become one SELECT, or a doubt.

Pure and deterministic: equal question, schema, values and date give an equal plan.
"""
