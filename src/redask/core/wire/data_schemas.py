"""JSON Schemas of what is read without asking: rows, collections, sources, outlines, audit rows.

Like those of `schema`, for OpenAPI and MCP.
"""

from redask.core.model import Kind
from redask.core.text import MAX_NAME, NAME_PATTERN
from redask.core.wire import schema
from redask.core.wire.schema_parts import (
    BOOLEAN,
    COUNT,
    MARKER,
    MODE,
    NUMBER,
    TEXT,
    WIDE,
    items_of,
    or_null,
    shape,
)

MAX_STATEMENT = 1024 * 1024  # of ASK, in bytes; SELECT has its own bound
MAX_ROWS_SHOWN = 1000
ROWS_SHOWN = 100
_CELLS: dict[str, object] = {
    "type": "object",
    "description": "Values by the column's name.",
    "additionalProperties": True,
}
_STATEMENT = {**TEXT, "format": "redask-statement", "minLength": 1, "maxLength": MAX_STATEMENT}
_PARAMS = {
    "type": "array",
    "description": "Values for $1, $2, …",
    "items": {"type": ["string", "number", "boolean", "null", "array"], "items": {}},
}
_URN = {**TEXT, "format": "redask-urn", "pattern": "^urn:reddb:[a-z]+:[!-~]+/[!-~]+$"}


def statement() -> dict[str, object]:
    """A statement and its parameters."""
    return shape("QueryRequest", {"statement": _STATEMENT, "params": _PARAMS}, ("statement",))


def rows() -> dict[str, object]:
    """What a statement returns."""
    return shape("QueryResult", {"rows": items_of(_CELLS)})


def select() -> dict[str, object]:
    """A SELECT, of whose rows so many are shown."""
    shown = {
        "type": "integer",
        "minimum": 1,
        "maximum": MAX_ROWS_SHOWN,
        "default": ROWS_SHOWN,
        "description": "at most this many rows are shown",
    }
    properties = {"statement": _STATEMENT, "params": _PARAMS, "max_rows": shown}
    return shape("SelectRequest", properties, ("statement",))


def selected() -> dict[str, object]:
    """The rows of a SELECT with the types of its columns, and how many there are."""
    return shape(
        "SelectResult",
        {
            "columns": items_of(_column()),
            "row_count": COUNT,
            "rows": items_of(_CELLS),
            "truncated": BOOLEAN,
        },
    )


def collections() -> dict[str, object]:
    """The collections that the caller reads, with columns and how many entities of each kind."""
    counts = {"type": "object", "additionalProperties": COUNT}
    one = {"columns": items_of(_column()), "entities": counts, "name": TEXT}
    return shape("Collections", {"collections": items_of(shape("CollectionShape", one))})


def nothing() -> dict[str, object]:
    """No arguments."""
    return shape("NoArguments", {})


def urn() -> dict[str, object]:
    """The URN of a source."""
    return shape("SourceRequest", {"urn": _URN})


def urn_text() -> dict[str, object]:
    """A URN by itself."""
    return dict(_URN)


def outline() -> dict[str, object]:
    """The SELECT that would answer a question, or what is unclear."""
    other = shape("OtherStatement", {"sql": TEXT, "why": TEXT})
    return shape(
        "StatementOutline",
        {
            "coverage": NUMBER,
            "intent": TEXT,
            "missing": items_of(TEXT),
            "nearest": or_null(TEXT),
            "others": items_of(other),
            "reason": or_null(TEXT),
            "sql": or_null(TEXT),
        },
    )


def put() -> dict[str, object]:
    """Rows to write into a collection."""
    kinds = [str(kind) for kind in Kind if kind not in (Kind.EDGE, Kind.QUERY)]
    kind = {**TEXT, "enum": kinds, "default": str(Kind.ROW)}
    written = {
        "type": "object",
        "description": "One row; `id` names it.",
        "minProperties": 1,
        "properties": {"id": {"type": ["integer", "string"], "minLength": 1}},
        "additionalProperties": True,
        "propertyNames": {"minLength": 1, "maxLength": MAX_NAME},
    }
    properties = {"rows": items_of(written), "kind": kind}
    return shape("PutRequest", properties, ("rows",))


def written() -> dict[str, object]:
    """The URNs of rows that were written."""
    return shape("PutResult", {"urns": items_of(TEXT)})


def collection_name() -> dict[str, object]:
    """The name of a collection that may be written; red_ is for redask's own."""
    reserved = {"pattern": "^[Rr][Ee][Dd]_"}
    name = {"minLength": 1, "maxLength": MAX_NAME, "pattern": NAME_PATTERN}
    return {**TEXT, **name, "not": reserved}


def audit() -> dict[str, object]:
    """Audit rows, newest first; the integers that JavaScript would round are texts.

    What was erased is null, and named by `erased`.
    """
    row = shape(
        "AuditRow",
        {
            "answer_hash": or_null(TEXT),
            "cache_hit": BOOLEAN,
            "citations": items_of(MARKER),
            "completion_tokens": COUNT,
            "cost_usd": NUMBER,
            "errors": or_null(items_of(schema.notice())),
            "mode": MODE,
            "model": TEXT,
            "prompt_tokens": COUNT,
            "provider": TEXT,
            "question": or_null(TEXT),
            "retry_count": COUNT,
            "role": or_null(TEXT),
            "seed": {"type": ["integer", "string", "null"]},
            "sources_urns": or_null(items_of(TEXT)),
            "temperature": or_null(NUMBER),
            "tenant": TEXT,
            "ts": WIDE,
            "user": or_null(TEXT),
            "validation_ok": BOOLEAN,
        },
    )
    row = {**row, "properties": {**row["properties"], "answer": or_null(TEXT)}}
    rows = {"anyOf": [row, _access_row()]}
    beside = dict.fromkeys(("refused", "today", "understood"), TEXT)
    entry = {"hash": TEXT, "row": rows, "seq": COUNT, **beside, "erased": items_of(TEXT)}
    return shape("AuditLog", {"rows": items_of(shape("AuditEntry", entry, ("hash", "row", "seq")))})


def _access_row() -> dict[str, object]:
    """A row of the access log."""
    texts = dict.fromkeys(("action", "outcome", "tenant"), TEXT)
    erasable = dict.fromkeys(("address", "detail", "role", "subject", "user"), or_null(TEXT))
    return shape("AccessRow", {**texts, **erasable, "count": COUNT, "ts": WIDE})


def error() -> dict[str, object]:
    """An error; `validation` only if an answer was rejected."""
    parts = shape("ErrorDetails", {"detail": TEXT, "kind": TEXT, "message": TEXT})
    body = {"error": parts, "validation": schema.validation()}
    return shape("Error", body, ("error",))


def _column() -> dict[str, object]:
    return shape("Column", {"name": TEXT, "type": TEXT})
