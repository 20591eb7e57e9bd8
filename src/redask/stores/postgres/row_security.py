"""Row level security: what the database shows to a transaction, whatever a statement asks for.

`redask.whose`, set for one transaction, says whose rows it is about: `one:NAME` or `every`. Where
it is not set, nothing is shown and nothing can be written.

    table with                rows that are shown
    tenant (its number)       those of the named tenant
    rls_tenant                the same
    tenant (its name)         the same; so are `tenants` by their name
    chain                     those of a chain that is shown
    key of an answer          the one that is named: it is a hash of tenant, user and question
    node                      those of this process
    none of these             all, if anything is named

`redask.classes`, set while an entity is read for a caller, limits entities to the policy classes
that the caller may read: `{"closed": false, "collections": {"7": [0, 12]}}`, where a collection
that is not named is open unless `closed`; an edge is shown if both its ends are. It is a second
lock behind `stores.visibility`, for rows; columns are hidden by that alone.

It holds for the owner of the tables, too (FORCE), but not for superusers and roles with BYPASSRLS:
`pg_database` refuses them.
"""

from redask.stores.postgres import calls_schema, store_schema

LOCKS = ("store_locks", "log_locks", "ledger_locks", "anchor_locks")
FUNCTIONS = (
    """CREATE FUNCTION whose() RETURNS text STABLE LANGUAGE sql AS $$
        SELECT CASE WHEN current_setting('redask.whose', true) LIKE 'one:%'
            THEN substr(current_setting('redask.whose', true), 5) END $$""",
    """CREATE FUNCTION is_every() RETURNS boolean STABLE LANGUAGE sql AS $$
        SELECT coalesce(current_setting('redask.whose', true) = 'every', false) $$""",
    """CREATE FUNCTION admits(collection bigint, label bigint) RETURNS boolean
        STABLE LANGUAGE sql AS $$
        SELECT CASE WHEN coalesce(current_setting('redask.classes', true), '') = '' THEN true
        ELSE coalesce(
            current_setting('redask.classes')::jsonb -> 'collections' -> collection::text
                @> to_jsonb(label),
            NOT (current_setting('redask.classes')::jsonb -> 'closed')::boolean) END $$""",
    """CREATE FUNCTION json_items(list text) RETURNS TABLE (key bigint, value text)
        IMMUTABLE ROWS 100 LANGUAGE sql AS $$
        SELECT place - 1, item FROM json_array_elements_text(list::json)
            WITH ORDINALITY AS items(item, place) $$""",
)
# An end is read under the same policies: one that is an edge needs its own ends. It is looked up by
# its key, which PostgreSQL compares before it asks a policy: so it asks for this row alone.
_SHOWN = "coalesce((SELECT true FROM redask.entities AS tip WHERE tip.key = own.{}), false)"
_ENDS = f"""CREATE FUNCTION shows_ends(edge bigint) RETURNS boolean STABLE LANGUAGE sql AS $$
    SELECT NOT EXISTS (SELECT 1 FROM redask.edges AS own WHERE own.key = edge
        AND NOT ({_SHOWN.format("source")} AND {_SHOWN.format("target")})) $$"""
_NUMBERED = "tenant = (SELECT redask.tenant_number())"
_OWNED = "rls_tenant = (SELECT redask.tenant_number())"
_NAMED = "tenant = redask.whose()"
_CHAINED = "chain IN (SELECT id FROM redask.audit_chains)"
_ANY = "redask.whose() IS NOT NULL"
RULES = {
    _NUMBERED: "collections entities policies relabelling users tokens column_types embedding"
    " history ingest_origins",
    _OWNED: "edges vectors holdings columns class_layouts labels ingest_items ingest_links"
    " declared_keys",
    _NAMED: "log_anchors log_pruning audit_chains red_ask_audit spent reserved",
    _CHAINED: "audit_records audit_numbers audit_provenance audit_trees audit_tiles"
    " audit_checkpoints audit_deliveries",
    _ANY: "store scram log_file audit_file audit_clock audit_head audit_builds audit_readings"
    " audit_sinks",
    "name = redask.whose()": "tenants",
    "key = redask.whose()": "answers",
    "whose = redask.whose()": " ".join(LOCKS),
}


def policies() -> list[str]:
    """The statements that put every table under its rule."""
    made = []
    for rule, tables in RULES.items():
        for table in tables.split():
            made += [
                f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
                f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
                f"CREATE POLICY whose ON {table} USING (redask.is_every() OR {rule})",
            ]
    made += [
        "ALTER TABLE ingest_seen ENABLE ROW LEVEL SECURITY",
        "ALTER TABLE ingest_seen FORCE ROW LEVEL SECURITY",
        "CREATE POLICY whose ON ingest_seen"
        " USING (node = current_setting('redask.node', true) AND redask.whose() IS NOT NULL)",
        "CREATE POLICY admitted ON entities AS RESTRICTIVE FOR SELECT"
        " USING (redask.admits(collection, label))",
        _ENDS,
        "CREATE POLICY with_its_ends ON entities AS RESTRICTIVE FOR SELECT"
        " USING (coalesce(current_setting('redask.classes', true), '') = ''"
        " OR urn NOT LIKE 'urn:reddb:edge:%' OR redask.shows_ends(key))",
    ]
    return made


def first_schema() -> tuple[str, ...]:
    """The statements of the first migration."""
    locks = [f'CREATE TABLE {name} (whose text COLLATE "C" PRIMARY KEY)' for name in LOCKS]
    return (*FUNCTIONS, *store_schema.TABLES, *calls_schema.TABLES, *locks, *policies())
