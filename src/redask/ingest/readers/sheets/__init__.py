"""Readers of spreadsheets: the cells of .xlsx and .ods, and what of them is a table."""
