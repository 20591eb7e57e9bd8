"""What DuckDB's postgres extension makes of the Postgres wire transport: one line for each fact.

python duckdb_probe.py CONNECTION BY_MONTH SLOW FAILING…, with the packages that tools/clients.sh
puts beside.
"""

import sys

import duckdb
from duckdb_extensions import import_extension

import_extension("postgres_scanner")
database = duckdb.connect()
database.load_extension("postgres_scanner")
database.execute(f"ATTACH '{sys.argv[1]}' AS shop (TYPE postgres, READ_ONLY)")


def rows(sql: str, *values: object) -> list[tuple[object, ...]]:
    return database.execute(sql, list(values)).fetchall()


tables = rows("SELECT table_name FROM duckdb_tables() WHERE database_name = 'shop' ORDER BY 1")
print("tables", *(name for (name,) in tables))
print("bound", *rows("SELECT name FROM shop.customers WHERE id = ?", 2)[0])
for month, total in rows(
    "SELECT strftime(placed, '%Y-%m'), sum(total) FROM shop.orders GROUP BY 1 ORDER BY 1"
):
    print("month", month, total)
for month, total in rows("SELECT * FROM postgres_query('shop', ?)", sys.argv[2]):
    print("there", month, total)
for sql in sys.argv[4:]:
    try:
        rows("SELECT * FROM postgres_query('shop', ?)", sql)
    except duckdb.Error as error:
        print("error", str(error).splitlines()[0])
try:
    rows("SELECT * FROM postgres_query('shop', ?)", sys.argv[3])
except duckdb.Error as error:
    print("cancelled", str(error).splitlines()[0])
print("after", *rows("SELECT * FROM postgres_query('shop', 'SELECT 1')")[0])
try:
    rows("INSERT INTO shop.customers VALUES (4)")
except duckdb.Error:
    print("read-only")
