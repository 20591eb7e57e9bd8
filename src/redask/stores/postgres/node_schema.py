"""The second migration: what several nodes on one database need.

store_locks.position   how many transactions wrote to a tenant: who reads a replica compares it
                       with the primary's, in one state with what it reads
answer_locks           who fills the answer cache holds up nobody who books money
ingest_seen.at         rows of a process that was killed are forgotten a week later, by the next
                       one that reads files in
"""

_FORGOTTEN = "at < now() - interval '7 days'"
FORGET_SEEN = f"DELETE FROM redask.ingest_seen WHERE {_FORGOTTEN}"

STATEMENTS = (
    "ALTER TABLE store_locks ADD COLUMN position bigint NOT NULL DEFAULT 0",
    'CREATE TABLE answer_locks (whose text COLLATE "C" PRIMARY KEY)',
    "ALTER TABLE answer_locks ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE answer_locks FORCE ROW LEVEL SECURITY",
    "CREATE POLICY whose ON answer_locks USING (redask.is_every() OR whose = redask.whose())",
    "ALTER TABLE ingest_seen ADD COLUMN at timestamptz NOT NULL DEFAULT now()",
    "DROP POLICY whose ON ingest_seen",
    "CREATE POLICY whose ON ingest_seen USING (redask.whose() IS NOT NULL"
    f" AND (node = current_setting('redask.node', true) OR {_FORGOTTEN}))",
)
