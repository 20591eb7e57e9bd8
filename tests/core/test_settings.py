"""Settings: every key by file and by environment, ranges, and one error for all that is wrong."""

from dataclasses import FrozenInstanceError, fields
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core import setting_rows
from redask.core.endpoints import Endpoint, key_variables, secret_variables
from redask.core.errors import Misconfigured
from redask.core.model import Capabilities, Strictness
from redask.core.provider_table import PROVIDERS
from redask.core.rules.cost import Limits
from redask.core.settings import BucketSettings, Settings, load, variable_of
from redask.core.sign_in import ASYMMETRIC, SignInSettings

U64_MAX = (1 << 64) - 1
MANY = 2**53
ALL_FLAGS = """supports_citations = true
supports_seed = false
supports_temperature_zero = true
supports_streaming = false"""

# key, where it goes, default, an example as TOML, what the example means
KEYS: list[tuple[str, str, object, str, object]] = [
    ("ask.strict", "strict", Strictness.ON, "false", Strictness.OFF),
    ("ask.default_temperature", "default_temperature", 0.0, "1", 1.0),
    ("ask.max_prompt_tokens", "limits.max_prompt_tokens", 8192, "4096", 4096),
    ("ask.max_sources_bytes", "limits.max_sources_bytes", 262144, "1", 1),
    ("ask.max_completion_tokens", "limits.max_completion_tokens", 1024, "7", 7),
    ("ask.timeout_ms", "limits.timeout_ms", 30000, "5000", 5000),
    ("ask.daily_cost_cap_usd", "limits.daily_cost_cap_usd", None, "0", 0.0),
    ("ask.cache.enabled", "cache_enabled", False, "true", True),
    ("ask.cache.default_ttl", "cache_default_ttl", None, '"5m"', 300),
    ("ask.cache.max_entries", "cache_max_entries", 1000, "10", 10),
    ("ask.providers.default", "default_provider", None, '"Groq"', "groq"),
    ("ask.providers.testing", "testing_providers", False, "true", True),
    ("ask.providers.fallback", "fallback", (), '["OpenAI", "groq"]', ("openai", "groq")),
    ("ask.plan.provider", "plan_provider", None, '"Groq"', "groq"),
    ("ask.plan.model", "plan_model", None, '"m1"', "m1"),
    ("ask.followups", "followups_by_model", False, '"model"', True),
    ("ask.judge.provider", "judge_provider", None, '"Groq"', "groq"),
    ("ask.judge.model", "judge_model", None, '"m1"', "m1"),
    ("ask.audit.include_answer", "audit_include_answer", False, "true", True),
    ("ask.audit.retention_days", "audit_retention_days", 90, "365", 365),
    ("ask.audit.provenance_days", "audit_provenance_days", 90, "30", 30),
    ("ask.audit.question", "audit_hash_question", False, '"hash"', True),
    ("ask.audit.hash_tenants", "audit_hash_tenants", (), '["acme", "b"]', ("acme", "b")),
    ("ask.redact.secrets", "redact_secrets", False, "true", True),
    ("ask.redact.personal", "redact_personal", (), '["ipv4", "email"]', ("email", "ipv4")),
    ("access_log.select", "access_log_select", True, "false", False),
    ("access_log.search", "access_log_search", True, "false", False),
    ("access.default", "access_closed", False, '"deny"', True),
    ("access.edge_ids", "edge_ids_keyed", True, '"content"', False),
    ("select.timeout_ms", "select_timeout_ms", 5000, "100", 100),
    ("select.max_rows", "select_max_rows", 10_000, "50", 50),
    ("select.max_bytes", "select_max_bytes", 1 << 30, "2000000", 2_000_000),
    ("select.spool_bytes", "select_spool_bytes", 8 << 30, "2000000", 2_000_000),
    ("select.workers", "select_workers", None, "0", 0),
    ("select.user_seconds_a_minute", "select_user_seconds", None, "30", 30),
    ("select.tenant_seconds_a_minute", "select_tenant_seconds", None, "90", 90),
    ("ingest.file_seconds", "ingest_file_seconds", 120, "5", 5),
    ("ingest.file_memory_mb", "ingest_file_memory_mb", 2048, "96", 96),
    *(
        row
        for name in ("bm25", "vector", "graph")
        for row in (
            (f"ask.retrieval.{name}.min_score", f"buckets.{name}.min_score", 0.0, "0.5", 0.5),
            (f"ask.retrieval.{name}.weight", f"buckets.{name}.weight", None, "0.4", Decimal("0.4")),
        )
    ),
    ("embedder.name", "embedder.name", "minilm", '"None"', "none"),
    ("embedder.base_url", "embedder.endpoint.base_url", None, '"http://h/v1"', "http://h/v1"),
    ("embedder.model", "embedder.endpoint.model", None, '"small"', "small"),
    ("embedder.dimensions", "embedder.dimensions", None, "384", 384),
    ("files.modes", "check_modes", True, '"any"', False),
    ("serve.connections", "serving.connections", None, "100", 100),
    ("serve.connections_per_address", "serving.connections_per_address", None, "10", 10),
    ("serve.unauthenticated_connections", "serving.unauthenticated_connections", None, "5", 5),
    ("serve.wrong_tokens", "serving.wrong_tokens", 20, "3", 3),
    ("serve.public", "serving.public", (), '["tools", "metrics"]', ("metrics", "tools")),
    ("serve.public_url", "serving.public_url", None, '"https://a.b:8/"', "https://a.b:8"),
    ("serve.snapshots", "serving.snapshots", None, '"/srv/snapshots"', "/srv/snapshots"),
    ("serve.chat_model", "serving.chat_model", "redask", '"acme"', "acme"),
    ("serve.chat_sources_in_text", "serving.chat_sources_in_text", False, "true", True),
    ("serve.chat_stream", "serving.chat_checked", False, '"checked"', True),
    ("serve.user_running", "serving.user_running", None, "2", 2),
    ("serve.user_waiting", "serving.user_waiting", None, "3", 3),
    ("serve.tenant_running", "serving.tenant_running", None, "4", 4),
    ("serve.tenant_waiting", "serving.tenant_waiting", None, "5", 5),
    ("serve.tenant_rate", "serving.tenant_rate", 200, "50", 50),
    ("audit.seal.key", "sealing.key", None, '"k"', "k"),
    ("audit.seal.signer", "sealing.signer", None, '"s"', "s"),
    ("audit.seal.public_key", "sealing.public_key", None, '"p"', "p"),
    ("audit.seal.every", "sealing.every", 600, '"5m"', 300),
    ("audit.seal.file", "sealing.file", None, '"f"', "f"),
    ("audit.seal.command", "sealing.command", None, '"c"', "c"),
    ("audit.seal.url", "sealing.url", None, '"https://u"', "https://u"),
    ("sign_in.issuer", "sign_in.issuer", None, '"https://i"', "https://i"),
    ("sign_in.audience", "sign_in.audience", None, '"redask"', "redask"),
    ("sign_in.discovery", "sign_in.discovery", None, '"/etc/x.json"', "/etc/x.json"),
    ("sign_in.algorithms", "sign_in.algorithms", ASYMMETRIC, '["ES256"]', ("ES256",)),
    ("sign_in.user_claim", "sign_in.user_claim", "sub", '"email"', "email"),
    ("sign_in.role_claim", "sign_in.role_claim", "role", '"groups"', "groups"),
    ("sign_in.tenant_claim", "sign_in.tenant_claim", None, '"org"', "org"),
    ("sign_in.tenant", "sign_in.tenant", "local", '"acme"', "acme"),
    ("sign_in.client_id", "sign_in.client_id", None, '"page"', "page"),
]
OPERATORS = ("audit.seal.", "embedder.base_url", "files.modes", "serve.", "sign_in.")
_SEALED = {"audit.seal.key": "k"}
_ISSUER = {"sign_in.audience": "redask"}
# what is refused alone, and what it needs beside it
NEEDS = {
    "sign_in.issuer": _ISSUER,
    "sign_in.client_id": {**_ISSUER, "sign_in.issuer": "https://i"},
    "audit.seal.signer": {"audit.seal.public_key": "p"},
    "audit.seal.file": _SEALED,
    "audit.seal.command": _SEALED,
    "audit.seal.url": _SEALED,
}
PATHS = {key: path for key, path, *_ in KEYS}


