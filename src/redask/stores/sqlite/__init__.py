"""The backend on SQLite, in one directory: `redask.sqlite` and `calls.sqlite`."""
