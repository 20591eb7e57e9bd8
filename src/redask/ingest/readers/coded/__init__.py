"""Readers of what is written for machines: source code, settings files, notebooks."""