def value_of(loaded: Settings, path: str) -> object:
    found: Any = loaded
    for name in path.split("."):
        found = found[name] if name in setting_rows.BUCKETS else getattr(found, name)
    return found


def misconfigured(toml_text: str = "", **env: str) -> Misconfigured:
    with pytest.raises(Misconfigured) as caught:
        load(toml_text, env)
    return caught.value


def test_nothing_given_is_every_default() -> None:
    assert load() == load("", {}) == Settings()
    assert load().limits == Limits(8192, 262144, 1024, 30000, None)
    assert load().buckets == dict.fromkeys(("bm25", "vector", "graph"), BucketSettings(0.0, None))
    assert (load().capabilities, load().endpoints) == ({}, {})


def test_the_keys_are_these() -> None:
    assert [(row.key, row.field) for row in setting_rows.ROWS] == [
        (key, path) for key, path, *_ in KEYS
    ]
    assert len({variable_of(row.key) for row in setting_rows.ROWS}) == len(KEYS)


@pytest.mark.parametrize(("key", "path", "default", "example", "expected"), KEYS)
def test_a_key_is_read_from_file_and_environment_and_moves_nothing_else(
    key: str, path: str, default: object, example: str, expected: object
) -> None:
    variable = variable_of(key)
    assert variable == "REDASK_" + key.upper().replace(".", "_")
    assert value_of(load(), path) == default
    needed = NEEDS.get(key, {})
    env = {variable_of(other): given for other, given in needed.items()}
    by_file = load("", env, f"{key} = {example}")
    assert by_file == load("", {**env, variable: example})
    assert by_file == load("", {**env, variable: example.strip('"')})
    if key.startswith(OPERATORS):
        error = misconfigured(f"{key} = {example}")
        assert "handed over" in error.message
        assert error.detail == key
    else:
        assert by_file == load(f"{key} = {example}")
    assert (value_of(by_file, path), type(value_of(by_file, path))) == (expected, type(expected))
    moved = {path, *(PATHS[other] for other in needed)}
    others = [other for _, other, *_ in KEYS if other not in moved]
    assert [value_of(by_file, other) for other in others] == [
        value_of(load(), other) for other in others
    ]


