"""ASK and EXPLAIN ASK over the Postgres wire: one row, whose columns the statement decides.

    ASK             the twelve keys of the envelope in its order; JSON in canonical bytes, the
                    cost as a positional number; no cell is ever NULL
    … EVIDENCE      the same and, last, `evidence`
    EXPLAIN ASK     one column, `plan`
    … STREAM        refused with 0A000: a result is one row

A question as a parameter (`ASK $1 LIMIT 5`, or `$1::varchar`) is checked like a literal one, when
it is bound.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from redask.api.asynchronous import AsyncDatabase
from redask.core import clauses
from redask.core.clauses.lexer import Cursor, Form
from redask.core.model import Answer
from redask.core.wire import envelope
from redask.core.wire.json import text
from redask.server.pgwire.protocol.backend_messages import ResultColumn
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session.planned_statement import (
    NeverImmediate,
    StatementResult,
    TransactionStep,
)
from redask.server.pgwire.session.text_reading import read_text
from redask.server.pgwire.types.oids import BOOL, INT8, JSONB, NUMERIC, TEXT, TYPES, UNKNOWN

ANSWER = tuple(
    ResultColumn(name, oid)
    for name, oid in (
        ("answer", TEXT),
        ("cache_hit", BOOL),
        ("citations", JSONB),
        ("completion_tokens", INT8),
        ("cost_usd", NUMERIC),
        ("mode", TEXT),
        ("model", TEXT),
        ("prompt_tokens", INT8),
        ("provider", TEXT),
        ("retry_count", INT8),
        ("sources_flat", JSONB),
        ("validation", JSONB),
    )
)
WITH_EVIDENCE = (*ANSWER, ResultColumn("evidence", JSONB))
PLAN = (ResultColumn("plan", JSONB),)
# SQLAlchemy casts what it binds; blanks in its place, so that positions in errors stay right
_CAST = re.compile(
    r"\A(\s*(?:EXPLAIN\s+)?ASK\s+\$1)(\s*::\s*(?:text|varchar|character\s+varying|unknown)\b)",
    re.IGNORECASE,
)
_PLACEHOLDER = "a question that will be bound"


@dataclass(frozen=True, slots=True)
class PlannedAsk(NeverImmediate):
    """An ASK that was parsed; its question may be a parameter."""

    session: AsyncDatabase
    sql: str
    columns: tuple[ResultColumn, ...]
    parameters: tuple[int, ...]
    step: TransactionStep | None = None

    async def run(self, parameters: Sequence[object]) -> StatementResult:
        ask = await read_text(clauses.parse, self.sql, list(parameters))
        if ask.explain:
            return StatementResult([(text(await self.session.plan(ask)),)], "SELECT 1")
        answer = await self.session.answer(ask)
        return StatementResult([cells(answer, self.columns)], "SELECT 1")


def plan_ask(session: AsyncDatabase, sql: str, declared: Sequence[int]) -> PlannedAsk:
    """Parse the statement, with its question or with a placeholder for it."""
    sql = _CAST.sub(lambda found: found[1] + " " * len(found[2]), sql, count=1)
    bound = _is_bound(sql)
    ask = clauses.parse(sql, [_PLACEHOLDER] if bound else [])
    if ask.stream:
        raise SqlStateError(
            "0A000",
            "a result here is one row: ASK without STREAM",
            hint="STREAM is for HTTP, gRPC, JSON-RPC and the command line.",
        )
    given = declared[0] if declared else 0
    question = given if given in TYPES and given != UNKNOWN else TEXT
    columns = PLAN if ask.explain else WITH_EVIDENCE if ask.evidence else ANSWER
    return PlannedAsk(session, sql, columns, (question,) if bound else ())


def cells(answer: Answer, columns: Sequence[ResultColumn]) -> tuple[object, ...]:
    """The envelope's values as cells."""
    built = envelope.build(answer)
    return tuple(_cell(column, built[column.name]) for column in columns)


def _cell(column: ResultColumn, value: object) -> object:
    if column.oid == JSONB:
        return text(value)
    if column.oid == NUMERIC:
        return Decimal(repr(value)).normalize() + 0
    return value


def _is_bound(sql: str) -> bool:
    cursor = Cursor(sql)
    cursor.take_word("EXPLAIN")
    cursor.take_word("ASK")
    return cursor.token.form is Form.PARAM
