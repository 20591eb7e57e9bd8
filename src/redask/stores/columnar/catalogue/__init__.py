"""The catalogue as tables of DuckDB: `pg_catalog` and `information_schema` of one caller."""
