"""Classifying a collection anew for another policy, in steps: which is in force, how far it is."""
