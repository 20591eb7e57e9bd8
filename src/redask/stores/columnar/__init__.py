"""SELECT's columns: a typed projection of the change log in DuckDB, derived and deletable.

It is the store's change log in columns, one table for each collection and for each set of policy
classes that somebody reads.

    projection            `Projection`: what the executor of SELECTs opens
    tenant_projection     one tenant: catching up, folding, replacing what is damaged
    readable_tables       what one caller may SELECT from, in one state
    open_generation       a generation file and its tail, opened by this process
    generation_builder    the next generation file
    row_log               entities as rows: changes come in, at each step one state
    entity_values         the rows of an entity, and what their columns hold
    edge_groups           who may read an edge: everything that it hangs on decides
    row_counts            what each column holds, counted: types come from it
    typed_tables          the SQL that makes a typed table of JSON payloads
    json_columns          JSON in a column of jsonb or of text
    table_cache           materialised tables, shared by callers who see the same
    table_patches         the next state of a table from the last
    audit_table           `red_ask_audit`, `red_access_log`
    connections           DuckDB connections and their errors
    selector, statements  SELECT on it
"""
