"""Signing checkpoints of the audit log, and handing them to places of the operator's."""