def test_the_environment_wins_over_the_file_and_an_empty_variable_says_nothing() -> None:
    file = "[ask]\ntimeout_ms = 5000\nstrict = false"
    assert load(file, {"REDASK_ASK_TIMEOUT_MS": "7000"}).limits.timeout_ms == 7000
    assert load(file, {"REDASK_ASK_TIMEOUT_MS": "7000"}).strict is Strictness.OFF
    assert load(file, {"REDASK_ASK_TIMEOUT_MS": ""}).limits.timeout_ms == 5000


def test_a_broken_value_in_the_file_does_not_matter_when_the_environment_wins() -> None:
    assert load("ask.timeout_ms = 0", {"REDASK_ASK_TIMEOUT_MS": "7000"}).limits.timeout_ms == 7000


@pytest.mark.parametrize(
    ("key", "inside", "outside"),
    [
        ("ask.default_temperature", ["0", "2", "-0.0"], ["-0.1", "2.1", "nan", '"1"', "true"]),
        *(
            (f"ask.{limit}", ["1", str(MANY), "20.0"], ["0", str(MANY + 1), "1.5", "true", '"5"'])
            for limit in (
                "max_prompt_tokens",
                "max_sources_bytes",
                "max_completion_tokens",
                "timeout_ms",
                "cache.max_entries",
            )
        ),
        ("ask.daily_cost_cap_usd", ["0", "0.01"], ["-1", "inf", "nan", '"5"']),
        ("ask.audit.retention_days", ["1", "36500"], ["0", "36501"]),
        ("select.timeout_ms", ["1", "3600000"], ["0", "3600001", "1.5"]),
        ("select.max_rows", ["1", "1000000"], ["0", "1000001"]),
        ("select.max_bytes", ["1048576"], ["1048575", "-1"]),
        ("select.spool_bytes", ["1048576"], ["0"]),
        ("select.workers", ["0", "64"], ["-1", "65"]),
        ("ask.audit.question", ['"text"', '"hash"'], ['"HASH"', "true", "[]", "{}"]),
        ("ask.redact.secrets", ["true", "false"], ['"yes"', "1", "[]"]),
        (
            "ask.redact.personal",
            ["[]", '"email, card,"', '["phone", "phone"]'],
            ['["Email"]', '"mail"', "[1]", "true", "{}"],
        ),
        ("ask.cache.default_ttl", ['"1s"', f'"{U64_MAX}s"'], ["5", '"5"', '"0s"', '"5 m"', '""']),
        ("ask.providers.default", ['"a"', '"a,A"', '""'], ['"a,b"', "5", '["a"]', '"a\\u0000b"']),
        ("ask.providers.fallback", ['"a,b"', '["a"]'], ["5", "[5]", '["a", 5]', '["a\\u001fb"]']),
        ("ask.strict", ["true", "false", '"on"', '"off"'], ["1", '"ON"', '"yes"', "[]"]),
        ("ask.retrieval.graph.min_score", ["0", "1"], ["-0.1", "1.1", "nan"]),
        ("ask.retrieval.graph.weight", ["0", "1000"], ["-0.1", "1001"]),
    ],
)
def test_ranges_hold_at_their_bounds_and_the_key_is_named(
    key: str, inside: list[str], outside: list[str]
) -> None:
    for text in inside:
        assert load(f"{key} = {text}")
    for text in outside:
        by_file = misconfigured(f"{key} = {text}")
        assert (by_file.detail, by_file.message.split(": ")[0]) == (key, key)
        if text != '""':  # an empty text in the environment is a variable that says nothing
            by_env = misconfigured("", **{variable_of(key): text})
            assert (by_env.detail, by_env.message.split(": ")[0]) == (key, variable_of(key))


