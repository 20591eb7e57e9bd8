"""One client's session: start-up, messages, prepared statements, portals, run-time parameters."""
