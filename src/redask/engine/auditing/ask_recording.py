"""The audit row of an ask, written: `record(run, …)`; what made its answer, too.

`setup_of` is what every answer is made with while a database is open: the template of prompts, the
settings that enter a search, a prompt or a call, where they are not the defaults, and the version.
"""

import asyncio
import hashlib
from collections.abc import Mapping

from redask.core.rules import prompt
from redask.core.rules.auditing.provenance import AnswerSetup
from redask.core.setting_rows import ROWS
from redask.core.settings import Settings
from redask.core.synonyms import FILE, Synonyms
from redask.engine import telemetry
from redask.engine.ask_state import AskState
from redask.engine.auditing.audit_writer import AuditSink, written_by

_ENTERING = (
    *("limits.max_prompt_tokens", "limits.max_sources_bytes", "limits.max_completion_tokens"),
    *("default_temperature", "strict", "redact_secrets", "redact_personal", "buckets."),
)


async def record(
    run: AskState, log: AuditSink, settings: Settings, setup: AnswerSetup, end: float
) -> None:
    """Write the audit row, by the end of the ask; a caller who leaves does not stop it."""
    hashed = settings.hashes_question(run.caller.tenant)
    row = run.row(include_answer=settings.audit_include_answer, hash_question=hashed)
    made = run.provenance(setup, hash_question=hashed)
    readings = run.readings(hash_question=hashed)
    writing = asyncio.ensure_future(log.append(row, run.build, made, **readings))
    with telemetry.step("audit"):
        await written_by(end, writing)


def setup_of(settings: Settings, words: Synonyms, version: str) -> AnswerSetup:
    """What every answer is made with."""
    usual, chosen = Settings(), {}
    for row in ROWS:
        value = _value(settings, row.field)
        if row.field.startswith(_ENTERING) and value != _value(usual, row.field):
            chosen[row.key] = str(value)
    if words:
        chosen[FILE] = hashlib.sha256(repr(words).encode()).hexdigest()
    return AnswerSetup(prompt.template_version(), version, chosen)


def _value(settings: Settings, path: str) -> object:
    """The value of a setting, by the path of its field."""
    found: object = settings
    for name in path.split("."):
        found = found[name] if isinstance(found, Mapping) else getattr(found, name)
    return found
