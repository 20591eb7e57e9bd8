"""Every setting, one row a key: `ROWS`, of which the reference page is made."""

from dataclasses import dataclass

from redask.core import serving_limits, sign_in, values
from redask.core import setting_readers as readers

_MANY = 2**53  # the largest count that is exact in every JSON reader
BUCKETS = ("bm25", "vector", "graph")
_ACCESS = "whether others than the owner read what has no policy"
_TESTING = "let a server use providers that are for tests, such as scripted"
_CONNECTIONS = values.whole(1, 1_000_000)
_EDGE_IDS = "what the ids of edges in a new database are made of: see docs/access.md"


@dataclass(frozen=True, slots=True)
class Setting:
    """One key: `field` is where it goes, dotted into a part of Settings.

    `operator`: only the operator says it, never a file in the database's directory.
    """

    key: str
    field: str
    read: values.Reader
    help: str
    operator: bool = False


def _limit(name: str, help_text: str) -> Setting:
    return Setting(f"ask.{name}", f"limits.{name}", values.whole(1, _MANY), help_text)


ROWS: tuple[Setting, ...] = (
    Setting("ask.strict", "strict", values.strictness, "judge citations strictly by default"),
    Setting(
        "ask.default_temperature",
        "default_temperature",
        values.real(0, 2),
        "temperature when the ASK gives none",
    ),
    _limit("max_prompt_tokens", "tokens one prompt may have"),
    _limit("max_sources_bytes", "bytes the sources of one prompt may have"),
    _limit("max_completion_tokens", "tokens one completion may have"),
    _limit("timeout_ms", "time for one whole ASK"),
    Setting(
        "ask.daily_cost_cap_usd",
        "limits.daily_cost_cap_usd",
        values.real(0, _MANY),
        "what a tenant may spend on one UTC day; no cap if not given",
    ),
    Setting("ask.cache.enabled", "cache_enabled", values.boolean, "cache answers by default"),
    Setting(
        "ask.cache.default_ttl",
        "cache_default_ttl",
        values.ttl,
        'how long, such as "5m", when the ASK says nothing',
    ),
    Setting(
        "ask.cache.max_entries",
        "cache_max_entries",
        values.whole(1, _MANY),
        "answers kept, the oldest out first",
    ),
    Setting(
        "ask.providers.default",
        "default_provider",
        values.one_provider,
        "the provider when USING and fallback name none",
    ),
    Setting("ask.providers.testing", "testing_providers", values.boolean, _TESTING),
    Setting("ask.providers.fallback", "fallback", values.fallback, "providers in failover order"),
    Setting(
        "ask.plan.provider",
        "plan_provider",
        values.one_provider,
        "who writes a statement that redask is not certain of; whoever answers, if not given",
    ),
    Setting("ask.plan.model", "plan_model", values.name, "its model"),
    Setting(
        "ask.followups",
        "followups_by_model",
        readers.either("rules", "model"),
        'who makes a question whole that leans on its history: "rules", or the "model"',
    ),
    Setting(
        "ask.judge.provider",
        "judge_provider",
        values.one_provider,
        "who judges claims; else nobody",
    ),
    Setting("ask.judge.model", "judge_model", values.name, "its model"),
    Setting(
        "ask.audit.include_answer",
        "audit_include_answer",
        values.boolean,
        "keep the answer's text in the audit row",
    ),
    Setting(
        "ask.audit.retention_days",
        "audit_retention_days",
        values.whole(1, 36_500),
        "how long audit rows are kept",
    ),
    Setting(
        "ask.audit.provenance_days",
        "audit_provenance_days",
        values.whole(1, 36_500),
        "how long it is kept beside them what made each answer, for `redask replay`",
    ),
    Setting(
        "ask.audit.question",
        "audit_hash_question",
        readers.either("text", "hash"),
        'how the audit row keeps the question: "text" or "hash"',
    ),
    Setting(
        "ask.audit.hash_tenants",
        "audit_hash_tenants",
        values.names,
        "tenants whose questions are kept as a hash, whatever holds for the others",
    ),
    Setting(
        "ask.redact.secrets",
        "redact_secrets",
        values.boolean,
        "take keys, tokens and passwords out of what a provider reads",
    ),
    Setting(
        "ask.redact.personal",
        "redact_personal",
        readers.personal,
        f"take these out as well, of {', '.join(readers.PERSONAL)}",
    ),
    Setting(
        "access_log.select",
        "access_log_select",
        values.boolean,
        "keep a row of every SELECT in the access log",
    ),
    Setting(
        "access_log.search",
        "access_log_search",
        values.boolean,
        "keep a row of every search in the access log",
    ),
    Setting("access.default", "access_closed", readers.either("allow", "deny"), _ACCESS),
    Setting("access.edge_ids", "edge_ids_keyed", readers.either("content", "keyed"), _EDGE_IDS),
    Setting(
        "select.timeout_ms",
        "select_timeout_ms",
        values.whole(1, 3_600_000),
        "time for one SELECT",
    ),
    Setting(
        "select.max_rows",
        "select_max_rows",
        values.whole(1, 1_000_000),
        "rows that one SELECT may return, but on the Postgres wire, which sends any number",
    ),
    Setting(
        "select.max_bytes",
        "select_max_bytes",
        values.whole(1 << 20, 1 << 50),
        "bytes that one result on the Postgres wire may have",
    ),
    Setting(
        "select.spool_bytes",
        "select_spool_bytes",
        values.whole(1 << 20, 1 << 50),
        "bytes on disk of all results on the Postgres wire that are not read to their end",
    ),
    Setting(
        "select.workers",
        "select_workers",
        values.whole(0, 64),
        "SELECTs of one user that run at once, in processes; 0 for none; 2 for a server",
    ),
    *(
        Setting(
            f"select.{whose}_seconds_a_minute",
            f"select_{whose}_seconds",
            values.whole(1, 3_600),
            f"seconds of processes that one {whose} has in a minute; without it, no limit",
        )
        for whose in ("user", "tenant")
    ),
    Setting(
        "ingest.file_seconds",
        "ingest_file_seconds",
        values.whole(1, 86_400),
        "time for reading one file",
    ),
    Setting(
        "ingest.file_memory_mb",
        "ingest_file_memory_mb",
        values.whole(64, 1_048_576),
        "memory for reading one document, in the process of `redask ingest`",
    ),
    *(
        Setting(
            f"ask.retrieval.{bucket}.{name}",
            f"buckets.{bucket}.{name}",
            read,
            f"{what} of the {bucket} bucket{otherwise}",
        )
        for bucket in BUCKETS
        for name, read, what, otherwise in (
            ("min_score", values.real(0, 1), "the floor", ""),
            ("weight", readers.weight, "the weight", "; decided for each question if not given"),
        )
    ),
    Setting(
        "embedder.name", "embedder.name", readers.one_name, "where vectors come from; none for none"
    ),
    Setting(
        "embedder.base_url",
        "embedder.endpoint.base_url",
        values.name,
        "address of an OpenAI-compatible embedder",
        operator=True,
    ),
    Setting("embedder.model", "embedder.endpoint.model", values.name, "its model"),
    Setting(
        "embedder.dimensions",
        "embedder.dimensions",
        values.whole(1, 8192),
        "how long its vectors must be; as the first one if not given",
    ),
    Setting(
        "files.modes",
        "check_modes",
        readers.either("any", "private"),
        'whether a database that others may read is refused: "private"; "any" for none',
        operator=True,
    ),
    *(
        Setting(f"serve.{key}", f"serving.{field}", read, help_text, operator=True)
        for key, field, read, help_text in (
            ("connections", "connections", _CONNECTIONS, "connections of each transport at once"),
            (
                "connections_per_address",
                "connections_per_address",
                _CONNECTIONS,
                "of them, those of one address; nine tenths if not given",
            ),
            (
                "unauthenticated_connections",
                "unauthenticated_connections",
                _CONNECTIONS,
                "of them, those on which nobody has signed in; three quarters if not given",
            ),
            (
                "wrong_tokens",
                "wrong_tokens",
                values.whole(1, 1_000_000),
                "wrong tokens of one address before the next must wait",
            ),
            (
                "public",
                "public",
                serving_limits.public,
                f"served without sign-in, of {', '.join(serving_limits.PUBLIC)}",
            ),
            (
                "public_url",
                "public_url",
                serving_limits.public_url,
                "where people reach the server, for links to sources; by the request if not given",
            ),
            (
                "snapshots",
                "snapshots",
                values.name,
                "where copies of the index are that new nodes start from: a directory, s3://bucket/prefix",
            ),
            (
                "chat_model",
                "chat_model",
                values.name,
                "the database's name as a model of chat programs",
            ),
            (
                "chat_sources_in_text",
                "chat_sources_in_text",
                values.boolean,
                "end the text of a chat's answer with its sources",
            ),
            (
                "chat_stream",
                "chat_checked",
                readers.either("live", "checked"),
                'when a chat gets a streamed answer: "live", or "checked", which is all at its end',
            ),
            *(
                (f"{whose}_{what}", f"{whose}_{what}", values.whole(1, _MANY), help_text)
                for whose, part in (("user", "half of all"), ("tenant", "three quarters"))
                for what, help_text in (
                    ("running", f"asks of one {whose} that run at once; {part} if not given"),
                    ("waiting", f"asks of one {whose} that wait; {part} if not given"),
                )
            ),
            (
                "tenant_rate",
                "tenant_rate",
                values.whole(0, _MANY),
                "asks and statements of one tenant that begin in a second, in each process, "
                "while other tenants ask; 0 for any",
            ),
        )
    ),
    *(
        Setting(f"audit.seal.{name}", f"sealing.{name}", read, help_text, operator=True)
        for name, read, help_text in (
            ("key", values.name, "a private key that signs checkpoints: `redask audit keygen`"),
            ("signer", values.name, "a command that signs them, in place of a key"),
            ("public_key", values.name, "the key that it signs with: a file, or 64 hex digits"),
            ("every", values.ttl, "how often a server seals what is new"),
            ("file", values.name, "a file that checkpoints are added to"),
            ("command", values.name, "a command that gets them on its standard input"),
            ("url", values.name, "an https address that they are posted to"),
        )
    ),
    *(
        Setting(f"sign_in.{name}", f"sign_in.{name}", read, help_text, operator=True)
        for name, read, help_text in (
            ("issuer", values.name, "whose JWTs sign users in, as their `iss` says"),
            ("audience", values.name, "whom they must be made for, by their `aud`"),
            ("discovery", values.name, "URL or file of its OpenID configuration"),
            ("algorithms", sign_in.algorithms, "signatures taken, of the asymmetric ones"),
            ("user_claim", values.name, "the claim that names the user"),
            ("role_claim", values.name, "the claim that names the role, or roles"),
            ("tenant_claim", values.name, "the claim that names the tenant"),
            ("tenant", values.name, "the tenant where no claim names it"),
            ("client_id", values.name, "the client of the web page, which then offers a redirect"),
        )
    ),
)
