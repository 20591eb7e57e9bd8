"""What a deployment chooses: `load` TOML text and environment into one frozen Settings.

    redask.toml            [ask]  max_prompt_tokens = 4096
    environment            REDASK_ASK_MAX_PROMPT_TOKENS=4096       (wins over the file)
    one provider           REDASK_<PROVIDER>_API_KEY, _BASE_URL, _MODEL; the key also by its
                           usual name (OPENAI_API_KEY, …, HF_TOKEN)
    the embedder           [embedder] name, base_url, model, dimensions; its key only from
                           REDASK_EMBEDDER_API_KEY
    capability overrides   [ask.capabilities.<token>], all four flags; in the file only
    prices                 [ask.prices.<provider>."<model>"], input and output; in the file only

ROWS lists every key with its reader, and makes the reference page. A value is read by the
readers of `core.values`; in the environment it is written as in TOML, quotes left out at will.
An unknown key in the file, or a value that does not fit, is `Misconfigured` with the key named.
Unknown REDASK_ variables are left alone: other programs' parts share the prefix. Keys of
providers never appear in `repr`. Pure: the caller reads the file and the environment.
"""

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from types import MappingProxyType

from redask.core import values
from redask.core.errors import Misconfigured
from redask.core.model import Capabilities, Strictness
from redask.core.provider_table import PROVIDERS
from redask.core.rules import capabilities, price_list
from redask.core.rules.cost import Limits
from redask.core.text import lower