@pytest.mark.parametrize("empty", ["[]", '","', '[" "]'])
def test_an_empty_list_of_providers_is_a_configuration_error(empty: str) -> None:
    assert misconfigured(f"ask.providers.fallback = {empty}").detail == "ask.providers.fallback"


@pytest.mark.parametrize(
    ("text", "key", "hint"),
    [
        ("ask.max_prompt_token = 5", "ask.max_prompt_token", "ask.max_prompt_tokens"),
        ("[ask.cache]\nenable = true", "ask.cache.enable", "ask.cache.enabled"),
        ("xyzzy = 1", "xyzzy", None),
        ("[[ask]]\nstrict = true", "ask", None),
        ("ask = 5", "ask", None),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_known(
    text: str, key: str, hint: str | None
) -> None:
    error = misconfigured(text)
    assert (error.detail, f"no setting {key}" in error.message) == (key, True)
    assert ("did you mean" in error.message) is (hint is not None)
    assert (hint or "") in error.message


def test_an_unknown_table_is_refused_even_when_empty_and_a_known_one_is_not() -> None:
    assert load("[ask]\n[ask.cache]\n[ask.retrieval.bm25]\n[ask.capabilities]") == load()
    assert misconfigured("[ask.cahce]").detail == "ask.cahce"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "ask.timeout_ms = 0",
            f"ask.timeout_ms: expected a whole number from 1 to {MANY}, found 0",
        ),
        (
            'ask.audit.question = "no"',
            'ask.audit.question: expected "text" or "hash", found \'no\'',
        ),
        (
            'ask.providers.default = "a,b"',
            "ask.providers.default: expected one provider; several go into "
            "ask.providers.fallback, found 2",
        ),
        (
            "ask.providers.fallback = []",
            "ask.providers.fallback: expected at least one provider, found none",
        ),
        (
            "ask.strictt = 1",
            "redask.toml: there is no setting ask.strictt; did you mean ask.strict?",
        ),
    ],
)
def test_a_message_says_where_what_was_expected_and_what_was_found(text: str, message: str) -> None:
    assert misconfigured(text).message == message


