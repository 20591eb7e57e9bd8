"""The logs of a database from Python: reading, verifying, sealing, proving, erasing, replaying."""
