"""Adapters to the vendors' SDKs, and what they share."""