def test_a_table_where_a_value_belongs_is_refused_by_its_key() -> None:
    assert misconfigured("[ask.strict]\nx = 1").detail == "ask.strict"


def test_unknown_variables_are_left_alone() -> None:
    env = {"REDASK_DB": "x", "REDASK_ASK_NO_SUCH": "1", "REDASK_UNKNOWN_API_KEY": "k", "PATH": "/"}
    assert load("", env) == load()


@pytest.mark.parametrize("text", ["[", "a = ", "a = 1\na = 2", "\x00", "= 5", "ask"])
def test_what_is_no_toml_is_misconfigured(text: str) -> None:
    assert misconfigured(text).message.startswith("redask.toml is not TOML: ")


# --- the environment's own way of writing ----------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("openai,groq", ("openai", "groq")),
        ('"openai, groq"', ("openai", "groq")),
        ('["openai", "groq"]', ("openai", "groq")),
        ("openai # not a comment", ("openai # not a comment",)),
    ],
)
def test_a_variable_is_written_as_in_toml_or_plainly(text: str, expected: tuple[str, ...]) -> None:
    assert load("", {"REDASK_ASK_PROVIDERS_FALLBACK": text}).fallback == expected


def test_a_variable_cannot_smuggle_in_a_second_key() -> None:
    misconfigured("", REDASK_ASK_TIMEOUT_MS="5\nother = 6")


# --- capabilities and endpoints --------------------------------------------------------


def test_capability_overrides_are_read_by_lower_cased_token() -> None:
    loaded = load(f"[ask.capabilities.OLLAMA]\n{ALL_FLAGS}\n[ask.capabilities.mine]\n{ALL_FLAGS}")
    row = Capabilities(True, False, True, False)
    assert loaded.capabilities == {"ollama": row, "mine": row}


@pytest.mark.parametrize(
    "text",
    [
        "ask.capabilities = 5",
        "ask.capabilities.openai = true",
        "[ask.capabilities.openai]\nsupports_seed = true",
        f"[ask.capabilities.openai]\n{ALL_FLAGS}\nsupports_magic = true",
        f"[ask.capabilities.openai]\n{ALL_FLAGS}".replace("false", "0"),
        f"[ask.capabilities.openai]\n{ALL_FLAGS}\n[ask.capabilities.OpenAI]\n{ALL_FLAGS}",
    ],
)
def test_a_capability_table_that_is_not_whole_is_misconfigured(text: str) -> None:
    assert "ask.capabilities" in misconfigured(text).message


def test_the_table_of_capabilities_is_named_when_it_is_none() -> None:
    error = misconfigured("ask.capabilities = 5")
    assert (error.message, error.detail) == ("ask.capabilities must be a table", "ask.capabilities")


def test_a_setting_is_explained_in_one_line() -> None:
    assert all(row.help and row.help.isprintable() for row in setting_rows.ROWS)


def test_capability_overrides_stand_in_the_file_only() -> None:
    assert load("", {"REDASK_ASK_CAPABILITIES_OPENAI_SUPPORTS_SEED": "false"}) == load()


PINNED = [row.name for row in PROVIDERS.values() if not row.built_in]
USUAL = {name: f"{name.upper()}_API_KEY" for name in PINNED} | {"huggingface": "HF_TOKEN"}


