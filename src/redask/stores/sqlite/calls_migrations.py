"""What calls leave behind: the schema of `calls.sqlite`, beside the store.

It is a file of its own because a file has one writer at a time: an answer must not wait for a
bulk load to get its audit row, nor a bulk load for answers.

    red_ask_audit   the audit rows, chained by hash; see `audit_log`
    audit_head      the last row's number and hash, and those of the last row that retention took
    audit_builds    what a provider said about its system, for the rows that have it
    audit_readings  how a follow-up was understood, and the date that a prompt told
    spent           nano-dollars by tenant, UTC day, provider, user and role; see `ledger`
    reserved        nano-dollars set aside for calls that are not settled
    answers         the answer cache, oldest first by `place`; see `cached_answers`
"""

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

MIGRATIONS = (_FIRST, _SECOND, _THIRD, _FOURTH)
