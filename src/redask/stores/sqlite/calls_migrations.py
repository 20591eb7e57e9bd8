"""What calls leave behind: the schema of `calls.sqlite`, beside the store.

It is a file of its own because a file has one writer at a time: an answer must not wait for a
bulk load to get its audit row, nor a bulk load for answers.

    audit_file      who this file is, and beside which store it is; see `auditing.anchors`
    audit_clock     the logs' own time (`rules.auditing.lived_time`)
    audit_chains    one row for each log and tenant: start and head
    audit_records   the records of the chains: rows, and what happened to a chain
    audit_numbers   how many rows each user has, pruned ones included
    audit_provenance  what made the answers of rows; see `stores.provenance_rows`
    red_ask_audit   audit rows of the first edition, one chain for all; nothing is added any more
    audit_head      the head of that one when it was left
    audit_builds    what a provider said about its system, for those of its rows that have it
    audit_readings  how a follow-up was understood, and the date that a prompt told, for the same
    spent           nano-dollars by tenant, UTC day, provider, user and role; see `ledger`
    reserved        nano-dollars set aside for calls that are not settled
    audit_trees …   the Merkle trees of the chains; see `auditing.tree_tables`
    answers         the answer cache, oldest first by `place`; see `cached_answers`
"""

from redask.stores.relational.auditing import tree_tables

CALLS_FILE = "calls.sqlite"

_FIRST = (
    """CREATE TABLE red_ask_audit (
        seq INTEGER PRIMARY KEY,
        ts INTEGER NOT NULL,
        tenant TEXT NOT NULL,
        user TEXT NOT NULL,
        row TEXT NOT NULL,
        hash TEXT NOT NULL
    )""",
    "CREATE INDEX audit_by_caller ON red_ask_audit (tenant, user, seq)",
    """CREATE TABLE audit_head (
        seq INTEGER NOT NULL,
        hash TEXT NOT NULL,
        gone_seq INTEGER NOT NULL,
        gone_hash TEXT NOT NULL,
        seal TEXT NOT NULL
    )""",
    """CREATE TABLE spending (
        tenant TEXT NOT NULL,
        day INTEGER NOT NULL,
        usd REAL NOT NULL,
        PRIMARY KEY (tenant, day)
    ) WITHOUT ROWID""",
    """CREATE TABLE answers (
        place INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL UNIQUE,
        answer TEXT NOT NULL,
        prompt_hash TEXT NOT NULL,
        stored_at INTEGER NOT NULL,
        ttl INTEGER NOT NULL
    )""",
)

_SECOND = (
    "CREATE TABLE audit_builds (seq INTEGER PRIMARY KEY, build TEXT NOT NULL)",
    """CREATE TABLE spent (
        tenant TEXT NOT NULL,
        day INTEGER NOT NULL,
        provider TEXT NOT NULL,
        nanos INTEGER NOT NULL,
        PRIMARY KEY (tenant, day, provider)
    ) WITHOUT ROWID""",
    "INSERT INTO spent SELECT tenant, day, '', CAST(round(usd * 1e9) AS INTEGER) FROM spending",
    "DROP TABLE spending",
    """CREATE TABLE reserved (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant TEXT NOT NULL,
        day INTEGER NOT NULL,
        provider TEXT NOT NULL,
        nanos INTEGER NOT NULL
    )""",
    "CREATE INDEX reserved_by_day ON reserved (tenant, day)",
)

_THIRD = (
    """CREATE TABLE audit_readings (
        seq INTEGER PRIMARY KEY,
        understood TEXT NOT NULL,
        today TEXT NOT NULL
    )""",
)

# Who spent it, and how many calls had no known price.
_FOURTH = (
    "ALTER TABLE spent RENAME TO old_spent",
    """CREATE TABLE spent (
        tenant TEXT NOT NULL,
        day INTEGER NOT NULL,
        provider TEXT NOT NULL,
        user TEXT NOT NULL,
        role TEXT NOT NULL,
        nanos INTEGER NOT NULL,
        unpriced INTEGER NOT NULL,
        PRIMARY KEY (tenant, day, provider, user, role)
    ) WITHOUT ROWID""",
    "INSERT INTO spent SELECT tenant, day, provider, '', '', nanos, 0 FROM old_spent",
    "DROP TABLE old_spent",
    "ALTER TABLE reserved ADD COLUMN user TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE reserved ADD COLUMN role TEXT NOT NULL DEFAULT ''",
)

# The second edition of the audit log: a chain for each tenant. What was written before stays as it
# is; `own` numbers the rows of each user.
_FIFTH = (
    "CREATE TABLE audit_file (identity TEXT NOT NULL, store TEXT, marker TEXT, before TEXT)",
    "INSERT INTO audit_file VALUES (lower(hex(randomblob(16))), '', '', '')",
    """CREATE TABLE audit_clock (
        lived INTEGER NOT NULL,
        highest INTEGER,
        jumped INTEGER NOT NULL,
        owed INTEGER NOT NULL
    )""",
    "INSERT INTO audit_clock VALUES (0, NULL, 0, 0)",
    """CREATE TABLE audit_chains (
        id INTEGER PRIMARY KEY,
        log TEXT NOT NULL,
        tenant TEXT NOT NULL,
        start INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        hash TEXT NOT NULL,
        pruned_seq INTEGER NOT NULL,
        pruned_hash TEXT NOT NULL,
        UNIQUE (log, tenant)
    )""",
    """CREATE TABLE audit_records (
        chain INTEGER NOT NULL REFERENCES audit_chains,
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        at INTEGER NOT NULL,
        user TEXT NOT NULL,
        own INTEGER NOT NULL,
        row TEXT NOT NULL,
        beside TEXT NOT NULL,
        opening TEXT NOT NULL,
        leaf TEXT NOT NULL,
        hash TEXT NOT NULL,
        UNIQUE (chain, seq)
    )""",
    "CREATE INDEX audit_records_by_user ON audit_records (chain, user, own)",
    """CREATE TABLE audit_numbers (
        chain INTEGER NOT NULL REFERENCES audit_chains,
        user TEXT NOT NULL,
        own INTEGER NOT NULL,
        PRIMARY KEY (chain, user)
    ) WITHOUT ROWID""",
    "ALTER TABLE red_ask_audit ADD COLUMN own INTEGER NOT NULL DEFAULT 0",
    """UPDATE red_ask_audit SET own = counted.own FROM (
        SELECT seq, row_number() OVER (PARTITION BY tenant, user ORDER BY seq) AS own
        FROM red_ask_audit
    ) AS counted WHERE counted.seq = red_ask_audit.seq""",
)

# What made the answers of rows: it goes before they do.
_PROVENANCE = (
    """CREATE TABLE audit_provenance (
        chain INTEGER NOT NULL REFERENCES audit_chains,
        seq INTEGER NOT NULL,
        provenance TEXT NOT NULL,
        PRIMARY KEY (chain, seq)
    ) WITHOUT ROWID""",
)

MIGRATIONS = (_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH, tree_tables.SCHEMA, _PROVENANCE)
