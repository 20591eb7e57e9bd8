"""Evaluation of answers and rankings on public datasets."""
