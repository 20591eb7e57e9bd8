"""Asking again what was asked before, and finding answers whose sources are not what they were."""