@pytest.mark.parametrize("provider", PINNED)
def test_a_provider_is_reached_by_its_variables(provider: str) -> None:
    ours = f"REDASK_{provider.upper()}_"
    env = {f"{ours}API_KEY": "k", f"{ours}BASE_URL": "http://x", f"{ours}MODEL": "m"}
    assert load("", env).endpoints == {provider: Endpoint("k", "http://x", "m")}
    for name, value in env.items():
        assert load("", {name: value}).endpoints == {
            provider: Endpoint(**{name.removeprefix(ours).lower(): value})
        }
    assert load("", dict.fromkeys(env, "")).endpoints == {}


@pytest.mark.parametrize("provider", PINNED)
def test_a_key_is_found_by_its_usual_name_and_ours_wins(provider: str) -> None:
    usual, ours = USUAL[provider], f"REDASK_{provider.upper()}_API_KEY"
    if provider in ("local", "ollama", "custom"):  # nobody's key: no usual name
        assert key_variables(provider) == (ours,)
        assert load("", {usual: "k"}).endpoints == {}
        return
    assert key_variables(provider) == (ours, usual)
    assert load("", {usual: "k"}).endpoints == {provider: Endpoint("k")}
    assert load("", {usual: "k", ours: "o"}).endpoints == {provider: Endpoint("o")}
    assert load("", {usual: "k", ours: ""}).endpoints == {provider: Endpoint("k")}


def test_a_key_is_never_shown() -> None:
    loaded = load("", {"OPENAI_API_KEY": "sk-secret"})
    assert loaded.endpoints["openai"].api_key == "sk-secret"
    assert "sk-secret" not in f"{loaded!r} {loaded} {loaded.endpoints!r}"


def test_the_embedders_key_comes_from_the_environment_alone_and_is_never_shown() -> None:
    loaded = load('[embedder]\nmodel = "small"', {"REDASK_EMBEDDER_API_KEY": "sk-secret"})
    assert loaded.embedder.endpoint == Endpoint("sk-secret", None, "small")
    assert "sk-secret" not in f"{loaded!r} {loaded.embedder!r}"
    assert misconfigured('embedder.api_key = "x"').detail == "embedder.api_key"
    assert load("", {"REDASK_EMBEDDER_API_KEY": ""}).embedder.endpoint.api_key is None


# --- always ----------------------------------------------------------------------------


def test_settings_cannot_be_changed() -> None:
    loaded: Any = load(f"[ask.capabilities.mine]\n{ALL_FLAGS}", {"OPENAI_API_KEY": "k"})
    for field in fields(Settings):
        with pytest.raises(FrozenInstanceError):
            setattr(loaded, field.name, None)
    mappings: list[Any] = [loaded.buckets, loaded.capabilities, loaded.endpoints, load().buckets]
    for mapping in mappings:
        with pytest.raises(TypeError):
            mapping["x"] = None


@pytest.mark.parametrize("value", ["1" * 5000, "[" * 10_000, "{a=" * 10_000, "1" * 5000 + "."])
def test_a_hostile_value_is_misconfigured_and_nothing_else(value: str) -> None:
    misconfigured(f"ask.timeout_ms = {value}")
    misconfigured("", REDASK_ASK_TIMEOUT_MS=value)


_LINES = st.sampled_from([f"{key} = {example}" for key, _, _, example, _ in KEYS])
_ENV = st.dictionaries(
    st.sampled_from([variable_of(row.key) for row in setting_rows.ROWS] + ["OPENAI_API_KEY"]),
    st.text()
    | st.sampled_from(["1", "true", "0.5", "5m", "hash", "[]", "{}", "nan", "1979-05-27"]),
    max_size=3,
)


@given(st.lists(_LINES | st.text(max_size=8), max_size=3).map("\n".join), _ENV)
def test_any_text_and_environment_load_or_are_misconfigured(text: str, env: dict[str, str]) -> None:
    try:
        loaded = load(text, env)
    except Misconfigured:
        return
    assert loaded == load(text, env)
    assert 0 <= loaded.default_temperature <= 2


# --- the operator's own file ------------------------------------------------------------


