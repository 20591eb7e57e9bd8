"""The logs: `audit_log` over `chain_tables`; what the store remembers of them."""
