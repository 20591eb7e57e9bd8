"""SELECT over collections as SQLite views. To be replaced by the columnar projection."""
