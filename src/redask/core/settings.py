"""What a deployment chooses: `load` TOML text and environment into one frozen Settings.

    redask.toml            [ask]  max_prompt_tokens = 4096
    environment            REDASK_ASK_MAX_PROMPT_TOKENS=4096       (wins over the file)
    one provider           REDASK_<PROVIDER>_API_KEY, _BASE_URL, _MODEL; the key also by its
                           usual name (OPENAI_API_KEY, …, HF_TOKEN)
    the embedder           [embedder] name, base_url, model, dimensions; its key only from
                           REDASK_EMBEDDER_API_KEY
    operator's own         the same keys in a file of the operator (~/.config/redask/redask.toml),
                           which wins over the database's; what says where keys and tokens go
                           (`operator` rows, [sign_in]) is refused in the database's, which
                           somebody may have handed over
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

from redask.core import sealing_settings, sign_in, values
from redask.core.endpoints import CLIENT_SECRET, EMBEDDER_KEY, Endpoint, endpoints
from redask.core.errors import Misconfigured
from redask.core.model import Capabilities, Strictness
from redask.core.rules import capabilities, price_list
from redask.core.rules.cost import Limits
from redask.core.rules.spending import budgets, provider_access
from redask.core.sealing_settings import SealingSettings
from redask.core.serving_limits import ProcessPlace, ServingLimits, part_of
from redask.core.setting_rows import BUCKETS, ROWS, Setting
from redask.core.sign_in import SignInSettings


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
    allow: tuple[provider_access.AllowRule, ...] = ()
    budget: tuple[budgets.BudgetRule, ...] = ()
    testing_providers: bool = False
    default_provider: str | None = None
    fallback: tuple[str, ...] = ()
    plan_provider: str | None = None
    plan_model: str | None = None
    followups_by_model: bool = False
    judge_provider: str | None = None
    judge_model: str | None = None
    audit_include_answer: bool = False
    audit_retention_days: int = 90
    audit_provenance_days: int = 90
    audit_hash_question: bool = False
    audit_hash_tenants: tuple[str, ...] = ()
    access_log_select: bool = True
    access_log_search: bool = True
    redact_secrets: bool = False
    redact_personal: tuple[str, ...] = ()
    access_closed: bool = False
    edge_ids_keyed: bool = True
    select_timeout_ms: int = 5_000
    select_max_rows: int = 10_000
    select_max_bytes: int = 1 << 30
    select_spool_bytes: int = 8 << 30
    select_workers: int | None = None
    select_user_seconds: int | None = None
    select_tenant_seconds: int | None = None
    ingest_file_seconds: int = 120
    ingest_file_memory_mb: int = 2048
    buckets: Mapping[str, BucketSettings] = field(
        default_factory=lambda: MappingProxyType(dict.fromkeys(BUCKETS, BucketSettings()))
    )
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    capabilities: Mapping[str, Capabilities] = field(default_factory=lambda: MappingProxyType({}))
    prices: price_list.PriceList = field(default_factory=lambda: MappingProxyType({}))
    check_modes: bool = True
    sign_in: SignInSettings = field(default_factory=SignInSettings)
    sealing: SealingSettings = field(default_factory=SealingSettings)
    serving: ServingLimits = field(default_factory=ServingLimits)
    endpoints: Mapping[str, Endpoint] = field(default_factory=lambda: MappingProxyType({}))

    def hashes_question(self, tenant: str) -> bool:
        """Whether audit rows of a tenant keep a hash in place of the question."""
        return self.audit_hash_question or tenant in self.audit_hash_tenants

    def in_process(self, place: ProcessPlace) -> "Settings":
        """What one of the processes of a server may use: its part of what all may."""

        def part(given: int | None) -> int | None:
            return None if given is None else place.part(given)

        return replace(
            self,
            select_spool_bytes=place.part(self.select_spool_bytes),
            select_user_seconds=part(self.select_user_seconds),
            select_tenant_seconds=part(self.select_tenant_seconds),
            serving=part_of(self.serving, place),
        )


@dataclass(frozen=True, slots=True)
class _Document:
    """One file: the settings by key, and the tables of names."""

    given: Mapping[str, object]
    allow: tuple[provider_access.AllowRule, ...]
    budget: tuple[budgets.BudgetRule, ...]
    tables: Mapping[str, dict[str, dict[str, object]]]


OPERATOR_FILE = "the operator's redask.toml"
_OPERATORS_TABLES = ("sign_in.roles", "sign_in.attributes")
_TABLES_OF_NAMES = ("ask.capabilities", "ask.prices", *_OPERATORS_TABLES)
_BY_KEY = {row.key: row for row in ROWS}
_TABLES = {row.key[:end] for row in ROWS for end, dot in enumerate(row.key) if dot == "."}


def load(
    toml_text: str = "", env: Mapping[str, str] = MappingProxyType({}), operator_text: str = ""
) -> Settings:
    """The settings that a database's file, an environment and the operator's own file say."""
    theirs, own = _document(toml_text, "redask.toml"), _document(operator_text, OPERATOR_FILE)
    for key in (*theirs.given, *(each for each in theirs.tables if theirs.tables[each])):
        if key in _OPERATORS_TABLES or (key in _BY_KEY and _BY_KEY[key].operator):
            raise Misconfigured(
                f"redask.toml: {key} is not taken from a database's directory, which somebody may "
                f"have handed over: put it into {OPERATOR_FILE} or the environment",
                detail=key,
            )
    tables = {name: {**theirs.tables[name], **own.tables[name]} for name in _TABLES_OF_NAMES}
    settings = Settings(
        embedder=EmbedderSettings(endpoint=Endpoint(env.get(EMBEDDER_KEY) or None)),
        allow=own.allow or theirs.allow,
        budget=own.budget or theirs.budget,
        capabilities=MappingProxyType(capabilities.read_overrides(tables["ask.capabilities"])),
        prices=MappingProxyType(price_list.read_overrides(tables["ask.prices"])),
        endpoints=MappingProxyType(endpoints(env)),
        sign_in=SignInSettings(
            roles=sign_in.pairs(tables["sign_in.roles"], "roles"),
            attributes=sign_in.pairs(tables["sign_in.attributes"], "attributes"),
            client_secret=env.get(CLIENT_SECRET) or None,
        ),
    )
    given = {**theirs.given, **own.given}
    for row in ROWS:
        variable = variable_of(row.key)
        if env.get(variable):
            settings = _set(settings, row.field, _read(row, _from_env(env[variable]), variable))
        elif row.key in given:
            settings = _set(settings, row.field, _read(row, given[row.key], row.key))
    sign_in.check(settings.sign_in)
    sealing_settings.check(settings.sealing)
    return settings


def _document(toml_text: str, name: str) -> "_Document":
    """What a file says; `name` is what messages call it."""
    try:
        document = tomllib.loads(toml_text)
    except (ValueError, RecursionError) as error:  # a number or a nesting may be too long for it
        raise Misconfigured(f"{name} is not TOML: {error}") from None
    tables = {each: _cut(document, each) for each in _TABLES_OF_NAMES}
    allow = provider_access.read_rules(document.pop("allow", []))
    budget = budgets.read_rules(document.pop("budget", []))
    given = dict(_flatten(document, ""))
    unknown = next((key for key in given if key not in _BY_KEY), None)
    if unknown is not None:
        near = difflib.get_close_matches(unknown, _BY_KEY, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        shown = values.printable(unknown)
        raise Misconfigured(f"{name}: there is no setting {shown}{hint}", detail=shown)
    return _Document(given, allow, budget, tables)


def variable_of(key: str) -> str:
    """The environment variable of a setting."""
    return "REDASK_" + key.upper().replace(".", "_")


def _cut(document: dict[str, object], name: str) -> dict[str, dict[str, object]]:
    """Take a table out of the document whose keys are names of the user's, not settings."""
    part, _, leaf = name.partition(".")
    holder = document.get(part)
    tables = holder.pop(leaf, {}) if isinstance(holder, dict) else {}
    if not isinstance(tables, dict):
        raise Misconfigured(f"{name} must be a table", detail=name)
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
    if part == "serving":
        return replace(settings, serving=replace(settings.serving, **{name: value}))  # type: ignore[arg-type]  # as above
    if part == "sealing":
        return replace(settings, sealing=replace(settings.sealing, **{name: value}))  # type: ignore[arg-type]  # as above
    if part == "sign_in":
        return replace(settings, sign_in=replace(settings.sign_in, **{name: value}))  # type: ignore[arg-type]  # as above
    return replace(settings, **{part: value})  # type: ignore[arg-type]  # as above
