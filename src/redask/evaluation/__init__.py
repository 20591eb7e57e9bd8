"""Measuring: how good answers and rankings are on data somebody else wrote."""
