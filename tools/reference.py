"""Writes docs/reference.md from the tables in the code: `make docs`. A test keeps it current."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from redask.core import setting_rows, settings
from redask.core.clauses import CLAUSES, OPTIONS
from redask.core.provider_table import PROVIDERS
from redask.core.wire.outcomes import ANSWERED, INTERNAL, OUTCOMES

PAGE = Path(__file__).parent.parent / "docs" / "reference.md"


def page() -> str:
    """The whole reference page."""
    return "\n".join(
        (
            "# Reference",
            "",
            "Made by `make docs` from the tables in the code; do not edit.",
            "",
            "## Clauses of ASK",
            "",
            "`[EXPLAIN] ASK 'question' | $1 | ?`, then any of these, in any order, each at most",
            "once. The option is the clause's name in JSON, in keyword arguments and at every",
            "other transport.",
            "",
            *_table(("clause", "option", "meaning"), _clauses()),
            "",
            "## Settings",
            "",
            "In `redask.toml`, in the operator's own or in the environment, which wins; `*` is not",
            "taken from a database's directory. Provider keys come from the environment alone:",
            "`REDASK_<PROVIDER>_API_KEY` (or with `_FILE`, `_COMMAND`), or their usual name.",
            "",
            *_table(("setting", "default", "environment", "meaning"), _settings()),
            "",
            "## Capabilities of providers",
            "",
            "`[ask.capabilities.<token>]` replaces a row; all four flags are needed. A token that",
            "is not listed has the row of `custom`.",
            "",
            *_table(("token", "citations", "seed", "temperature 0", "streaming"), _capabilities()),
            "",
            "## Providers",
            "",
            "An address or a model of your own: `REDASK_<PROVIDER>_BASE_URL`,",
            "`REDASK_<PROVIDER>_MODEL`. Prices of your own, in US dollars a million tokens:",
            '`[ask.prices.<provider>."<model>"]` with `input` and `output`.',
            "",
            *_table(("token", "key", "model", "address", "install"), _providers()),
            "",
            "## Outcomes",
            "",
            *_table(("outcome", "HTTP", "gRPC", "SQLSTATE", "JSON-RPC", "exit"), _outcomes()),
            "",
        )
    )


def _clauses() -> Iterable[Sequence[str]]:
    for row in CLAUSES:
        syntax = f"`{row.keyword} {row.takes.value}`".replace(" `", "`").replace("|", "\\|")
        yield syntax, f"`{row.option}`" if row.option else "–", row.help
    for row in OPTIONS:
        if not row.keyword:
            yield "–", f"`{row.option}`", row.help


def _settings() -> Iterable[Sequence[str]]:
    for row in setting_rows.ROWS:
        mark = " *" if row.operator else ""
        yield (
            f"`{row.key}`{mark}",
            _default(row.field),
            f"`{settings.variable_of(row.key)}`",
            row.help,
        )


def _default(field: str) -> str:
    value: object = settings.Settings()
    for part in field.split("."):
        value = value[part] if isinstance(value, Mapping) else getattr(value, part)
    if field == "audit_hash_question":
        value = "text"
    if field == "followups_by_model":
        value = "rules"
    if field == "serving.chat_checked":
        value = "live"
    return "–" if value in (None, ()) else f"`{str(value).lower()}`"


def _capabilities() -> Iterable[Sequence[str]]:
    for token, row in PROVIDERS.items():
        can = row.capabilities
        flags = (
            can.supports_citations,
            can.supports_seed,
            can.supports_temperature_zero,
            can.supports_streaming,
        )
        yield token, *("✓" if flag else "–" for flag in flags)


def _providers() -> Iterable[Sequence[str]]:
    for row in PROVIDERS.values():
        key = f"`{row.key_variable}`" if row.key_variable else "–"
        model = f"`{row.model}`" if row.model else "–"
        extra = f"`redask[{row.extra}]`" if row.extra else "–"
        yield row.name, key, model, row.base_url or "–", extra


def _outcomes() -> Iterable[Sequence[str]]:
    for row in dict.fromkeys((ANSWERED, *OUTCOMES.values(), INTERNAL)):
        numbers = (row.http, row.grpc, row.sqlstate, row.jsonrpc or "–", row.exit)
        yield f"`{row.kind}`", *map(str, numbers)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
