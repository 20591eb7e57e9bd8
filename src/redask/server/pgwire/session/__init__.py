"""One client's session: start-up, message loop, prepared statements, portals, commands."""
