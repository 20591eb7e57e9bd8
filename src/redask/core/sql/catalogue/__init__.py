"""`pg_catalog` and `information_schema`: what the tables of one caller look like in them.

object_ids            OIDs of tables, schemas and types, and the names they stand for
type_rows             the rows of pg_type and pg_range
catalogue_rows        the rows of all tables, made of the tables that a caller can read
catalogue_functions   format_type(), pg_get_userbyid() and the like, for the binder
"""