_MANY = 2**53  # the largest count that is exact in every JSON reader
BUCKETS = ("bm25", "vector", "graph")
PERSONAL = ("email", "iban", "card", "ipv6", "ipv4", "phone")  # what `access.redaction` knows


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How to reach one provider; None where the provider's own default holds."""

    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class BucketSettings:
    """The floor and the weight of one retrieval bucket; None: by `bucket_weights`."""

    min_score: float = 0.0
    weight: Decimal | None = None


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """Where vectors come from; `endpoint` and `dimensions` matter to embedders elsewhere."""

    name: str = "minilm"
    endpoint: Endpoint = field(default_factory=Endpoint)
    dimensions: int | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Every choice, with its default; the keys are in ROWS."""

    strict: Strictness = Strictness.ON
    default_temperature: float = 0.0
    limits: Limits = field(default_factory=Limits)
    cache_enabled: bool = False
    cache_default_ttl: int | None = None
    cache_max_entries: int = 1000
    default_provider: str | None = None
    fallback: tuple[str, ...] = ()
    plan_provider: str | None = None
    plan_model: str | None = None
    followups_by_model: bool = False
    audit_include_answer: bool = False
    audit_retention_days: int = 90
    audit_hash_question: bool = False
    redact_secrets: bool = False
    redact_personal: tuple[str, ...] = ()
    select_timeout_ms: int = 5_000
    select_max_rows: int = 10_000
    select_max_bytes: int = 1 << 30
    select_spool_bytes: int = 8 << 30
    select_workers: int | None = None
    buckets: Mapping[str, BucketSettings] = field(
        default_factory=lambda: MappingProxyType(dict.fromkeys(BUCKETS, BucketSettings()))
    )
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    capabilities: Mapping[str, Capabilities] = field(default_factory=lambda: MappingProxyType({}))
    prices: price_list.PriceList = field(default_factory=lambda: MappingProxyType({}))
    endpoints: Mapping[str, Endpoint] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Setting:
    """One key: `field` is where it goes, dotted into a part of Settings."""

    key: str
    field: str
    read: values.Reader
    help: str


def _audit_question(value: object) -> bool:
    if value not in ("text", "hash"):
        raise values.Unfit('"text" or "hash"', values.shown(value))
    return value == "hash"


def _followups(value: object) -> bool:
    if value not in ("rules", "model"):
        raise values.Unfit('"rules" or "model"', values.shown(value))
    return value == "model"


def _weight(value: object) -> Decimal:
    """A number as it is written, so that 0.4 + 1 equals 1.4."""
    return Decimal(repr(values.real(0, 1000)(value)))


def _fallback(value: object) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = ",".join(value)
    named = values.providers(value)
    if not named:
        raise values.Unfit("at least one provider", "none")
    return named


def _default_provider(value: object) -> str | None:
    named = values.providers(value)
    if len(named) > 1:
        raise values.Unfit("one provider; several go into ask.providers.fallback", str(len(named)))
    return named[0] if named else None


def _personal(value: object) -> tuple[str, ...]:
    """Kinds of personal data, in a fixed order, however they were listed."""
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise values.Unfit("a list of kinds", values.shown(value))
    named = {each.strip() for each in listed} - {""}
    unknown = sorted(named - set(PERSONAL))
    if unknown:
        raise values.Unfit(f"kinds out of {', '.join(PERSONAL)}", values.shown(unknown[0]))
    return tuple(kind for kind in PERSONAL if kind in named)


def _one_name(value: object) -> str:
    return lower(values.name(value))


def _limit(name: str, help_text: str) -> Setting:
    return Setting(f"ask.{name}", f"limits.{name}", values.whole(1, _MANY), help_text)


_SELECT_WORKERS = "processes that run SELECTs, 0 for none; 2 for a server, 0 embedded"
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
        _default_provider,
        "the provider when USING and fallback name none",
    ),
    Setting("ask.providers.fallback", "fallback", _fallback, "providers in failover order"),
    Setting(
        "ask.plan.provider",
        "plan_provider",
        _default_provider,
        "who writes a statement that redask is not certain of; whoever answers, if not given",
    ),
    Setting("ask.plan.model", "plan_model", values.name, "its model"),
    Setting(
        "ask.followups",
        "followups_by_model",
        _followups,
        'who makes a question whole that leans on its history: "rules", or the "model"',
    ),
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
        "ask.audit.question",
        "audit_hash_question",
        _audit_question,
        'how the audit row keeps the question: "text" or "hash"',
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
        _personal,
        f"take these out as well, of {', '.join(PERSONAL)}",
    ),
    *(
        Setting(f"select.{name}", f"select_{name}", values.whole(least, most), what)
        for name, least, most, what in (
            ("timeout_ms", 1, 3_600_000, "time for one SELECT"),
            ("max_rows", 1, 1_000_000, "rows that one SELECT may return, but on the Postgres wire"),
            ("max_bytes", 1 << 20, 1 << 50, "bytes of one result on the Postgres wire"),
            ("spool_bytes", 1 << 20, 1 << 50, "bytes on disk of all results of the Postgres wire"),
            ("workers", 0, 64, _SELECT_WORKERS),
        )
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
            ("weight", _weight, "the weight", "; decided for each question if not given"),
        )
    ),
    Setting("embedder.name", "embedder.name", _one_name, "where vectors come from; none for none"),
    Setting(
        "embedder.base_url",
        "embedder.endpoint.base_url",
        values.name,
        "address of an OpenAI-compatible embedder",
    ),
    Setting("embedder.model", "embedder.endpoint.model", values.name, "its model"),
    Setting(
        "embedder.dimensions",
        "embedder.dimensions",
        values.whole(1, 8192),
        "how long its vectors must be; as the first one if not given",
    ),
)
_BY_KEY = {row.key: row for row in ROWS}
_TABLES = {row.key[:end] for row in ROWS for end, dot in enumerate(row.key) if dot == "."}


def load(toml_text: str = "", env: Mapping[str, str] = MappingProxyType({})) -> Settings:
    """The settings that a configuration file's text and an environment say."""
    try:
        document = tomllib.loads(toml_text)
    except (ValueError, RecursionError) as error:  # a number or a nesting may be too long for it
        raise Misconfigured(f"redask.toml is not TOML: {error}") from None
    overrides, prices = _cut(document, "capabilities"), _cut(document, "prices")
    given = dict(_flatten(document, ""))
    unknown = next((key for key in given if key not in _BY_KEY), None)
    if unknown is not None:
        near = difflib.get_close_matches(unknown, _BY_KEY, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        shown = values.printable(unknown)
        raise Misconfigured(f"redask.toml: there is no setting {shown}{hint}", detail=shown)
    settings = Settings(
        embedder=EmbedderSettings(endpoint=Endpoint(env.get("REDASK_EMBEDDER_API_KEY") or None)),
        capabilities=MappingProxyType(capabilities.read_overrides(overrides)),
        prices=MappingProxyType(price_list.read_overrides(prices)),
        endpoints=MappingProxyType(_endpoints(env)),
    )
    for row in ROWS:
        variable = variable_of(row.key)
        if env.get(variable):
            settings = _set(settings, row.field, _read(row, _from_env(env[variable]), variable))
        elif row.key in given:
            settings = _set(settings, row.field, _read(row, given[row.key], row.key))
    return settings


def variable_of(key: str) -> str:
    """The environment variable of a setting."""
    return "REDASK_" + key.upper().replace(".", "_")


def key_variables(provider: str) -> tuple[str, ...]:
    """The variables that may hold a provider's key, the one that wins first."""
    ours, usual = f"REDASK_{provider.upper()}_API_KEY", PROVIDERS[provider].key_variable
    return (ours,) if usual is None else (ours, usual)


def _cut(document: dict[str, object], name: str) -> dict[str, dict[str, object]]:
    """Take a table of overrides out of the document: its keys are tokens, not settings."""
    ask = document.get("ask")
    tables = ask.pop(name, {}) if isinstance(ask, dict) else {}
    if not isinstance(tables, dict):
        raise Misconfigured(f"ask.{name} must be a table", detail=f"ask.{name}")
    return tables


def _flatten(table: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict) and key in _TABLES:
            yield from _flatten(value, f"{key}.")
        else:
            yield key, value


def _read(row: Setting, value: object, where: str) -> object:
    try:
        return row.read(value)
    except values.Unfit as unfit:
        raise Misconfigured(f"{where}: {unfit}", detail=row.key) from None


def _from_env(text: str) -> object:
    """A variable's value, written as in TOML; what is no TOML value is the text itself."""
    try:
        document = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return document["value"] if len(document) == 1 else text


def _set(settings: Settings, path: str, value: object) -> Settings:
    part, _, name = path.partition(".")
    if part == "limits":
        return replace(settings, limits=replace(settings.limits, **{name: value}))  # type: ignore[arg-type]  # rows name the fields
    if part == "buckets":
        bucket, _, name = name.partition(".")
        changed = replace(settings.buckets[bucket], **{name: value})  # type: ignore[arg-type]  # as above
        return replace(settings, buckets=MappingProxyType({**settings.buckets, bucket: changed}))
    if part == "embedder":
        chosen = settings.embedder
        owner, _, leaf = name.rpartition(".")
        if owner:
            changed_endpoint = replace(chosen.endpoint, **{leaf: value})  # type: ignore[arg-type]  # as above
            return replace(settings, embedder=replace(chosen, endpoint=changed_endpoint))
        return replace(settings, embedder=replace(chosen, **{leaf: value}))  # type: ignore[arg-type]  # as above
    return replace(settings, **{part: value})  # type: ignore[arg-type]  # as above


def _endpoints(env: Mapping[str, str]) -> dict[str, Endpoint]:
    """The providers for which the environment says anything."""
    found = {}
    for provider in (row.name for row in PROVIDERS.values() if not row.built_in):
        prefix = f"REDASK_{provider.upper()}_"
        endpoint = Endpoint(
            next((env[name] for name in key_variables(provider) if env.get(name)), None),
            env.get(f"{prefix}BASE_URL") or None,
            env.get(f"{prefix}MODEL") or None,
        )
        if endpoint != Endpoint():
            found[provider] = endpoint
    return found