def test_the_operators_file_wins_over_the_databases_and_the_environment_over_both() -> None:
    theirs, own = "ask.timeout_ms = 1\nask.strict = false", "ask.timeout_ms = 2"
    assert load(theirs, {}, own).limits.timeout_ms == 2
    assert load(theirs, {}, own).strict is Strictness.OFF
    assert load(theirs, {"REDASK_ASK_TIMEOUT_MS": "3"}, own).limits.timeout_ms == 3
    price = '[ask.prices.openai."m"]\ninput = {}\noutput = 1\n'
    loaded = load(price.format(1), {}, price.format(2))
    assert loaded.prices == load(price.format(2)).prices != load(price.format(1)).prices


@pytest.mark.parametrize("table", ["roles", "attributes"])
def test_tables_of_sign_in_are_the_operators(table: str) -> None:
    text = f'[sign_in.{table}]\nb = "x"\na = "y"'
    assert misconfigured(text).detail == f"sign_in.{table}"
    expected = SignInSettings(**{table: (("b", "x"), ("a", "y"))})  # type: ignore[arg-type]
    assert load("", {}, text).sign_in == expected
    for wrong in ("a = 1", 'a = ""', '"" = "x"'):
        with pytest.raises(Misconfigured, match=f"sign_in.{table}"):
            load("", {}, f"[sign_in.{table}]\n{wrong}")


@pytest.mark.parametrize("text", ['"HS256"', "[]", '["RS256", "none"]', "[1]", "5", '""'])
def test_only_asymmetric_algorithms_are_taken(text: str) -> None:
    with pytest.raises(Misconfigured, match=r"sign_in\.algorithms"):
        load("", {}, f"sign_in.algorithms = {text}")


def test_an_issuer_without_an_audience_is_refused() -> None:
    with pytest.raises(Misconfigured, match="made for other programs"):
        load("", {}, 'sign_in.issuer = "https://i"')


def test_a_client_of_the_page_needs_an_issuer_and_its_secret_is_not_shown() -> None:
    with pytest.raises(Misconfigured, match=r"sign_in\.issuer is needed"):
        load("", {}, 'sign_in.client_id = "page"')
    assert misconfigured('sign_in.client_id = "page"').detail == "sign_in.client_id"
    text = 'sign_in.issuer = "https://i"\nsign_in.audience = "a"\nsign_in.client_id = "page"'
    chosen = load("", {"REDASK_SIGN_IN_CLIENT_SECRET": "hidden"}, text).sign_in
    assert (chosen.client_id, chosen.client_secret) == ("page", "hidden")
    assert "hidden" not in repr(chosen)


def test_what_is_wrong_with_the_operators_file_names_it() -> None:
    for text in ("[", "ask.fish = 1"):
        with pytest.raises(Misconfigured, match=r"^the operator's redask\.toml"):
            load("", {}, text)
    with pytest.raises(Misconfigured, match=r"files\.modes"):
        load("", {}, 'files.modes = "wide"')
    assert misconfigured('ask.followups = "x"').detail == "ask.followups"


def test_every_key_that_is_ours_may_come_by_file_or_command() -> None:
    ours = {key_variables(name)[0] for name in PINNED}
    others = {"REDASK_EMBEDDER_API_KEY", "REDASK_SIGN_IN_CLIENT_SECRET"}
    assert set(secret_variables()) == ours | others


@pytest.mark.parametrize("value", ["[1]", "7", '["metrics", "healthz"]'])
def test_only_what_can_be_public_is(value: str) -> None:
    with pytest.raises(Misconfigured, match=r"serve\.public: expected "):
        load("", {}, f"[serve]\npublic = {value}\n")
    assert load("", {"REDASK_SERVE_PUBLIC": " tools,metrics ,"}).serving.public == (
        "metrics",
        "tools",
    )


def test_questions_are_hashed_everywhere_or_for_the_tenants_that_are_named() -> None:
    assert not Settings().hashes_question("acme")
    assert Settings(audit_hash_question=True).hashes_question("acme")
    some = Settings(audit_hash_tenants=("acme",))
    assert some.hashes_question("acme")
    assert not some.hashes_question("other")
