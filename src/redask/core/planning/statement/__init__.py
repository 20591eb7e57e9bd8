"""From a reading to one statement: tables, columns, joins, tests, and the text of the SELECT."""
